/**
 * Channels between a process and its host after the reply to a hostcall: runs that may be aborted, and shared channels.
 */
import type { EventBus } from "../api/api.ts";
import type { HostConnection } from "./hostcalls/hostcall.ts";
import type { HostMessage } from "./messages.ts";

const maxChannels = 100;

export class Connection implements HostConnection {
  readonly #channels = new Map<string, () => void>();
  readonly #runs = new WeakMap<AbortSignal, number>();
  #lastRun = 0;
  #link: { send(message: HostMessage): void } | undefined;

  attach(link: { send(message: HostMessage): void }): void {
    this.#link = link;
  }

  send(message: HostMessage): void {
    this.#link?.send(message);
  }

  nameRun(signal: AbortSignal): number {
    const known = this.#runs.get(signal);
    if (known !== undefined) return known;
    const run = ++this.#lastRun;
    this.#runs.set(signal, run);
    const notify = () => this.send({ type: "run_aborted", run });
    if (signal.aborted) queueMicrotask(notify);
    else signal.addEventListener("abort", notify, { once: true });
    return run;
  }

  listen(channel: string, bus: EventBus): void {
    if (this.#channels.has(channel) || this.#channels.size >= maxChannels) return;
    this.#channels.set(
      channel,
      bus.on(channel, (data) => this.send({ type: "bus", channel, data })),
    );
  }

  close(): void {
    for (const stop of this.#channels.values()) stop();
    this.#channels.clear();
    this.#link = undefined;
  }
}

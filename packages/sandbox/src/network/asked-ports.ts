/**
 * Servers inside whose ports are not in the settings. We listen at the same port of this machine, and a person is asked when
 * a program of theirs connects for the first time: most servers are there for tests of the model's own, and nobody outside
 * ever connects to them.
 */
import type { InnerSockets } from "./inner-sockets.ts";
import { type Forward, openForward } from "./port-forwards.ts";

/** Decides whether programs of this machine may reach a server inside. */
export interface PortPolicy {
  /** `open`: it was allowed before. `closed`: nobody can be asked, or the policy denies it. Never rejects. */
  getStanding(port: number): Promise<"open" | "ask" | "closed">;
  /** Asks a person. Never rejects. */
  ask(port: number, signal: AbortSignal): Promise<boolean>;
}

/** Ports below belong to the system. */
const minPort = 1_024;
/** A command that listens at more ports is not a server for a person. */
const maxPorts = 20;

interface AskedPort {
  /** Undefined while it is being opened, and where it could not be. */
  forward: Forward | undefined;
  /** The answer of the person, once there is a question. */
  answer?: Promise<boolean>;
}

export class AskedPorts {
  readonly #sockets: InnerSockets;
  readonly #policy: PortPolicy;
  readonly #isOwn: (port: number) => boolean;
  /** By port. What is in it is not opened again as long as the server listens. */
  readonly #ports = new Map<number, AskedPort>();
  /** A person said no: not asked again. */
  readonly #refused = new Set<number>();
  readonly #abort = new AbortController();

  /** `isOwn`: ports inside at which we listen ourselves, and those of the settings. */
  constructor(sockets: InnerSockets, policy: PortPolicy, isOwn: (port: number) => boolean) {
    this.#sockets = sockets;
    this.#policy = policy;
    this.#isOwn = isOwn;
  }

  /** Whether any server was there when it was last looked. */
  get hasServers(): boolean {
    return this.#ports.size > 0;
  }

  /** Whether we listen at this port of the machine, or are about to. */
  has(port: number): boolean {
    return this.#ports.has(port);
  }

  /** Looks which servers there are. What was allowed for a server ends with it. */
  refresh(): void {
    if (this.#abort.signal.aborted) return;
    const ports = this.#sockets.listPorts().filter((port) => port >= minPort && !this.#isOwn(port));
    for (const [port, { forward }] of this.#ports) {
      if (ports.includes(port)) continue;
      forward?.close();
      this.#ports.delete(port);
    }
    for (const port of ports) {
      if (this.#ports.size >= maxPorts) return;
      if (!this.#ports.has(port) && !this.#refused.has(port)) void this.#open(port);
    }
  }

  close(): void {
    this.#abort.abort();
    for (const { forward } of this.#ports.values()) forward?.close();
    this.#ports.clear();
  }

  async #open(port: number): Promise<void> {
    const asked: AskedPort = { forward: undefined };
    this.#ports.set(port, asked);
    const standing = await this.#policy.getStanding(port);
    const isGone = () => this.#ports.get(port) !== asked;
    // Asked for again with the next look: a person may come.
    if (standing === "closed") return void (isGone() || this.#ports.delete(port));
    const isAllowed = async () => standing === "open" || (await (asked.answer ??= this.#ask(port)));
    const forward = await openForward(port, this.#sockets, isAllowed);
    // A port that another program has is not reported: nobody asked for it.
    if (typeof forward === "string") return;
    if (isGone()) forward.close();
    else asked.forward = forward;
  }

  async #ask(port: number): Promise<boolean> {
    const isAllowed = await this.#policy.ask(port, this.#abort.signal);
    if (!isAllowed) {
      this.#refused.add(port);
      this.#ports.get(port)?.forward?.close();
      this.#ports.delete(port);
    }
    return isAllowed;
  }
}

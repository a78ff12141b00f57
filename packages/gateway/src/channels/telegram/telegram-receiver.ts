/** Takes the updates that Telegram has: in order in each chat, and confirmed only once they are kept. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { toFault } from "../../errors.ts";
import type { ChannelEvents } from "@tau/extensions";
import { keepMessage } from "../keep-message.ts";
import { loadFile } from "../load-file.ts";
import { pause } from "../pause.ts";
import type { TelegramApi } from "./telegram-api.ts";
import { parseUpdate, type TelegramBot, type TelegramUpdate } from "./telegram-update.ts";

interface ReceiverParts {
  api: TelegramApi;
  bot: TelegramBot;
  events: ChannelEvents;
  clock: Clock;
  log: (line: string) => void;
  signal: AbortSignal;
}

export class TelegramReceiver {
  readonly #parts: ReceiverParts;
  readonly #queues = new Map<string, SerialQueue>();
  /** Updates that are being handled. */
  readonly #open = new Set<number>();
  /** Updates that were handled after one that is still open, so that Telegram sends them again. */
  readonly #handled = new Set<number>();
  /** The number after that of the last update; 0 if all are confirmed. */
  #next = 0;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** The number from which Telegram is to send updates. It forgets all before it. */
  get offset(): number {
    return Math.min(this.#next, ...this.#open);
  }

  /** Begins to handle updates. Those of one chat are handled one after the other, and no chat waits for another. */
  take(updates: readonly Readonly<Record<string, unknown>>[]): void {
    // All are confirmed. After a week without any, Telegram counts on from another number, which can be smaller.
    if (updates.length === 0 && this.#open.size === 0) this.#next = 0;
    const getId = (update: Readonly<Record<string, unknown>>) => Number(update["update_id"]);
    for (const update of updates.toSorted((a, b) => getId(a) - getId(b))) {
      const id = getId(update);
      if (!Number.isSafeInteger(id) || this.#open.has(id) || this.#handled.has(id)) continue;
      this.#next = Math.max(this.#next, id + 1);
      const parsed = parseUpdate(update, this.#parts.bot);
      if (parsed.kind === "other") this.#handled.add(id);
      else this.#begin(id, parsed);
    }
    this.#forgetConfirmed();
  }

  /** Resolves when all updates are handled, or after the time. */
  async whenHandled(maxMs: number): Promise<void> {
    const { clock, signal } = this.#parts;
    const handled = new AbortController();
    const waited = pause(clock, maxMs, AbortSignal.any([signal, handled.signal]));
    await Promise.race([this.whenIdle(), waited]);
    handled.abort();
  }

  /** Resolves when nothing is being handled any more. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.whenIdle()));
  }

  /** Takes an update that Telegram sends by itself. False if it has to send it again. */
  async takeOne(update: unknown): Promise<boolean> {
    const parsed = parseUpdate(update, this.#parts.bot);
    try {
      await this.#handle(parsed);
      return true;
    } catch (error) {
      this.#parts.log(`An update could not be kept: ${getErrorMessage(error)}`);
      const { code, retryable } = toFault(error);
      return !retryable && code !== "internal";
    }
  }

  #begin(id: number, update: Exclude<TelegramUpdate, { kind: "other" }>): void {
    const { address } = update.kind === "press" ? update.press : update.message;
    const queue = this.#queues.get(address.channelId) ?? new SerialQueue();
    this.#queues.set(address.channelId, queue);
    this.#open.add(id);
    void this.#work(address.channelId, queue, async () => {
      const isHandled = await keepMessage(() => this.#handle(update), { ...this.#parts, name: `The update ${id}` });
      if (!isHandled) return;
      this.#open.delete(id);
      this.#handled.add(id);
    });
  }

  async #work(channelId: string, queue: SerialQueue, work: () => Promise<void>): Promise<void> {
    await queue.add(work);
    if (queue.isIdle) this.#queues.delete(channelId);
  }

  async #handle(update: TelegramUpdate): Promise<void> {
    const { api, events } = this.#parts;
    if (update.kind === "press") {
      await events.onPress(update.press);
      await api.call("answerCallbackQuery", { callback_query_id: update.queryId });
    }
    if (update.kind !== "message") return;
    const { message, files } = update;
    const loadFiles = async () =>
      await Promise.all(files.map((file) => loadFile(file, () => api.download(file.fileId))));
    await events.onMessage({ ...message, ...(files.length > 0 && { loadFiles }) });
  }

  #forgetConfirmed(): void {
    const { offset } = this;
    for (const id of this.#handled) if (id < offset) this.#handled.delete(id);
  }
}

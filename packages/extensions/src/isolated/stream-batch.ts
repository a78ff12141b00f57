/**
 * Events that nobody waits for, collected for all isolated extensions of a session and handed over about once for each
 * frame of a screen. What is sent is put together once, however many extensions listen.
 */
import type { Clock } from "@tau/ai";
import type { ExtensionEvent, ExtensionEventName } from "../api/events.ts";
import { toCrossingEvent } from "./changeable-fields.ts";
import { encodeText, maxFrameBytes } from "./frames.ts";

/** Events that come often, and whose handlers answer nothing. */
export const streamedEvents: ReadonlySet<ExtensionEventName> = new Set([
  "message_update",
  "tool_execution_update",
  "provider_stream_event",
]);

const everyMs = 16;

type MessageUpdate = ExtensionEvent<"message_update">;
type Step = MessageUpdate["assistantMessageEvent"];
type Delta = Extract<Step, { delta: string }>;

/** A process that gets the events. */
export interface StreamListener {
  write(frame: Buffer): void;
}

export class StreamBatch {
  readonly #clock: Clock;
  readonly #channels = new Map<ExtensionEventName, Channel>();
  #last: ExtensionEvent | undefined;
  #cancel: (() => void) | undefined;
  /** Made once: a closure in `push`, which each listener calls for each delta, would take memory with each call. */
  readonly #flush = (): void => this.flush();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on the listener gets the events of these names, and of no others. */
  listen(listener: StreamListener, names: readonly ExtensionEventName[]): void {
    // What came before is for those that listened then.
    this.flush();
    this.remove(listener);
    for (const name of names) (this.#channels.get(name) ?? this.#open(name)).add(listener);
  }

  remove(listener: StreamListener): void {
    for (const channel of this.#channels.values()) channel.remove(listener);
  }

  /** Each extension that handles the event passes it on; it is taken once. */
  push(event: ExtensionEvent): void {
    if (event === this.#last) return;
    this.#last = event;
    const channel = this.#channels.get(event.type);
    if (!channel) return;
    channel.push(event);
    this.#cancel ??= this.#clock.setTimer(everyMs, this.#flush);
  }

  /** Must be called before anything that has to arrive after the events so far. */
  flush(): void {
    if (!this.#cancel) return;
    this.#cancel();
    this.#cancel = undefined;
    for (const channel of this.#channels.values()) channel.flush();
  }

  #open(name: ExtensionEventName): Channel {
    const channel = new Channel();
    this.#channels.set(name, channel);
    return channel;
  }
}

/** The events of one name. */
class Channel {
  readonly #listeners = new Set<StreamListener>();
  #items: string[] = [];
  /** Pieces of one block that follow each other. */
  #deltas: { type: Delta["type"]; contentIndex: number; texts: string[]; last: MessageUpdate } | undefined;
  #knowsMessage = false;

  /** Nothing may be waiting: a listener that comes later must not get earlier deltas, and needs the whole message first. */
  add(listener: StreamListener): void {
    this.#knowsMessage = false;
    this.#listeners.add(listener);
  }

  remove(listener: StreamListener): void {
    this.#listeners.delete(listener);
  }

  push(event: ExtensionEvent): void {
    if (this.#listeners.size === 0) return;
    if (event.type === "message_update") this.#pushStep(event);
    else this.#items.push(toWhole(event));
  }

  flush(): void {
    this.#endDeltas();
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    const together = toFrame(items);
    const frames = together ? [together] : items.map((item) => toFrame([item]));
    for (const frame of frames) {
      // What is left out may be a message, which the next step then brings as a whole.
      if (!frame) this.#knowsMessage = false;
      else for (const listener of this.#listeners) listener.write(frame);
    }
  }

  #pushStep(event: MessageUpdate): void {
    const { assistantMessageEvent: step } = event;
    // Beginnings and ends are few, and after each of them the message is known exactly.
    if (!this.#knowsMessage || !isDelta(step)) {
      this.#endDeltas();
      this.#knowsMessage = true;
      this.#items.push(toWhole(event));
      return;
    }
    const { type, contentIndex, delta } = step;
    if (this.#deltas?.type !== type || this.#deltas.contentIndex !== contentIndex) {
      this.#endDeltas();
      this.#deltas = { type, contentIndex, texts: [], last: event };
    }
    this.#deltas.texts.push(delta);
    this.#deltas.last = event;
  }

  /** Arguments of a tool call change as a whole, so the block is sent once, as it is by now. */
  #endDeltas(): void {
    if (!this.#deltas) return;
    const { type, contentIndex, texts, last } = this.#deltas;
    this.#deltas = undefined;
    const block = type === "toolcall_delta" ? findBlock(last, contentIndex) : undefined;
    this.#items.push(JSON.stringify({ type, contentIndex, texts, ...(block !== undefined && { block }) }));
  }
}

function findBlock({ message }: MessageUpdate, index: number): unknown {
  return "content" in message && Array.isArray(message.content) ? message.content[index] : undefined;
}

const isDelta = (step: Step): step is Delta => step.type.endsWith("_delta");

/** With everything that a listener needs to know. */
function toWhole(event: ExtensionEvent): string {
  if (event.type !== "message_update") return JSON.stringify({ event: toCrossingEvent(event) });
  const { partial: _partial, ...step } = event.assistantMessageEvent as Step & { partial?: unknown };
  return JSON.stringify({ step, message: event.message });
}

/** Undefined if they are too large for one message. */
function toFrame(items: readonly string[]): Buffer | undefined {
  const characters = items.reduce((sum, item) => sum + item.length, 0);
  if (characters > maxFrameBytes) return undefined;
  const json = `{"type":"stream","items":[${items.join(",")}]}`;
  return Buffer.byteLength(json) > maxFrameBytes ? undefined : encodeText(json);
}

/** Collects events that nobody waits for, and hands them over about once for each frame of a screen. */
import type { Clock } from "@tau/ai";
import type { ExtensionEvent, ExtensionEventName } from "../events.ts";
import { toCrossingEvent } from "./changeable-fields.ts";

/** Events that come often, and whose handlers answer nothing. */
export const streamedEvents: ReadonlySet<ExtensionEventName> = new Set([
  "message_update",
  "tool_execution_update",
  "provider_stream_event",
]);

const everyMs = 16;

type MessageUpdate = ExtensionEvent<"message_update">;
type Step = MessageUpdate["assistantMessageEvent"];

/** As JSON: several extensions listen to the same steps. */
const encoded = new WeakMap<Step, string>();

export class StreamBatch {
  readonly #clock: Clock;
  readonly #send: (json: string) => void;
  #items: string[] = [];
  /** Arguments of tool calls change as a whole, so they are told once for all steps of a batch, before the first of them. */
  readonly #changedBlocks = new Map<number, { message: MessageUpdate["message"]; position: number }>();
  #cancel: (() => void) | undefined;
  #knowsMessage = false;

  /** `send` gets a whole message of the type `stream`. */
  constructor(clock: Clock, send: (json: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  push(event: ExtensionEvent): void {
    if (event.type === "message_update") this.#pushStep(event);
    else this.#items.push(`{"event":${JSON.stringify(toCrossingEvent(event))}}`);
    this.#cancel ??= this.#clock.setTimer(everyMs, () => this.flush());
  }

  /** Must be called before anything that has to arrive after the events so far. */
  flush(): void {
    if (!this.#cancel) return;
    this.#cancel();
    this.#cancel = undefined;
    const items = this.#items;
    for (const [contentIndex, { message, position }] of [...this.#changedBlocks].toReversed()) {
      const content = "content" in message && Array.isArray(message.content) ? message.content : [];
      if (contentIndex < content.length)
        items.splice(position, 0, JSON.stringify({ contentIndex, block: content[contentIndex] }));
    }
    this.#changedBlocks.clear();
    this.#items = [];
    this.#send(`{"type":"stream","items":[${items.join(",")}]}`);
  }

  #pushStep({ message, assistantMessageEvent: step }: MessageUpdate): void {
    // Beginnings and ends are few, and after each of them the message is known exactly.
    if (!this.#knowsMessage || !step.type.endsWith("_delta")) {
      this.#knowsMessage = true;
      this.#changedBlocks.clear();
      this.#items.push(`{"step":${encodeStep(step)},"message":${JSON.stringify(message)}}`);
      return;
    }
    if (step.type === "toolcall_delta" && !this.#changedBlocks.has(step.contentIndex))
      this.#changedBlocks.set(step.contentIndex, { message, position: this.#items.length });
    this.#items.push(`{"step":${encodeStep(step)}}`);
  }
}

function encodeStep(step: Step): string {
  const known = encoded.get(step);
  if (known !== undefined) return known;
  const { partial: _partial, ...fields } = step as Step & { partial?: unknown };
  const json = JSON.stringify(fields);
  encoded.set(step, json);
  return json;
}

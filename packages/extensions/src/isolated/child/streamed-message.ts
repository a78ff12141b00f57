/** Puts the message together that is streamed, from its steps, so that no message has to cross for each of them. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage, AssistantMessageEvent } from "@tau/ai";
import type { ExtensionEvent } from "../../api/events.ts";
import type { StreamItem } from "../messages.ts";

type Blocks = Record<string, unknown>[];

/** The field of a block that grows by each kind of step. */
const growing: Readonly<Record<string, string>> = { text_delta: "text", thinking_delta: "thinking" };

export class StreamedMessage {
  #message: AssistantMessage | undefined;

  /** The events that handlers get, one after the other. */
  *apply(item: StreamItem): Generator<ExtensionEvent> {
    if ("event" in item) yield item.event;
    else if ("step" in item) {
      this.#message = item.message as AssistantMessage;
      yield this.#toEvent(item.step);
    } else if (this.#message) {
      const { type, contentIndex, texts } = item;
      const blocks = this.#message.content as unknown as Blocks;
      if (item.block !== undefined) blocks[contentIndex] = item.block as Record<string, unknown>;
      const block = blocks[contentIndex];
      const field = growing[type];
      for (const delta of texts) {
        if (block && field !== undefined) block[field] = `${String(block[field] ?? "")}${delta}`;
        yield this.#toEvent({ type, contentIndex, delta });
      }
    }
  }

  #toEvent(step: Record<string, unknown>): ExtensionEvent {
    const message = this.#message as AgentMessage;
    const assistantMessageEvent = { ...step, partial: message } as unknown as AssistantMessageEvent;
    return { type: "message_update", message, assistantMessageEvent };
  }
}

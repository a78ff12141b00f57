/** Puts the message together that is streamed, from its steps, so that no message has to cross for each of them. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage, AssistantMessageEvent } from "@tau/ai";
import type { ExtensionEvent } from "../../events.ts";
import type { StreamItem } from "../messages.ts";

type Blocks = Record<string, unknown>[];

export class StreamedMessage {
  #message: AssistantMessage | undefined;

  /** The event that handlers get, if the item is one. */
  apply(item: StreamItem): ExtensionEvent | undefined {
    if ("event" in item) return item.event;
    if ("block" in item) {
      const blocks = this.#message?.content as Blocks | undefined;
      if (blocks) blocks[item.contentIndex] = item.block as Record<string, unknown>;
      return undefined;
    }
    const { step, message } = item;
    if (message !== undefined) this.#message = message as AssistantMessage;
    else this.#append(step);
    if (!this.#message) return undefined;
    const assistantMessageEvent = { ...step, partial: this.#message } as unknown as AssistantMessageEvent;
    return { type: "message_update", message: this.#message as AgentMessage, assistantMessageEvent };
  }

  #append({ type, contentIndex, delta }: Record<string, unknown>): void {
    const block = (this.#message?.content as Blocks | undefined)?.[Number(contentIndex)];
    const key = type === "text_delta" ? "text" : type === "thinking_delta" ? "thinking" : undefined;
    if (block && key) block[key] = `${String(block[key] ?? "")}${String(delta)}`;
  }
}

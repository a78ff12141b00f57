/**
 * The message that is streamed, as extensions see it: a copy that grows with the deltas. What a handler writes into it must
 * not become part of the conversation, and copying the message for each delta would cost more than everything else.
 */
import type { AgentEvent, AgentMessage } from "@tau/agent";
import type { ExtensionEvent } from "@tau/extensions";
import { copyJson } from "./copy-messages.ts";

type Update = AgentEvent & { type: "message_update" };
type Block = Readonly<Record<string, unknown>>;

/** The field of a block that grows by each kind of step. */
const growing: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  toolcall_delta: "arguments",
};

export class StreamedCopy {
  /** `blocks` are those of the copy, also if a handler has taken them out of it. */
  #current: { live: AgentMessage; copy: AgentMessage; blocks: readonly Block[] } | undefined;

  toEvent({ message: live, assistantMessageEvent: step }: Update): ExtensionEvent<"message_update"> {
    const field = growing[step.type];
    if (field === undefined || !("delta" in step)) {
      const { partial: _partial, ...rest } = step as { partial?: unknown };
      const message = this.#renew(live);
      return toEvent(message, { ...copyJson(rest), partial: message });
    }
    const { type, contentIndex, delta } = step;
    const message = this.#grow(live, contentIndex, field);
    return toEvent(message, { type, contentIndex, delta, partial: message });
  }

  #renew(live: AgentMessage): AgentMessage {
    const copy = copyJson(live);
    this.#current = { live, copy, blocks: [...listBlocks(copy)] };
    return copy;
  }

  #grow(live: AgentMessage, index: number, field: string): AgentMessage {
    const [source, target] = [listBlocks(live)[index], this.#current?.blocks[index]];
    if (!source || !target || this.#current?.live !== live) return this.#renew(live);
    // It says whether it could, where an assignment would throw: a handler may have frozen the block.
    Reflect.set(target, field, copyJson(source[field]));
    return this.#current.copy;
  }
}

const toEvent = (message: AgentMessage, step: object): ExtensionEvent<"message_update"> => ({
  type: "message_update",
  message,
  assistantMessageEvent: step as Update["assistantMessageEvent"],
});

const listBlocks = (message: AgentMessage): readonly Block[] =>
  "content" in message && Array.isArray(message.content) ? (message.content as unknown as Block[]) : [];

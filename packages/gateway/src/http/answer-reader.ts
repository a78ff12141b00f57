/** Picks the answer to one message out of what happens in its session. Pure: it takes every event, in order. */
import type { SessionEvent } from "@tau/protocol";
import { addUsage, type ChatUsage, type FinishReason, noUsage } from "./chat-shapes.ts";

type AnswerStep =
  | { kind: "nothing" }
  | { kind: "text"; text: string }
  | { kind: "done"; finishReason: FinishReason }
  | { kind: "failed"; code: string; message: string };

const nothing: AnswerStep = { kind: "nothing" };

export class AnswerReader {
  /** The id of the message in the session's log. */
  readonly #messageId: string;
  #isSaid = false;
  #text = "";
  /** The text before the message that is arriving, for when that message turns out not to be part of the answer. */
  #textBefore = "";
  #usage = noUsage;
  #stopReason: string | undefined;
  #failure: { code: string; message: string } | undefined;

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  /** Whether the message is in the log. */
  get isSaid(): boolean {
    return this.#isSaid;
  }

  /** All that the agent has said, also before and between calls of tools. */
  get text(): string {
    return this.#text;
  }

  get usage(): ChatUsage {
    return this.#usage;
  }

  take(event: SessionEvent): AnswerStep {
    if (event.type === "entry_appended") return this.#takeEntry(event.entry);
    if (!this.#isSaid) return nothing;
    switch (event.type) {
      case "message_start":
        this.#textBefore = this.#text;
        return nothing;
      case "text_delta": {
        if (event.delta === "") return nothing;
        const isNext = this.#text === this.#textBefore && this.#text !== "";
        const text = isNext ? `\n\n${event.delta}` : event.delta;
        this.#text += text;
        return { kind: "text", text };
      }
      case "message_end":
        this.#usage = addUsage(this.#usage, event.usage);
        this.#stopReason = event.stopReason;
        if (event.stopReason === "error" || event.silent) this.#text = this.#textBefore;
        return nothing;
      case "error":
        this.#failure = event;
        return nothing;
      case "agent_end":
        return this.#end(event);
      default:
        return nothing;
    }
  }

  #takeEntry(entry: Extract<SessionEvent, { type: "entry_appended" }>["entry"]): AnswerStep {
    if (entry.type === "queue" && entry.queueId === this.#messageId && entry.state !== "accepted") {
      return { kind: "failed", code: "aborted", message: "The message was taken out of the queue before it was said." };
    }
    if (entry.type !== "message" || entry.message.role !== "user") return nothing;
    if (entry.queueId === this.#messageId) {
      this.#isSaid = true;
      return nothing;
    }
    // The next message of the queue is answered by the same run.
    const isAnswered = this.#isSaid && this.#stopReason !== undefined && this.#stopReason !== "tool_use";
    return isAnswered ? { kind: "done", finishReason: "stop" } : nothing;
  }

  #end({ terminationReason, detail = "" }: Extract<SessionEvent, { type: "agent_end" }>): AnswerStep {
    if (this.#failure) return { kind: "failed", code: "run_failed", message: this.#failure.message };
    if (terminationReason !== "no_tool_calls") {
      return { kind: "failed", code: "aborted", message: "The run ended before its answer." };
    }
    return { kind: "done", finishReason: detail === "length" || detail.startsWith("budget_") ? "length" : "stop" };
  }
}

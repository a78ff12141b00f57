/** The messages that the model is sent, as they stand: read from the log once, then kept up with it. */
import type { AgentMessage } from "@tau/agent";
import { contextTokens, estimateTokens, usedTokens } from "../compaction/tokens.ts";
import type { SessionContext } from "../session/context.ts";
import type { Session } from "../session/session.ts";
import { visitInTurns } from "../session/visit-in-turns.ts";

export class Transcript {
  #messages: AgentMessage[] = [];
  /** Tokens of the next request, updated with every message: a long conversation is not counted again each turn. */
  #tokens = 0;
  #isCounted = false;

  /** A copy is made by whoever changes it: the engine does. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  get last(): AgentMessage | undefined {
    return this.#messages.at(-1);
  }

  /** About: what the provider counted last, and an estimate of what came after it. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Whether the provider has counted what the conversation takes, prompt and tools included. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** Reads what the log says now, after it was opened, compacted, edited or left for another branch. */
  async load(session: Session): Promise<SessionContext> {
    const { branch, ...context } = await session.readContext();
    const tokens = await contextTokens(branch);
    let estimate = 0;
    await visitInTurns(context.messages, (message) => void (estimate += estimateTokens(message)));
    this.#messages = context.messages;
    this.#tokens = tokens;
    this.#isCounted = tokens > estimate;
    return context;
  }

  add(message: AgentMessage): void {
    this.#messages.push(message);
    const counted = usedTokens(message);
    if (counted > 0) this.#isCounted = true;
    this.#tokens = counted > 0 ? counted : this.#tokens + estimateTokens(message);
  }

  /** Forgets an answer that failed, so that its question can be asked again. The log keeps it. */
  dropFailure(): void {
    const { last } = this;
    if (!last || !isFailed(last)) return;
    this.#tokens = Math.max(0, this.#tokens - estimateTokens(last));
    this.#messages.pop();
  }
}

/** Whether it is an answer that failed or was aborted. */
export const isFailed = (message: AgentMessage | undefined): boolean =>
  message?.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");

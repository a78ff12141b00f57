/** The messages that the model is sent, as they stand: read from the log once, then kept up with it. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { contextTokens, estimateAll, usedTokens } from "../compaction/tokens.ts";
import { buildContext } from "../session/context.ts";
import type { Session } from "../session/session.ts";

export class Transcript {
  #messages: AgentMessage[] = [];
  /** What the first so many messages take, as it was known when they were read. */
  #known = { count: 0, tokens: 0 };

  /** A copy is made by whoever changes it: the engine does. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  get last(): AgentMessage | undefined {
    return this.#messages.at(-1);
  }

  /** Reads what the log says now, after it was opened, compacted, edited or left for another branch. */
  async load(session: Session): Promise<void> {
    const branch = await session.getContextBranch();
    this.#messages = buildContext(branch).messages;
    this.#known = { count: this.#messages.length, tokens: contextTokens(branch) };
  }

  add(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /** Forgets an answer that failed, so that its question can be asked again. The log keeps it. */
  dropFailure(): void {
    if (isFailed(this.last)) this.#messages.pop();
  }

  /** What the next request takes, about: what the provider counted last, and an estimate of what came after it. */
  tokens(): number {
    const { count, tokens } = this.#known;
    for (let at = this.#messages.length - 1; at >= count; at--) {
      const used = usedTokens(this.#messages[at]!);
      if (used > 0) return used + estimateAll(this.#messages.slice(at + 1));
    }
    return tokens + estimateAll(this.#messages.slice(count));
  }
}

export const isFailed = (message: AgentMessage | undefined): message is AssistantMessage =>
  message?.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");

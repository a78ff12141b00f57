/** Questions that wait for a person. They are told to every surface, and the first answer counts. */
import type { ApprovalAnswer } from "@tau/protocol";
import type { Publisher } from "./publisher.ts";
import type { Answer, Ask, Question } from "../policy/policy.ts";

/** `surface`: whoever shows the session answers, with `AgentSession.approve`. */
export type AskChoice = Ask | "surface";

export class Approvals {
  readonly #publisher: Publisher;
  readonly #open = new Map<string, (answer: Answer) => void>();

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  /** Takes the answer of a surface; `by` says who gave it. False when the question is no longer open. */
  answer(id: string, { decision, choice, message }: ApprovalAnswer, by = "person"): boolean {
    const remember = choice === undefined || choice === "once" ? undefined : choice === "session" ? choice : "always";
    return this.#settle(id, {
      decision,
      by,
      ...(remember && { remember }),
      ...(message !== undefined && { reason: message }),
    });
  }

  #settle(id: string, answer: Answer): boolean {
    const settle = this.#open.get(id);
    // Code without types may answer anything; only a clear yes is one.
    settle?.(answer?.decision === "allow" ? answer : { ...answer, decision: "deny" });
    return settle !== undefined;
  }

  /** The port that the judge asks. With a function, that is asked too, and a surface may still answer first. */
  port(choice: AskChoice): Ask {
    return async (question, signal) => {
      const { id, toolCallId, toolName, summary, reason } = question;
      const answered = this.#wait(id, signal);
      this.#publisher.fact({
        type: "approval_requested",
        approval: { id, toolCallId, toolName, summary, reason, choices: [{ choice: "once" }] },
      });
      if (typeof choice === "function") this.#askToo(choice, question, signal);
      const answer = await answered;
      const decision = answer.decision === "allow" ? "allowed" : "denied";
      this.#publisher.fact({ type: "approval_resolved", approvalId: id, decision, by: answer.by ?? "person" });
      return answer;
    };
  }

  #askToo(ask: Ask, question: Question, signal: AbortSignal): void {
    const denied = (error: unknown): Answer => ({
      decision: "deny",
      by: "nobody",
      reason: `nobody could be asked: ${error instanceof Error ? error.message : String(error)}`,
    });
    (async () => await ask(question, signal))()
      .catch(denied)
      .then((answer) => this.#settle(question.id, answer));
  }

  #wait(id: string, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        signal.removeEventListener("abort", onAbort);
        this.#open.delete(id);
        resolve(answer);
      };
      const onAbort = () => settle({ decision: "deny", by: "abort", reason: "the run was aborted" });
      if (signal.aborted) return onAbort();
      this.#open.set(id, settle);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

/** Questions that wait for a person. Every surface gets them, and the first answer applies. */
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { createWaits, type Waits } from "@tau/extensions/internal";
import type { Answer, AnswerStore, Ask, Question } from "@tau/policy";
import type { Publisher } from "../run/publisher.ts";

/** A surface that answers with `AgentSession.approve`. */
interface AnsweringSurface {
  /**
   * Whether it answers questions of this session now. If not, what needs an answer is denied at once, as if there were
   * nobody to ask.
   */
  isAttended: (sessionId: string) => boolean;
  /** How long it has to answer, unless the settings say; `never`: for ever. Default 5 minutes. */
  timeoutMs?: () => number | "never" | undefined;
}

/**
 * A run ends with the questions that nobody is there to answer, as `{ kind: "asked" }`. `AgentSession.approve` keeps the answers, and
 * `AgentSession.resume` makes the calls, in this process or in another one with the same store.
 */
interface LaterAnswers {
  /** Keeps questions and answers, such as `createAnswerFile` or `createStoredAnswers` of `@tau/policy`. */
  later: AnswerStore;
  /** How long a question and its answer count. Default 7 days. */
  expiresAfterMs?: number;
}

/** `surface`: a surface of the session answers at any time. */
export type AskChoice = Ask | "surface" | AnsweringSurface | (LaterAnswers & Partial<AnsweringSurface>);

type ObjectChoice = Partial<AnsweringSurface & LaterAnswers>;

const defaultTimeoutMs = 5 * 60 * 1_000;
const defaultExpiryMs = 7 * 24 * 60 * 60 * 1_000;

const toObject = (choice: AskChoice | undefined): ObjectChoice | undefined =>
  typeof choice === "object" ? choice : undefined;

/** Whether somebody answers now. */
function isAttended(choice: AskChoice | undefined, sessionId: string): boolean {
  const surface = toObject(choice);
  return surface ? (surface.isAttended?.(sessionId) ?? false) : choice !== undefined;
}

/** The store of questions that outlive their run, and when they are kept there. */
export interface LaterPort {
  /** Undefined: no question outlives its run. */
  readonly store: AnswerStore | undefined;
  readonly expiresAfterMs: number;
  /** Whether a question is kept now. */
  readonly keepsQuestions: () => boolean;
}

/** `own` is the store of the user, and what the settings say. */
export function resolveLater(
  choice: AskChoice | undefined,
  own: { store: AnswerStore | undefined; isChosen: () => boolean; sessionId: string },
): LaterPort {
  const { later, expiresAfterMs = defaultExpiryMs } = toObject(choice) ?? {};
  return {
    store: later ?? own.store,
    expiresAfterMs,
    keepsQuestions: () => (later !== undefined || own.isChosen()) && !isAttended(choice, own.sessionId),
  };
}

interface ApprovalsParts {
  sessionId: string;
  publisher: Publisher;
  clock: Clock;
  /** How long a question waits before it is denied; undefined if the settings do not say. */
  timeoutMs: () => number | undefined;
}

export class Approvals {
  /** Questions that nobody has answered. */
  readonly waits: Waits;
  readonly #parts: ApprovalsParts;
  readonly #open = new Map<string, (answer: Answer) => void>();

  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    this.waits = createWaits(parts.clock);
  }

  /** False when the question is no longer open. */
  answer(id: string, answer: Answer): boolean {
    const settle = this.#open.get(id);
    // Code without types may answer anything; only a clear yes is one.
    settle?.(answer?.decision === "allow" ? answer : { ...answer, decision: "deny" });
    return settle !== undefined;
  }

  /**
   * The port that the judge asks; undefined if nobody answers. A function is asked besides the surfaces; the first answer
   * applies.
   */
  port(choice: AskChoice): Ask | undefined {
    if (!isAttended(choice, this.#parts.sessionId)) return undefined;
    const surface = toObject(choice);
    return async (question, signal) => {
      const { publisher, clock, timeoutMs } = this.#parts;
      const { request: _request, ...approval } = question;
      const limitMs = timeoutMs() ?? surface?.timeoutMs?.() ?? defaultTimeoutMs;
      const answered = this.waits.during(() => this.#wait(approval.id, limitMs, signal));
      const deadline = limitMs === "never" ? {} : { expiresAt: clock.now() + limitMs, timeoutMs: limitMs };
      publisher.fact({ type: "approval_requested", approval: { ...approval, ...deadline } });
      if (typeof choice === "function") this.#askToo(choice, question, signal);
      const answer = await answered;
      const decision = answer.decision === "allow" && isOffered(question, answer) ? "allowed" : "denied";
      publisher.fact({ type: "approval_resolved", approvalId: approval.id, decision, by: answer.by ?? "person" });
      return answer;
    };
  }

  #askToo(ask: Ask, question: Question, signal: AbortSignal): void {
    const denied = (error: unknown): Answer => ({
      decision: "deny",
      by: "nobody",
      message: `the question could not be asked: ${getErrorMessage(error)}`,
    });
    (async () => await ask(question, signal))()
      .catch(denied)
      .then((answer) => this.answer(question.id, answer));
  }

  #wait(id: string, limitMs: number | "never", signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      let cancelTimer = () => {};
      const settle = (answer: Answer) => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
        this.#open.delete(id);
        resolve(answer);
      };
      const onAbort = () => settle({ decision: "deny", by: "abort", message: "the run was aborted" });
      if (signal.aborted) return onAbort();
      this.#open.set(id, settle);
      signal.addEventListener("abort", onAbort, { once: true });
      if (limitMs === "never") return;
      cancelTimer = this.#parts.clock.setTimer(limitMs, () =>
        settle({ decision: "deny", by: "timeout", message: "the question was not answered in time" }),
      );
    });
  }
}

/** Whether an answer was offered. The caller denies any other one. */
export const isOffered = ({ choices }: Pick<Question, "choices">, { choice = "once", rule }: Answer): boolean =>
  choices.some((each) => each.choice === choice && (rule ?? each.rule) === each.rule);

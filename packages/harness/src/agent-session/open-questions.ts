/**
 * Questions about calls that wait for an answer after their run has ended, also in another process. The log says that they were asked;
 * whether they are open, and the answers, are in the store of the program.
 */
import type { BeforeToolCallContext } from "@tau/agent";
import type { Clock } from "@tau/ai";
import type { Answer, AnswerStore, KeptQuestion } from "@tau/policy";
import type { BoundQuestion, TakeAnswers } from "@tau/policy/internal";
import { type Approval, type ApprovalAnswer, customTypes } from "@tau/protocol";
import type { Publisher } from "../run/publisher.ts";
import type { Transcript } from "../run/transcript.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { UnfinishedCall } from "../session/unfinished-calls.ts";
import { isOffered, type LaterPort } from "./approvals.ts";

interface OpenQuestionsParts {
  session: SessionManager;
  later: LaterPort;
  publisher: Publisher;
  transcript: Transcript;
  clock: Clock;
}

export class OpenQuestions {
  readonly #parts: OpenQuestionsParts;
  /** Questions without an answer that calls of the current answer wait for. */
  #asked: Approval[] = [];
  /** Calls may wait. */
  #isWaiting = false;
  /** The ids of questions whose answers were taken: their calls are made, and no other answer counts. */
  readonly #used = new Set<string>();

  constructor(parts: OpenQuestionsParts) {
    this.#parts = parts;
  }

  /** A call of the current answer waits, so those after it wait too. */
  get hasAsked(): boolean {
    return this.#asked.length > 0;
  }

  /** Calls wait for an answer. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Returns the questions that the run ends with, and forgets that they are of this run. */
  takeAsked(): readonly Approval[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  /** Whether nobody is there to answer, and questions wait. */
  get #keepsQuestions(): boolean {
    const { store, keepsQuestions } = this.#parts.later;
    return store !== undefined && keepsQuestions();
  }

  /** For the judge. A call inside another one cannot wait: the other one has begun, and what it did so far cannot be resumed. */
  getTakeAnswers({ parentToolCallId }: BeforeToolCallContext): TakeAnswers | undefined {
    const { store } = this.#parts.later;
    // What was answered before somebody came applies too.
    if (!store || parentToolCallId !== undefined || !(this.#keepsQuestions || this.#isWaiting)) return undefined;
    return (questions) => this.#takeAnswers(store, questions);
  }

  /** Explains to the model why a call that cannot wait is denied. Undefined for one that can, and where no question waits. */
  explainUnattended({ parentToolCallId }: Pick<BeforeToolCallContext, "parentToolCallId">): string | undefined {
    return parentToolCallId !== undefined && this.#keepsQuestions ? nestedText : undefined;
  }

  /** Explains to a child session why its call is denied. Undefined where no question waits. */
  explainChild(): string | undefined {
    return this.#keepsQuestions ? childText : undefined;
  }

  /** The questions without an answer. */
  async list(): Promise<readonly Approval[]> {
    return (await this.#findOpen()).filter(({ answer }) => answer === undefined).map(({ approval }) => approval);
  }

  /** Whether a call waits, with or without an answer. */
  async canResume(): Promise<boolean> {
    return (await this.#findOpen()).length > 0;
  }

  /** Whether no question is left without an answer, and one of the answers is to resume the run. */
  async isToResume(): Promise<boolean> {
    const open = await this.#findOpen();
    return open.every(({ answer }) => answer !== undefined) && open.some(({ resumes }) => resumes);
  }

  /** Keeps an answer. False if the question is not open, or has an answer. `resumes`: see `KeptQuestion`. */
  async answer(id: string, given: ApprovalAnswer, { resumes = false } = {}): Promise<boolean> {
    const { session, publisher } = this.#parts;
    const { store } = this.#parts.later;
    const open = (await this.#findOpen()).find(({ approval }) => approval.id === id);
    if (!store || !open) return false;
    // Code without types may answer anything; only a clear yes is one.
    const answer: Answer = given?.decision === "allow" ? given : { ...given, decision: "deny" };
    let isKept = false;
    await store.change(session.id, (questions) =>
      questions.map((question) => {
        if (question.approval.id !== id || question.log !== open.log || question.answer) return question;
        // Taken since it was looked for.
        if (this.#used.has(id)) return question;
        isKept = true;
        return { ...question, answer, ...(resumes && { resumes }) };
      }),
    );
    if (!isKept) return false;
    const decision = answer.decision === "allow" && isOffered(open.approval, answer) ? "allowed" : "denied";
    publisher.fact({ type: "approval_resolved", approvalId: id, decision, by: answer.by ?? "person" });
    return true;
  }

  /** Returns the ids of calls that wait, of those that a process has left without a result. */
  async findWaiting(calls: readonly UnfinishedCall[]): Promise<ReadonlySet<string>> {
    const unmade = calls.filter(({ hasStarted }) => !hasStarted);
    const ids = new Set(unmade.flatMap(({ questionIds }) => questionIds));
    this.#isWaiting = ids.size > 0 && (await this.#readOwn()).some(({ approval }) => ids.has(approval.id));
    // Those after it in the answer wait with it.
    return new Set(this.#isWaiting ? unmade.map(({ call }) => call.id) : []);
  }

  /** Gives calls that wait the outcome that nobody has answered, and forgets the questions and answers. */
  async settle(): Promise<void> {
    if (!this.#isWaiting) return;
    const { session, later, transcript, publisher } = this.#parts;
    const written = await session.settleUnfinishedCalls();
    if (written.length > 0) await transcript.load(session);
    this.#isWaiting = false;
    this.#asked = [];
    const open = (await this.#readOwn()).filter(({ answer }) => answer === undefined);
    await later.store?.change(session.id, (questions) => questions.filter(({ log }) => log !== session.logName));
    if (written.length === 0) return;
    for (const { approval } of open)
      publisher.fact({ type: "approval_resolved", approvalId: approval.id, decision: "denied", by: "nobody" });
  }

  async #takeAnswers(
    store: AnswerStore,
    questions: readonly BoundQuestion[],
  ): Promise<readonly Answer[] | "open" | "ask"> {
    // Not those of an earlier answer: providers may use the id of a call again.
    const own = await this.#findOpen();
    const kept = questions.map(({ question, binding }) =>
      own.find((each) => each.approval.toolCallId === question.toolCallId && each.binding === binding),
    );
    const denial = kept.map((each) => each?.answer).find((answer) => answer && answer.decision !== "allow");
    const answers = kept.flatMap((each) => each?.answer ?? denial ?? []);
    const isAnswered = answers.length === questions.length && !this.hasAsked;
    if (isAnswered && (await this.#use(store, kept))) return answers;
    if (!this.#keepsQuestions) {
      await this.#drop(store, questions);
      return "ask";
    }
    this.#isWaiting = true;
    // An answer that another process has used meanwhile is none.
    const open = isAnswered ? kept.map((each) => each && withoutAnswer(each)) : kept;
    await this.#keep(store, questions, open);
    return "open";
  }

  /** Forgets what was asked about a call, which is asked about now. */
  async #drop(store: AnswerStore, questions: readonly BoundQuestion[]): Promise<void> {
    const callIds = new Set(questions.map(({ question }) => question.toolCallId));
    const dropped: KeptQuestion[] = [];
    await store.change(this.#parts.session.id, (all) => {
      const isDropped = ({ log, approval }: KeptQuestion) =>
        log === this.#parts.session.logName && callIds.has(approval.toolCallId);
      dropped.push(...all.filter(isDropped));
      return all.filter((each) => !isDropped(each));
    });
    for (const { approval, answer } of dropped)
      if (!answer)
        this.#parts.publisher.fact({
          type: "approval_resolved",
          approvalId: approval.id,
          decision: "denied",
          by: "changed",
        });
  }

  /** Takes the answers away, so that nobody uses them again. The questions stay until their calls have results. */
  async #use(store: AnswerStore, kept: readonly (KeptQuestion | undefined)[]): Promise<boolean> {
    const ids = new Set(kept.flatMap((each) => (each?.answer ? [each.approval.id] : [])));
    let isUsed = false;
    await store.change(this.#parts.session.id, (questions) => {
      const left = questions.filter(({ approval, answer }) => answer && ids.has(approval.id));
      isUsed = left.length === ids.size;
      if (isUsed) for (const id of ids) this.#used.add(id);
      return questions.map((each) => (isUsed && ids.has(each.approval.id) ? withoutAnswer(each) : each));
    });
    return isUsed;
  }

  /** Keeps the questions that are new, and drops those of the same call that would be asked differently now. */
  async #keep(
    store: AnswerStore,
    questions: readonly BoundQuestion[],
    kept: readonly (KeptQuestion | undefined)[],
  ): Promise<void> {
    const { session, publisher, clock, later } = this.#parts;
    const { expiresAfterMs } = later;
    const log = session.logName;
    const added = questions.flatMap(({ question, binding }, index): KeptQuestion[] => {
      const { request: _request, ...shown } = question;
      const expiry = { expiresAt: clock.now() + expiresAfterMs, timeoutMs: expiresAfterMs };
      return kept[index] ? [] : [{ approval: { ...shown, ...expiry }, sessionId: session.id, log, binding }];
    });
    const callIds = new Set(questions.map(({ question }) => question.toolCallId));
    const current = new Set(kept.map((each) => each?.approval.id));
    const dropped: Approval[] = [];
    if (added.length > 0)
      await store.change(session.id, (all) => {
        const isDropped = ({ approval, ...each }: KeptQuestion) =>
          each.log === log && callIds.has(approval.toolCallId) && !current.has(approval.id);
        dropped.push(...all.filter(isDropped).map(({ approval }) => approval));
        return [...all.filter((each) => !isDropped(each)), ...added];
      });
    for (const { id } of dropped)
      publisher.fact({ type: "approval_resolved", approvalId: id, decision: "denied", by: "changed" });
    for (const { approval } of added) {
      await session.appendCustomEntry(customTypes.asked, { toolCallId: approval.toolCallId, approval });
      publisher.fact({ type: "approval_requested", approval });
    }
    const open = [...kept, ...added].flatMap((each) => (each && !each.answer ? [each.approval] : []));
    this.#asked.push(...open);
  }

  /** The questions of calls that wait. */
  async #findOpen(): Promise<readonly KeptQuestion[]> {
    if (!this.#isWaiting) return [];
    const calls = await this.#parts.session.unfinishedCalls();
    const ids = new Set(calls.flatMap(({ hasStarted, questionIds }) => (hasStarted ? [] : questionIds)));
    return (await this.#readOwn()).filter(({ approval }) => ids.has(approval.id) && !this.#used.has(approval.id));
  }

  async #readOwn(): Promise<readonly KeptQuestion[]> {
    const { later, session, clock } = this.#parts;
    const all = (await later.store?.read(session.id)) ?? [];
    return all.filter(({ log, approval }) => log === session.logName && approval.expiresAt > clock.now());
  }
}

const nestedText =
  "Nobody is there to answer now, and a call that another tool makes cannot wait for an answer, so it was not made. Make this call yourself, not inside another one: then it waits for the answer.";
const childText =
  "nobody is there to answer now, and a call of a child session cannot wait for an answer. Continue without it, and report which call has to be made: the session that you work for can make it and wait.";

const withoutAnswer = ({ answer: _answer, resumes: _resumes, ...question }: KeptQuestion): KeptQuestion => question;

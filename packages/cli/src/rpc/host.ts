/** The session that commands are about, which may become another one; and what has to be in order around it. */
import { type AgentSession, HarnessError, type PromptOutcome, type RunOutcome } from "@tau/harness";
import { modelsAreEqual, getErrorMessage } from "@tau/ai";
import type { SessionOptions } from "../args.ts";
import { formatNothing, PiEvents, type PiRecord } from "./pi-events.ts";
import type { Wire } from "./wire.ts";

/** What became of something that was said. */
export type Disposition = "started" | "queued";

export interface HostParts {
  wire: Wire;
  options: SessionOptions;
  cwd: string;
  agentDir: string;
}

export class RpcHost {
  readonly wire: Wire;
  readonly options: SessionOptions;
  /** Where relative paths begin. */
  readonly cwd: string;
  readonly agentDir: string;
  readonly #key: { provider: string; key: string; host: string | undefined } | undefined;
  #session: AgentSession;
  #pi: PiEvents;
  #stopListening: () => void;
  #compactions = 0;
  /** Settles when everything that was said so far was accepted or refused. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(session: AgentSession, { wire, options, cwd, agentDir }: HostParts) {
    this.wire = wire;
    this.options = options;
    this.cwd = cwd;
    this.agentDir = agentDir;
    const { apiKey: key } = options;
    const { model } = session;
    this.#key =
      key !== undefined && model ? { key, provider: model.provider, host: model.baseUrl || undefined } : undefined;
    this.#session = session;
    [this.#pi, this.#stopListening] = this.#listen(session);
  }

  get session(): AgentSession {
    return this.#session;
  }

  get isCompacting(): boolean {
    return this.#compactions > 0;
  }

  /** What the session had to say before anybody listened. */
  tellNotices(): void {
    for (const { code, message } of this.#session.notices) this.#tell(code, message);
  }

  /** Resolves when what is said is accepted, in the order in which it was said; a run may then have begun. */
  async say(begin: (session: AgentSession) => Promise<PromptOutcome>): Promise<Disposition> {
    return (await this.#start(begin)).disposition;
  }

  /** Says something, and resolves when the run that this begins is over. */
  async run(begin: (session: AgentSession) => Promise<PromptOutcome>): Promise<RunOutcome> {
    const outcome = await (await this.#start(begin)).outcome;
    if (outcome.kind === "ran") return outcome;
    throw new HarnessError("busy", "A run goes on already. Wait for it, or abort it.");
  }

  /** Ends what goes on, and what was said before this and has not begun. What is said after this waits for that. */
  async abort(reason?: unknown): Promise<void> {
    const { session } = this;
    const atOnce = session.abort(reason);
    await this.#inTurn(() => session.abort(reason));
    await atOnce;
    this.#pi.settle();
  }

  async compact(instructions: string | undefined) {
    this.#compactions++;
    try {
      const outcome = await this.#session.compact(instructions);
      if (outcome.kind !== "compacted") {
        throw new HarnessError(outcome.kind === "aborted" ? "aborted" : "run_failed", whyNotCompacted(outcome));
      }
      const { summary, firstKeptEntryId, tokensBefore, details } = outcome.compaction;
      const { entryId, tokensAfter: estimatedTokensAfter, usage } = outcome;
      const kept = firstKeptEntryId ?? entryId;
      return { summary, firstKeptEntryId: kept, tokensBefore, estimatedTokensAfter, usage, details };
    } finally {
      this.#compactions--;
    }
  }

  /**
   * Goes on with another session, which is open before this one is let go: if it cannot be opened, nothing has happened.
   * With `keep`, it has the model of this one.
   */
  async goTo(open: (session: AgentSession) => Promise<AgentSession>, { keep }: { keep: boolean }): Promise<void> {
    const before = this.#session;
    const next = await open(before);
    try {
      await this.#prepare(next, keep ? before : undefined);
    } catch (error) {
      await next.dispose();
      throw error;
    }
    try {
      // Not before its run has ended for those who listen.
      await before.dispose();
    } finally {
      this.#pi.settle();
      this.#stopListening();
      this.#session = next;
      [this.#pi, this.#stopListening] = this.#listen(next);
      this.tellNotices();
    }
  }

  async #prepare(next: AgentSession, like: AgentSession | undefined): Promise<void> {
    if (this.#key) next.authStorage.setRuntimeApiKey(this.#key.provider, this.#key.key, this.#key.host);
    if (!like?.model) return;
    if (!modelsAreEqual(like.model, next.model)) await next.setModel(like.model);
    if (like.thinkingLevel !== next.thinkingLevel) await next.setThinkingLevel(like.thinkingLevel);
  }

  /** Nobody is there any more. */
  async end(): Promise<void> {
    await this.abort("gateway_disconnected");
    await this.#session.dispose();
    this.#pi.settle();
    this.#stopListening();
  }

  #start(begin: (session: AgentSession) => Promise<PromptOutcome>) {
    return this.#inTurn(() => this.#begin(begin));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    // At once where nothing waits, so that whoever asks next sees that a run has been asked for.
    const done = this.#waiting === 0 ? work() : this.#turn.then(work);
    this.#waiting++;
    const settle = () => this.#waiting--;
    this.#turn = done.then(settle, settle);
    return await done;
  }

  async #begin(begin: (session: AgentSession) => Promise<PromptOutcome>) {
    const { session } = this;
    const isBusy = session.isStreaming;
    let stop = () => {};
    const hasBegun = new Promise<Disposition>((resolve) => {
      if (!isBusy) stop = session.subscribe(({ type }) => type === "agent_start" && resolve("started"));
    });
    const outcome = begin(session).finally(stop);
    const settled = outcome.then(({ kind }): Disposition => (kind === "queued" ? "queued" : "started"));
    const disposition = await Promise.race([hasBegun, settled]);
    settled.catch((error: unknown) => this.#tell("run_failed", getErrorMessage(error)));
    return { disposition, outcome };
  }

  #listen(session: AgentSession): [PiEvents, () => void] {
    const { wire } = this;
    const send = (record: PiRecord) => {
      wire.pi(record);
      if (record.type === "agent_settled") wire.notify("settled", { aborted: record["aborted"] });
    };
    const pi = new PiEvents(send, session.thinkingLevel);
    const stopEngine = session.subscribe((event) => pi.take(event));
    const stopAll = session.onSessionEvent((event) => {
      wire.notify("event", event);
      pi.takeLifecycle(event);
      if (event.type === "approval_requested") wire.ask(event.approval);
      if (event.type === "agent_end") void session.waitForIdle().then(() => pi.settle());
    });
    return [
      pi,
      () => {
        stopEngine();
        stopAll();
      },
    ];
  }

  #tell(code: string, message: string): void {
    this.wire.notify("event", { type: "notice", code, message });
    this.wire.pi({ type: "notice", code, message });
  }
}

function whyNotCompacted(
  outcome: { kind: "nothing"; reason: string } | { kind: "failed"; failure: { message: string } } | { kind: "aborted" },
) {
  if (outcome.kind === "failed") return `The conversation could not be compacted: ${outcome.failure.message}`;
  if (outcome.kind === "aborted") return "The compaction was aborted.";
  return formatNothing(outcome.reason);
}

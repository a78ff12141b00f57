/**
 * A complete session: prompts in, events out, everything in the log. `session-core.ts` builds the parts that hold its state,
 * `session-work.ts` those that act on it: `prompts.ts` takes prompts in, `activity.ts` runs them, `shown-tools.ts` and
 * `model-choice.ts` have what the next request is made of, and `call-judge.ts` judges calls. `session-state.ts` has what can
 * be read of a session, `session-lifetime.ts` opens and closes it, and `children.ts` has the sessions that work for it.
 * `extension-port/` lets extensions use the session, and `construct/` puts it together.
 */
import type { AgentMessage, AgentTool, ThinkingLevel } from "@tau/agent";
import type { ImageContent, Model } from "@tau/ai";
import { getErrorMessage, withoutUndefined } from "@tau/ai/internal";
import {
  type AddedDirectoryData,
  type Approval,
  type ApprovalAnswer,
  HarnessError,
  type PermissionData,
  type QueuedMessage,
  type Termination,
  type UsageLimit,
} from "@tau/protocol";
import { changedNames } from "@tau/config/internal";
import {
  type SessionEnd,
  type SessionStart,
  type ExtensionHost,
  type DroppedTool,
  type GivenTool,
  type BashResult,
} from "@tau/extensions/internal";
import type {
  AgentInfo,
  ChildOptions,
  ExtensionEvent,
  ExtensionResult,
  ExtensionSurface,
  SessionExtensions,
} from "@tau/extensions";
import type { Answer, Question } from "@tau/policy";
import type { Budget, BudgetLimits } from "../budget/budget.ts";
import type { CompactionOutcome } from "../compaction/compact.ts";
import { fileOperations } from "../compaction/files.ts";
import { bindExtensions } from "../extension-port/bind-extensions.ts";
import { compactSession } from "../run/compacting.ts";
import { toRunAborted } from "../run/run-aborted.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { PromptOutcome, PromptRun, Submission } from "./activity.ts";
import { Children } from "./children.ts";
import type { Spending } from "./live-sessions.ts";
import type { ModelSource } from "./model-choice.ts";
import type { ExtensionMentions } from "./extension-mentions.ts";
import type { NamedFiles } from "./named-files.ts";
import type { NavigateOptions } from "./navigate.ts";
import type { RunPlace } from "./run-place.ts";
import {
  type PromptOptions,
  type SteerOptions,
  type SubmitOptions,
  refuseAborted,
  toPromptOutcome,
} from "./prompts.ts";
import { createSessionCore, type SessionCore } from "./session-core.ts";
import { SessionLifetime } from "./session-lifetime.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionState } from "./session-state.ts";
import type { SessionOverrides } from "./session-settings.ts";
import { createSessionWork, type SessionWork } from "./session-work.ts";
import { type AgentDefinition, linkToolSession } from "./tool-session.ts";
import { refuseSameNames } from "./shown-tools.ts";
import type { BashOptions } from "./user-bash.ts";

/** Why a session begins, for its extensions. */
export type StartReason = SessionStart["reason"];

/**
 * Resolves when a run of the session may begin. Must resolve soon when the signal aborts; the run then ends before it asks a
 * model.
 */
export type AdmitRun = (session: AgentSession, signal: AbortSignal) => Promise<RunPlace>;

interface AgentSessionParts extends SessionParts {
  admitRun: AdmitRun | undefined;
  readCostLimits: () => Promise<readonly UsageLimit[]>;
  /** Opens another session with the same parts. */
  reopen: (sessionManager: SessionManager, start: SessionStart) => Promise<AgentSession>;
  /** Opens a session that `parent` starts. */
  openChild: (
    parent: AgentSession,
    options: ChildOptions,
    definition: AgentDefinition | undefined,
  ) => Promise<AgentSession>;
}

export class AgentSession extends SessionState {
  /** Files that prompts and commands name. */
  readonly namedFiles: NamedFiles;
  /** Whether it is the session of somebody else than the user of this machine. */
  readonly isTenant: boolean;
  /** Mentions that extensions read. */
  readonly mentions: ExtensionMentions;
  readonly #parts: AgentSessionParts;
  readonly #core: SessionCore;
  readonly #work: SessionWork;
  readonly #children: Children<AgentSession>;
  readonly #lifetime: SessionLifetime;

  /** Use `createAgentSession`. */
  constructor(parts: AgentSessionParts) {
    const { admitRun } = parts;
    const core = createSessionCore(parts);
    super(parts, core);
    this.#parts = parts;
    this.#core = core;
    this.#work = createSessionWork(parts, core, {
      reload: () => this.#reloadAll(),
      abort: (reason) => void this.abort(reason),
      admitRun: admitRun && ((signal) => admitRun(this, signal)),
    });
    linkToolSession(core.toolSession, (options, definition) => this.openChild(options, definition));
    this.isTenant = parts.tools.isTenant;
    this.namedFiles = this.#work.namedFiles;
    this.mentions = this.#work.mentions;
    this.#children = new Children({
      open: (options, definition) => parts.openChild(this, options, definition),
      onClosed: (child, listener) => child.#lifetime.onClosed(listener),
      judge: core.judge.parts,
      explainUnattended: () => core.questions.explainChild(),
      registry: parts.services.registry,
      resources: parts.services.resources,
      lifetime: core.lifetime.signal,
    });
    this.#lifetime = new SessionLifetime({
      parts,
      core,
      work: this.#work,
      bind: (extensions) => this.#bind(extensions),
      onModels: () => this.#followModel(),
    });
  }

  /** Reads the log, gives outcomes to calls and queued messages that a crash left without one, and follows the settings. */
  async open(): Promise<void> {
    await this.#lifetime.open();
  }

  /** The session itself, for the form `const { session } = await createAgentSession()`. */
  get session(): this {
    return this;
  }

  /** Sends what extensions show and ask to this surface. Resolves with how to detach it. */
  attachSurface(surface: ExtensionSurface): Promise<() => void> {
    return this.#parts.extensions.attach(surface);
  }

  /**
   * Calls `listener` when a feature is the first extension of the session, so that a surface can attach. Returns how to
   * stop.
   */
  onFirstExtension(listener: () => void | Promise<void>): () => void {
    return this.#parts.extensions.onFirst(listener);
  }

  /** Sets the host for extensions that leave this session for another. */
  setExtensionHost(host: ExtensionHost): void {
    this.#parts.extensions.setHost(host);
  }

  /** The tools that the model is shown. */
  get tools(): readonly AgentTool[] {
    return this.#work.tools.shown.tools;
  }

  /** The tools that a layer left out, and why. */
  get droppedTools(): readonly DroppedTool[] {
    return this.#work.tools.shown.dropped;
  }

  get systemPrompt(): string {
    return this.#work.tools.shown.systemPrompt.text;
  }

  /** A run is in progress, or about to begin. */
  get isStreaming(): boolean {
    return this.#work.activity.isBusy;
  }

  /** The budget of the current run, else of the session. Children spend from it. */
  get budget(): Budget {
    return this.#work.live.budget;
  }

  /** The amounts that the current run, else the next one, may still spend. */
  get budgetLeft(): BudgetLimits {
    return this.#work.activity.budgetLeft;
  }

  /** Reads the limits of the day and of the month that are set, which all sessions share. */
  getCostLimits(): Promise<readonly UsageLimit[]> {
    return this.#parts.readCostLimits();
  }

  /** How the last run ended, if a crash cut it and it was closed when the session was opened. */
  get cutRun(): Termination | undefined {
    return this.#lifetime.cutRun;
  }

  /**
   * Sends a prompt to the model, and resolves when the run that it begins is over. While another run is in progress it
   * throws `busy`, unless `streamingBehavior` says where to queue it.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<PromptOutcome> {
    const { streamingBehavior: queue, signal, ...others } = options;
    refuseAborted(signal);
    const submission = await this.#work.prompts.submit(text, { ...others, ...withoutUndefined({ queue, signal }) });
    return await toPromptOutcome(submission);
  }

  /** Queues a message that is sent before the next request. When the session is idle, it is a prompt. */
  async steer(text: string, options: SteerOptions | ImageContent[] = {}): Promise<PromptOutcome> {
    const content = Array.isArray(options) ? { images: options } : options;
    return await toPromptOutcome(await this.#work.prompts.submit(text, { ...content, queue: "steer" }));
  }

  /** Queues a message that is sent when the model would stop. When the session is idle, it is a prompt. */
  async followUp(text: string, images: ImageContent[] = []): Promise<PromptOutcome> {
    return await toPromptOutcome(await this.#work.prompts.submit(text, { images, queue: "followUp" }));
  }

  /** Takes a prompt as `prompt`, `steer` and `followUp` do, but resolves as soon as the message is in the log. */
  async submit(text: string, options: SubmitOptions = {}): Promise<Submission> {
    return await this.#work.prompts.submit(text, options);
  }

  /**
   * Begins a run with what is queued, such as messages from before a crash, unless one is in progress. `scopes` are those
   * that all of their senders have. Default: those of the last run.
   */
  runQueued(scopes?: readonly string[]): void {
    this.#work.prompts.runQueued(scopes);
  }

  /** Writes a new session to its file, which otherwise appears with the first prompt. */
  async persist(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    this.#core.mustBeOpen();
    await this.#core.model.remember();
    if (session.getEntryCount() === 0) await session.appendThinkingLevelChange(this.thinkingLevel);
    await session.flush();
  }

  /** Takes back all queued messages, and returns them. */
  async clearQueue(): Promise<{ steering: QueuedMessage[]; followUps: QueuedMessage[] }> {
    const before = this.queue;
    await this.#core.inbox.cancelAll();
    return before;
  }

  /** Takes back one queued message. False when it is no longer queued. */
  async removeQueued(id: string): Promise<boolean> {
    return await this.#core.inbox.cancel(id);
  }

  /** Changes the text of a queued message; answers with its new id. */
  async editQueued(id: string, text: string): Promise<string> {
    return await this.#work.prompts.editQueued(id, text);
  }

  /**
   * Ends what is in progress, also a run that has not begun yet and the runs of children, and resolves when it is over. Work
   * that is no run, such as a compaction, is ended alone. Queued messages stay. The reason `gateway_disconnected` says that
   * the client is gone.
   */
  async abort(reason?: unknown): Promise<void> {
    const { activity } = this.#work;
    const aborted = toRunAborted(reason, "person");
    const children = activity.isExclusive ? undefined : this.#children.abort(aborted);
    activity.abort(aborted);
    await this.waitForIdle();
    await children;
  }

  /** Ends the run when the calls that are running have ended. False when there is none. */
  interrupt(reason: string): boolean {
    const { run } = this.#core.currentRun;
    run?.stopAfterTurn({ kind: "aborted", by: "person", reason });
    return run !== undefined;
  }

  /**
   * Something is in progress that would end with the session: a run of it or of a child, a queued message, or a command in the
   * background.
   */
  get hasWork(): boolean {
    const { inbox, jobs } = this.#core;
    const hasOwn = this.isStreaming || !inbox.isEmpty || this.#work.bash.isRunning || jobs.running.length > 0;
    return hasOwn || this.#children.haveWork;
  }

  /** Stops waiting to ask again: the run ends with the failure. */
  abortRetry(): void {
    this.#core.currentRun.run?.abortRetry();
  }

  /** Resolves when nothing is in progress. A tool that waits for it waits for itself. */
  async waitForIdle(): Promise<void> {
    await this.#work.activity.whenIdle();
  }

  /**
   * Answers a question of `approval_requested`. False when it is no longer open. The answer to a question that outlives its run is
   * kept: `resume` makes the call. With `resumes`, `resumeAnswered` does that too, also in another process.
   */
  async approve(approvalId: string, answer: ApprovalAnswer, options: { resumes?: boolean } = {}): Promise<boolean> {
    const { judge, questions } = this.#core;
    return judge.answer(approvalId, answer) || (await questions.answer(approvalId, answer, options));
  }

  /** The questions without an answer that calls wait for after their run; see the parameter `ask`. */
  async getQuestions(): Promise<readonly Approval[]> {
    return await this.#core.questions.list();
  }

  /**
   * Makes the calls that wait for an answer, and continues their run. They are judged again; a question that still has no answer ends
   * the run as before. Rejects with `invalid_input` if no call waits, and with `busy` during a run.
   */
  async resume(): Promise<PromptRun> {
    return await (
      await this.startResuming()
    ).outcome;
  }

  /** Does what `resume` does, but resolves as soon as the run has begun. */
  async startResuming(): Promise<{ outcome: Promise<PromptRun> }> {
    this.#core.mustBeUsable();
    const { activity } = this.#work;
    const canResume = await this.#core.questions.canResume();
    if (activity.isBusy) throw new HarnessError("busy", "A run is already in progress. Wait for it, or abort it.");
    if (!canResume) throw new HarnessError("invalid_input", "Nothing can be resumed: no call waits for an answer.");
    return { outcome: activity.resume() };
  }

  /**
   * Begins the run that an answer with `resumes` asks for, once every question has an answer. False if there is none, and during a run:
   * of several that try, one begins it.
   */
  async resumeAnswered(): Promise<boolean> {
    const { activity } = this.#work;
    if (!(await this.#core.questions.isToResume()) || activity.isBusy) return false;
    this.#core.mustBeUsable();
    // A run that fails reports it in its events.
    activity.resume().catch(() => {});
    return true;
  }

  /** A new session that continues from an entry of this one, with the same parts and a file of its own. */
  async branch(fromEntryId: string): Promise<AgentSession> {
    this.#core.mustBeOpen();
    return await this.openOther(await this.#core.moves.branchOff(fromEntryId), "fork");
  }

  /**
   * Another session with the same parts and overrides. Its model is the one that its own log names, else the one that
   * this session began with. This session stays open. `reason` is for the extensions of the other one.
   */
  async openOther(sessionManager: SessionManager, reason: StartReason = "resume"): Promise<AgentSession> {
    this.#core.mustBeOpen();
    const { sessionFile } = this;
    const previous = sessionFile === undefined ? {} : { previousSessionFile: sessionFile };
    const other = await this.#parts.reopen(sessionManager, { reason, ...previous });
    other.override(this.#core.settings.overrides);
    return other;
  }

  /**
   * Opens a session that works for this one: it has at most this one's authority and spends from its budget, and its runs end
   * with those of this one. `definition`: it is another agent of the program, with a model and tools of its own.
   */
  async openChild(options: ChildOptions, definition?: AgentDefinition): Promise<AgentSession> {
    this.#core.mustBeOpen();
    return await this.#children.open(options, definition);
  }

  /**
   * Aborts when `abort` or the end of this session ends its children, for work that prepares some. Each `abort` has a signal of
   * its own: get it before the work begins.
   */
  getChildrenSignal(): AbortSignal {
    return this.#children.signal;
  }

  /** The files that calls in these messages have changed, as they were named. Commands may have changed others. */
  listChangedFiles(messages: readonly AgentMessage[]): readonly string[] {
    return fileOperations([], messages, this.#work.host.touches).modifiedFiles;
  }

  /** Resolves with the agents that children can be opened with, sorted by name, as their files are now. */
  async getAgents(): Promise<AgentInfo[]> {
    const tools = [...this.knownTools, ...this.tools, ...this.droppedTools];
    return await this.#children.getAgents(tools.map(({ name }) => name));
  }

  /** Asks whoever answers the questions of this session, with the name of the child. */
  async askForChild(name: string, question: Question, signal: AbortSignal): Promise<Answer> {
    return await this.#children.ask(name, question, signal);
  }

  /**
   * Moves the leaf to an entry of this session, or with null before the first. False when an extension cancelled it.
   * Throws `busy` during a run.
   */
  async navigate(entryId: string | null, options: NavigateOptions = {}): Promise<boolean> {
    this.#core.mustBeOpen();
    return await this.#work.activity.exclusive("Navigating", (signal) =>
      this.#work.navigation.navigate(entryId, options, signal),
    );
  }

  /** Asks the extension that keeps files to take them back, or to say what that would do. Undefined if there is none. */
  async requestUndo(
    request: Omit<ExtensionEvent<"undo_request">, "type">,
  ): Promise<ExtensionResult<"undo_request"> | undefined> {
    this.#core.mustBeOpen();
    const { features, extensions } = this.#parts;
    if (features.isCommand("/undo")) await features.loadForCommand("/undo");
    return await extensions.current?.emit({ type: "undo_request", ...request });
  }

  /** Replaces the older part of the conversation by a summary. Throws `busy` during a run. */
  async compact(instructions?: string): Promise<CompactionOutcome> {
    this.#core.mustBeUsable();
    return await this.#work.activity.exclusive("Compacting", async (signal) => {
      await this.#core.questions.settle();
      const outcome = await compactSession(this.#work.host, { reason: "manual", instructions, signal });
      this.#parts.budget.charge(outcome.usage);
      return outcome;
    });
  }

  /** Takes effect with the next request. Takes a model, or what `ModelRegistry.resolve` understands. */
  async setModel(model: Model | string, source: ModelSource = "set"): Promise<void> {
    this.#core.mustBeOpen();
    await this.#core.model.setModel(model, source);
  }

  /** Takes effect with the next request. A level that the model does not have becomes the nearest one. */
  async setThinkingLevel(level: ThinkingLevel | "none"): Promise<void> {
    this.#core.mustBeOpen();
    await this.#core.model.setThinkingLevel(level);
  }

  /**
   * Takes effect with the next call. Throws for a name that is no mode, and for one that the project or the parent session
   * does not allow. Only a person may choose `free`: the caller answers for that.
   */
  async setPermissionMode(mode: string): Promise<PermissionData> {
    this.#core.mustBeOpen();
    return await this.#core.permissionModes.choose(mode);
  }

  /**
   * Adds a directory to the workspace until the session is closed; takes effect with the next call. Only for a person: the caller
   * answers for that. Throws `denied` for a directory that is never part of a workspace, and where nobody answers questions.
   */
  async addDirectory(path: string): Promise<AddedDirectoryData> {
    this.#core.mustBeOpen();
    return await this.#work.directories.add(path);
  }

  /** Takes effect with the next request. Names stand for built-in tools. */
  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#core.mustBeOpen();
    refuseSameNames("tools", tools);
    this.#work.tools.setTools(tools);
  }

  /** Takes effect with the next request: the model is shown these tools alone. Throws for a name that no tool has. */
  setActiveTools(names: readonly string[]): void {
    this.#core.mustBeOpen();
    this.#work.tools.setActiveTools(names);
  }

  /** Adds a notice for the user, in whole sentences. `code` is for programs. */
  notify(code: string, message: string): void {
    this.#core.notices.add(code, message);
  }

  /** Changes what this session does, without changing any file. */
  override(changes: SessionOverrides): void {
    this.#core.settings.override(changes);
  }

  /**
   * Runs a command with the user's own authority: the policy does not judge it. The model sees it with the next prompt,
   * unless `excludeFromContext`. Resolves when the command is in the log; throws `write_failed` if it cannot be written.
   */
  async executeBash(command: string, options: BashOptions = {}): Promise<BashResult> {
    this.#core.mustBeOpen();
    return await this.#work.bash.run(command, options);
  }

  abortBash(): void {
    this.#work.bash.abort();
  }

  /**
   * Reads settings and resources again, and loads extensions again. Answers with what changed. Resources apply from the
   * next prompt on.
   */
  async reload(): Promise<readonly string[]> {
    this.#core.mustBeOpen();
    const { settings, resources } = this.#parts.services;
    const before = resources.resources;
    await settings.reload();
    await resources.reload();
    await this.#parts.extensions.reload();
    this.#core.lifecycles.forgetFailures();
    this.#work.tools.rebuild();
    await this.#work.tools.loadTools();
    return changedNames(before, resources.resources);
  }

  /** Reloads the session and what the gateway reads, for the tool `gateway_reload`. */
  async #reloadAll(): Promise<readonly string[]> {
    const changed = await this.#parts.reloadGateway?.();
    return [...new Set([...(changed ?? []), ...(await this.reload())])];
  }

  /** Not to another address of an isolated extension: the person chose the one that was shown. */
  #followModel(): void {
    const { model, extensions } = this;
    if (model && !extensions?.providers.isIsolated(model.provider)) this.#core.model.followRegistry();
  }

  /**
   * Ends what is in progress, cancels the queue unless `afterCrash` may keep it, and releases the log. `why`: for
   * extensions.
   */
  dispose(why: SessionEnd = { reason: "quit" }): Promise<void> {
    return this.#lifetime.close(why);
  }

  async #bind(extensions: SessionExtensions): Promise<void> {
    const { currentRun } = this.#core;
    const { tools, activity, host } = this.#work;
    await bindExtensions(extensions, {
      session: this,
      tools,
      activity,
      host,
      spawn: this.#parts.spawn,
      getSignal: () => currentRun.run?.signal,
      noteSpent: (spent) => this.#noteSpent(spent),
    });
  }

  /** Records what a request of an extension cost, also in the logs of the sessions above. */
  async #noteSpent(spent: Spending): Promise<void> {
    try {
      await this.sessionManager.appendUsage("extension", spent.provider, spent.model, spent.usage);
      await this.#parts.parent?.noteChild(spent);
    } catch (error) {
      this.notify("not_remembered", `The cost of a request could not be recorded: ${getErrorMessage(error)}`);
    }
  }
}

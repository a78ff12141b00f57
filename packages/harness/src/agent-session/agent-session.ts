/**
 * A complete session: prompts in, events out, everything in the log. How a prompt gets in is `prompts.ts`, what the session is
 * doing is `activity.ts`, what counts for the next request is `choices.ts`, who judges calls is `call-judge.ts`, what extensions
 * do with it is `extension-binding.ts`, and `create-agent-session.ts` puts it together.
 */
import type { AgentMessage, AgentTool, ThinkingLevel } from "@tau/agent";
import type { ImageContent, Model } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import {
  type ApprovalAnswer,
  type LifecycleEvent,
  type PermissionData,
  type PermissionMode,
  type QueuedMessage,
  type SessionEvent,
  type Termination,
  HarnessError,
} from "@tau/protocol";
import type { Jobs, ToolLogLevel } from "@tau/tools";
import type { AuthStorage } from "@tau/config/auth";
import type { Budget, BudgetLimits } from "../budget/budget.ts";
import type { CompactionOutcome } from "../compaction/compact.ts";
import {
  type SessionEnd,
  type SessionStart,
  type ExtensionHost,
  adaptTool,
  toToolBinding,
  type DroppedTool,
  type GivenTool,
  ToolLifecycles,
  type BashResult,
} from "@tau/extensions/internal";
import type { SessionExtensions, ExtensionSurface } from "@tau/extensions";
import type { ModelRegistry } from "@tau/config/models";
import type { JudgeParts, PolicyReport } from "@tau/policy/internal";
import type { ResourceLoader } from "@tau/config/resources";
import { changedNames } from "@tau/config/internal";
import { compactSession } from "../run/compacting.ts";
import { RunAborted, toRunAborted } from "../run/run-aborted.ts";
import type { RunHost } from "../run/run-host.ts";
import { describeProblems } from "../session/describe-problems.ts";
import { type TranscriptMessage, withIds } from "../session/message-ids.ts";
import { type ReadOnly, readOnlyError } from "../session/read-only.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Settings, SettingsManager } from "@tau/config/settings";
import { settleAfterCrash } from "./after-crash.ts";
import { Activity, type PromptOutcome, type Submission } from "./activity.ts";
import { type CallJudge, createCallJudge } from "./call-judge.ts";
import { type ChangeHandlers, createChangeHandlers } from "./change-handlers.ts";
import { checkArguments, checkNavigation, refuseSameNames } from "./check-params.ts";
import { Choices, type ModelSource, type SessionOverrides } from "./choices.ts";
import { checkMessage } from "./content.ts";
import { createRunHost } from "./create-run-host.ts";
import { ExtensionBinding } from "./extension-binding.ts";
import { createHarnessActions } from "./harness-actions.ts";
import { Inbox } from "./inbox.ts";
import { JobReports } from "./job-reports.ts";
import { createLiveSession, type LiveSession } from "./live-sessions.ts";
import type { NavigateOptions } from "./navigate.ts";
import { type Notice, Notices } from "./notices.ts";
import { describeLeftOut } from "./tools-and-prompt.ts";
import { NamedFiles } from "./named-files.ts";
import { type PromptOptions, Prompts, type SteerOptions, type SubmitOptions } from "./prompts.ts";
import { type AgentSessionEvent, Publisher } from "./publisher.ts";
import { RunScopes } from "./run-scopes.ts";
import type { AgentSessionParts } from "./session-parts.ts";
import { getCacheHitRate, getContextUse, type SessionStats } from "./stats.ts";
import { Transcript } from "./transcript.ts";
import { TreeMoves } from "./tree-moves.ts";
import { type BashOptions, UserBash } from "./user-bash.ts";
import { createToolSandbox } from "./way-out.ts";

/** Why a session begins, as extensions are told. */
export type StartReason = SessionStart["reason"];

/** Why a session ends, as extensions are told. */

export class AgentSession {
  /** Files that prompts and commands name. */
  readonly namedFiles: NamedFiles;
  readonly #parts: AgentSessionParts;
  readonly #publisher = new Publisher((message) => this.#warnOfListener(message));
  readonly #notices = new Notices(this.#publisher);
  readonly #judge: CallJudge;
  readonly #transcript = new Transcript();
  readonly #lifetime = new AbortController();
  readonly #lifecycles: ToolLifecycles;
  readonly #inbox: Inbox;
  readonly #choices: Choices;
  readonly #host: RunHost;
  readonly #activity: Activity;
  readonly #prompts: Prompts;
  readonly #binding: ExtensionBinding;
  readonly #bash: UserBash;
  readonly #jobs: JobReports;
  readonly #tree: TreeMoves;
  readonly #live: LiveSession;
  readonly #changes: ChangeHandlers;
  readonly #cleanUps: (() => void)[] = [];
  #disposed: Promise<void> | undefined;
  #cutRun: Termination | undefined;
  /** The permission mode as surfaces know it. */
  #toldMode: PermissionMode;

  /** Use `createAgentSession`. */
  constructor(parts: AgentSessionParts) {
    const { sessionManager: session, services, ids, clock, tools } = parts;
    this.#parts = parts;
    this.#toldMode = parts.permissions.mode;
    const { signal } = this.#lifetime;
    const getExtensions = () => this.extensions;
    const mustBeUsable = () => this.#mustBeUsable();
    const scopes = new RunScopes();
    const notice = (code: string, message: string) => this.#notices.add(code, message);
    this.#lifecycles = new ToolLifecycles({
      clock,
      signal,
      notice,
      log: (tool, level, message) => this.#logTool(tool, level, message),
      binding: tools.binding && toToolBinding(tools.binding),
    });
    const actions = createHarnessActions({
      ...parts,
      getTree: () => this.#tree,
      getActivity: () => this.#activity,
      reload: async () => {
        const changed = await parts.reloadGateway?.();
        return [...new Set([...(changed ?? []), ...(await this.reload())])];
      },
    });
    const sandbox =
      tools.sandbox &&
      createToolSandbox(tools.sandbox, {
        getParts: () => this.#judge.parts,
        listHosts: parts.policy.listHosts,
      });
    const lifecycles = this.#lifecycles;
    this.#choices = new Choices({ ...parts, sandbox, session, actions, lifecycles, signal, notice, getExtensions });
    this.#inbox = new Inbox({
      session,
      ids,
      now: () => clock.now(),
      mode: (kind) => this.settings[kind === "steer" ? "steeringMode" : "followUpMode"],
      onChange: () => this.#publisher.fact({ type: "queue_changed", ...this.#inbox.summarise() }),
    });
    this.#jobs = new JobReports({
      jobs: parts.jobs,
      clock,
      notice,
      publish: (running) => this.#publisher.fact({ type: "jobs_changed", running }),
      wake: () => this.#wake(),
    });
    this.#judge = createCallJudge({
      ...parts,
      sessionId: session.id,
      publisher: this.#publisher,
      scopes,
      timeoutMs: () => this.settings.approvals.timeoutMs,
    });
    this.#host = createRunHost({
      ...parts,
      transcript: this.#transcript,
      inbox: this.#inbox,
      publisher: this.#publisher,
      choices: this.#choices,
      judge: this.#judge,
      takeReports: () => this.#jobs.take(),
    });
    this.#tree = new TreeMoves({
      ...parts,
      session,
      getExtensions,
      notice,
      publisher: this.#publisher,
      touches: this.#host.touches,
      getModel: () => this.#choices.mustHaveModel(),
      settings: () => this.settings,
      afterMove: async () => {
        await this.#load();
        this.#jobs.compareWith(this.messages);
        this.#host.sent.forgetMessages();
      },
    });
    this.#activity = new Activity({
      ...parts,
      host: this.#host,
      choices: this.#choices,
      inbox: this.#inbox,
      lifetime: signal,
      mustBeUsable,
      admitRun: parts.admitRun && ((aborted) => parts.admitRun!(this, aborted)),
      beforeRun: async (prompts) => [...(await this.#binding.beforeRun(prompts)), ...this.#jobs.take()],
      takeSent: async (mayContinue) => {
        const sent = await this.#binding.takeSent(mayContinue);
        return mayContinue && this.#jobs.wakes ? [...sent, ...this.#jobs.take()] : sent;
      },
      onSettled: async ({ kind }) => {
        await this.extensions?.emit({ type: "agent_settled", aborted: kind === "aborted" });
      },
      afterRun: async () => {
        this.#choices.setRunPrompt(undefined);
        await this.#tree.navigatePlanned(signal);
      },
      notice,
    });
    const own = { host: this.#host, choices: this.#choices, activity: this.#activity, notices: this.#notices };
    this.#binding = new ExtensionBinding({ session: this, ...own });
    this.namedFiles = new NamedFiles({
      authority: parts.fileAuthority,
      cwd: parts.cwd,
      personFiles: parts.personFiles,
      createCallFiles: (id) => tools.createCallContext(id).files,
      getJudgeParts: () => this.#judge.parts,
      endCall: (id) => this.#judge.endCall(id),
      hasTool: (name) => this.#choices.shown.tools.some((tool) => tool.name === name),
      ids,
    });
    this.#prompts = new Prompts({
      ...parts,
      ...own,
      namedFiles: this.namedFiles,
      inbox: this.#inbox,
      scopes,
      getExtensions,
      mustBeUsable,
    });
    this.#bash = new UserBash({
      ...parts,
      ...own,
      getTool: () => adaptTool(tools.getBuiltIn("bash")),
      getExtensions,
      session,
      transcript: this.#transcript,
    });
    this.#live = createLiveSession({ ...parts, taint: parts.policy.taint, activity: this.#activity, lifetime: signal });
    this.#changes = createChangeHandlers({ ...parts, ...own, getExtensions });
    this.#cleanUps.push(this.#jobs.follow());
    this.#cleanUps.push(session.onAppend(this.#changes.onAppend));
    this.#cleanUps.push(session.onAppend(({ type }) => type === "compaction" && this.#jobs.tellRunning()));
    this.#cleanUps.push(services.resources.subscribe(this.#changes.onResources));
  }

  /** Reads the log, gives outcomes to calls and queued messages that a crash left without one, and follows the settings. */
  async open(): Promise<void> {
    const { sessionManager: session, services, problems, sessions } = this.#parts;
    for (const { code, message } of problems) this.#notices.add(code, message);
    session.onProblems((fresh) => {
      const damage = fresh.filter(({ kind }) => kind !== "newer_version");
      if (damage.length > 0) this.#notices.add("session", describeProblems(damage, session.getSessionFile() ?? ""));
    });
    if (!session.readOnly) {
      // A session that another process writes has its children there.
      sessions.add(this.#live);
      const { afterCrash } = this.#parts;
      this.#cutRun = await settleAfterCrash({ session, inbox: this.#inbox, notices: this.#notices, afterCrash });
    }
    await this.#load();
    this.#jobs.resume(this.messages);
    const { notResumed } = this.#parts.permissions;
    if (notResumed !== undefined) this.#notices.add("permissions", notResumed);
    this.#host.sent.restore(await session.getPrefix());
    if (this.extensions) await this.#binding.bind(this.extensions);
    this.#cleanUps.push(services.settings.subscribe(this.#changes.onSettings));
    this.#cleanUps.push(services.settings.subscribe(() => this.#tellMode()));
    this.#cleanUps.push(services.registry.subscribe(() => this.#followModel()));
    for (const { code, message } of describeLeftOut(this.#choices.shown)) this.#notices.add(code, message);
    await this.#choices.loadTools();
  }

  /** The session itself, for the form `const { session } = await createAgentSession()`. */
  get session(): this {
    return this;
  }

  get sessionId(): string {
    return this.#parts.sessionManager.id;
  }

  get sessionFile(): string | undefined {
    return this.#parts.sessionManager.getSessionFile();
  }

  /** Where commands run and relative paths begin. */
  get cwd(): string {
    return this.#parts.cwd;
  }

  get sessionManager(): SessionManager {
    return this.#parts.sessionManager;
  }

  get settingsManager(): SettingsManager {
    return this.#parts.services.settings;
  }

  get modelRegistry(): ModelRegistry {
    return this.#parts.services.registry;
  }

  get authStorage(): AuthStorage {
    return this.#parts.services.auth;
  }

  get resourceLoader(): ResourceLoader {
    return this.#parts.services.resources;
  }

  /** Undefined without extensions. */
  get extensions(): SessionExtensions | undefined {
    return this.#parts.extensions.current;
  }

  /** What extensions show and ask goes to this surface. Resolves with how to detach it. */
  attachSurface(surface: ExtensionSurface): Promise<() => void> {
    return this.#parts.extensions.attach(surface);
  }

  /** What judges calls, for isolated extensions. */
  get judgeParts(): JudgeParts {
    return this.#judge.parts;
  }

  /** What the host does for extensions that leave this session for another. */
  setExtensionHost(host: ExtensionHost): void {
    this.#parts.extensions.setHost(host);
  }

  /** All built-in tools, shown or not. */
  get knownTools(): readonly AgentTool[] {
    return Object.values(this.#parts.tools.builtIn).map(adaptTool);
  }

  /** Undefined as long as no model can be used. */
  get model(): Model | undefined {
    return this.#choices.model;
  }

  /** Why the model that the settings ask for cannot be used; undefined when it can, or none was asked for. */
  get modelProblem(): string | undefined {
    return this.model ? undefined : this.#parts.model.modelProblem;
  }

  /** What surfaces show of the policy and of the sandbox. */
  get policy(): PolicyReport {
    return this.#parts.policy.report;
  }

  /** How much the session does without a question. */
  get permissions(): PermissionData {
    return this.policy.permissions;
  }

  /** Commands of the model that outlive the calls that started them. */
  get jobs(): Jobs {
    return this.#parts.jobs;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#choices.thinkingLevel;
  }

  /** The tools that the model is shown. */
  get tools(): readonly AgentTool[] {
    return this.#choices.shown.tools;
  }

  /** The tools that a layer left out, and why. */
  get droppedTools(): readonly DroppedTool[] {
    return this.#choices.shown.dropped;
  }

  get systemPrompt(): string {
    return this.#choices.shown.systemPrompt.text;
  }

  /** The settings as this session follows them. */
  get settings(): Settings {
    return this.#choices.settings();
  }

  /** What the model is sent of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.#transcript.messages;
  }

  /** The same, each with the id of its entry. */
  get transcript(): readonly TranscriptMessage[] {
    return withIds(this.messages);
  }

  /** A run is in progress, or about to begin. */
  get isStreaming(): boolean {
    return this.#activity.isBusy;
  }

  /** Why the session cannot be written; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    return this.#parts.sessionManager.readOnly;
  }

  /** What the current run, else the session, may still spend. Children spend from it. */
  get budget(): Budget {
    return this.#live.budget;
  }

  /** What the current run, else the next one, may still spend. */
  get budgetLeft(): BudgetLimits {
    return this.#activity.budgetLeft;
  }

  /** Patterns of the models to choose from. Undefined for all. */
  get modelPatterns(): readonly string[] | undefined {
    return this.#parts.modelPatterns ?? this.settings.enabledModels;
  }

  /** The queued messages, oldest first. */
  get queue(): { steering: QueuedMessage[]; followUps: QueuedMessage[] } {
    return { steering: this.#inbox.list("steer"), followUps: this.#inbox.list("followUp") };
  }

  /** How the last run ended, if a crash cut it and it was closed when the session was opened. */
  get cutRun(): Termination | undefined {
    return this.#cutRun;
  }

  /** What the user should know, the latest last; also what came before anyone listened. */
  get notices(): readonly Notice[] {
    return this.#notices.list;
  }

  /** The engine's own events and the facts of the session. Listeners are not waited for. */
  subscribe(listener: (event: AgentSessionEvent) => void): () => void {
    checkArguments({ listener });
    return this.#publisher.onEngineEvent(listener);
  }

  /** The eleven events of a run's life. */
  onEvent(listener: (event: LifecycleEvent) => void): () => void {
    checkArguments({ listener });
    return this.#publisher.onLifecycleEvent(listener);
  }

  /** Everything that a surface draws: see `reduce` of `@tau/protocol`. */
  onSessionEvent(listener: (event: SessionEvent) => void): () => void {
    checkArguments({ listener });
    return this.#publisher.onSessionEvent(listener);
  }

  /**
   * Sends a prompt to the model, and resolves when the run that it begins is over. While another run is in progress it
   * throws `busy`, unless `streamingBehavior` says where to queue it.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<PromptOutcome> {
    checkMessage(text, options);
    const { streamingBehavior: queue, ...content } = options;
    return await this.#prompts.send(text, { ...content, ...(queue && { queue }) });
  }

  /** Queues a message that is sent before the next request. When the session is idle, it is a prompt. */
  async steer(text: string, options: SteerOptions | ImageContent[] = {}): Promise<PromptOutcome> {
    const content = Array.isArray(options) ? { images: options } : options;
    return await this.#prompts.send(text, { ...content, queue: "steer" });
  }

  /** Queues a message that is sent when the model would stop. When the session is idle, it is a prompt. */
  async followUp(text: string, images: ImageContent[] = []): Promise<PromptOutcome> {
    return await this.#prompts.send(text, { images, queue: "followUp" });
  }

  /** The same as these three, but resolves as soon as the message is in the log. */
  async submit(text: string, options: SubmitOptions = {}): Promise<Submission> {
    return await this.#prompts.submit(text, options);
  }

  /**
   * Begins a run with what is queued, such as messages from before a crash, unless one is in progress. `scopes` are those
   * that all of their senders have. Default: those of the last run.
   */
  runQueued(scopes?: readonly string[]): void {
    checkArguments({ scopes });
    this.#prompts.runQueued(scopes);
  }

  /** Writes a new session to its file, which otherwise appears with the first prompt. */
  async persist(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    this.#mustBeOpen();
    await this.#choices.remember();
    if (session.getEntryCount() === 0) await session.appendThinkingLevelChange(this.thinkingLevel);
    await session.flush();
  }

  /** Takes back all queued messages, and returns them. */
  async clearQueue(): Promise<{ steering: QueuedMessage[]; followUps: QueuedMessage[] }> {
    const before = this.queue;
    await this.#inbox.cancel();
    return before;
  }

  /** Takes back one queued message. False when it is no longer queued. */
  async removeQueued(id: string): Promise<boolean> {
    checkArguments({ id });
    return (await this.#inbox.cancel(id)).length > 0;
  }

  /** Changes the text of a queued message; answers with its new id. */
  async editQueued(id: string, text: string): Promise<string> {
    return await this.#prompts.editQueued(id, text);
  }

  /**
   * Ends what is in progress, also a run that has not begun yet, and resolves when it is over. Queued messages stay. The
   * reason `gateway_disconnected` says that the client is gone.
   */
  async abort(reason?: unknown): Promise<void> {
    this.#activity.abort(toRunAborted(reason, "person"));
    await this.waitForIdle();
  }

  /** Ends the run when the calls that are running have ended. False when there is none. */
  interrupt(reason: string): boolean {
    const { run } = this.#activity;
    run?.stopAfterTurn({ kind: "aborted", by: "person", reason });
    return run !== undefined;
  }

  /** Another session of the same host has started this one, and ends it. */
  get isChild(): boolean {
    return this.#parts.parent !== undefined;
  }

  /** Something goes on that would end with the session: a run, a queued message, or a command in the background. */
  get hasWork(): boolean {
    return this.isStreaming || !this.#inbox.isEmpty || this.#bash.isRunning || this.#jobs.running.length > 0;
  }

  /** Stops waiting to ask again: the run ends with the failure. */
  abortRetry(): void {
    this.#activity.run?.abortRetry();
  }

  /** Resolves when nothing is in progress. A tool that waits for it waits for itself. */
  async waitForIdle(): Promise<void> {
    await this.#activity.whenIdle();
  }

  /** Answers a question of `approval_requested`. False when it is no longer open. */
  approve(approvalId: string, answer: ApprovalAnswer): boolean {
    return this.#judge.answer(approvalId, answer);
  }

  /** A new session that continues from an entry of this one, with the same parts and a file of its own. */
  async branch(fromEntryId: string): Promise<AgentSession> {
    this.#mustBeOpen();
    return await this.openOther(await this.#tree.branchOff(fromEntryId), "fork");
  }

  /**
   * Another session with the same parts and overrides. Its model is the one that its own log names, else the one that
   * this session began with. This session stays open. `reason` is what extensions of the other one are told.
   */
  async openOther(sessionManager: SessionManager, reason: StartReason = "resume"): Promise<AgentSession> {
    this.#mustBeOpen();
    const { sessionFile } = this;
    checkArguments({ sessionManager });
    const previous = sessionFile === undefined ? {} : { previousSessionFile: sessionFile };
    const other = await this.#parts.reopen(sessionManager, { reason, ...previous });
    other.override(this.#choices.overrides);
    return other;
  }

  /**
   * Moves the leaf to an entry of this session, or with null before the first. False when an extension cancelled it.
   * Throws `busy` during a run.
   */
  async navigate(entryId: string | null, options: NavigateOptions = {}): Promise<boolean> {
    this.#mustBeOpen();
    checkNavigation({ entryId, options });
    return await this.#activity.exclusive("Navigating", (signal) => this.#tree.navigate(entryId, options, signal));
  }

  /** Replaces the older part of the conversation by a summary. Throws `busy` during a run. */
  async compact(instructions?: string): Promise<CompactionOutcome> {
    this.#mustBeUsable();
    checkArguments({ instructions });
    return await this.#activity.exclusive("Compacting", async (signal) => {
      const outcome = await compactSession(this.#host, { reason: "manual", instructions, signal });
      this.#parts.budget.charge(outcome.usage);
      return outcome;
    });
  }

  /** Takes effect with the next request. Takes a model, or what `ModelRegistry.resolve` understands. */
  async setModel(model: Model | string, source: ModelSource = "set"): Promise<void> {
    this.#mustBeOpen();
    checkArguments({ model });
    await this.#choices.setModel(model, source);
  }

  /** Takes effect with the next request. A level that the model does not have becomes the nearest one. */
  async setThinkingLevel(level: ThinkingLevel | "none"): Promise<void> {
    this.#mustBeOpen();
    checkArguments({ level });
    await this.#choices.setThinkingLevel(level);
  }

  /**
   * Takes effect with the next call. Throws for a name that is no mode, and for one that the project or the parent session
   * does not allow. Only a person may choose `free`: the caller answers for that.
   */
  async setPermissionMode(mode: string): Promise<PermissionData> {
    this.#mustBeOpen();
    const { permissions, sessionManager } = this.#parts;
    const chosen = permissions.choose(mode);
    this.#tellMode();
    if (chosen === "free") await this.policy.trySandbox();
    if (!this.readOnly && chosen !== (await sessionManager.getPermissionMode()))
      await sessionManager.append({ type: "permission_mode", mode: chosen });
    return this.permissions;
  }

  #tellMode(): void {
    const { mode } = this.#parts.permissions;
    if (mode === this.#toldMode) return;
    this.#toldMode = mode;
    this.#publisher.fact({ type: "permission_mode_changed", mode });
  }

  /** Takes effect with the next request. Names stand for built-in tools. */
  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#mustBeOpen();
    checkArguments({ tools });
    refuseSameNames("tools", tools);
    this.#choices.setTools(tools);
  }

  /** Takes effect with the next request: the model is shown these tools alone. Throws for a name that no tool has. */
  setActiveTools(names: readonly string[]): void {
    this.#mustBeOpen();
    checkArguments({ names });
    this.#choices.setActiveTools(names);
  }

  /** Tells the user something, in whole sentences. `code` is for programs. */
  notify(code: string, message: string): void {
    this.#notices.add(code, message);
  }

  /** Changes what this session does, without changing any file. */
  override(changes: SessionOverrides): void {
    checkArguments({ changes });
    this.#choices.override(changes);
  }

  /**
   * Runs a command with the user's own authority: the policy does not judge it. The model is told with the next prompt,
   * unless `excludeFromContext`. Resolves when the command is in the log; throws `write_failed` if it cannot be written.
   */
  async executeBash(command: string, options: BashOptions = {}): Promise<BashResult> {
    this.#mustBeOpen();
    checkArguments({ command, options });
    return await this.#bash.run(command, options);
  }

  abortBash(): void {
    this.#bash.abort();
  }

  /**
   * Reads settings and resources again, and loads extensions again. Answers with what changed. Resources count from the
   * next prompt on.
   */
  async reload(): Promise<readonly string[]> {
    this.#mustBeOpen();
    const { settings, resources } = this.#parts.services;
    const before = resources.resources;
    await settings.reload();
    await resources.reload();
    await this.#parts.extensions.reload((extensions) => this.#binding.bind(extensions));
    this.#lifecycles.forgetFailures();
    this.#choices.rebuild();
    await this.#choices.loadTools();
    return changedNames(before, resources.resources);
  }

  /** Not to another address of an isolated extension: the person chose the one that was shown. */
  #followModel(): void {
    const { model, extensions } = this;
    if (model && !extensions?.providers.isIsolated(model.provider)) this.#choices.followRegistry();
  }

  /** Tokens, cost, cache hits and how full the context is. */
  async stats(): Promise<SessionStats> {
    const { model, sessionId } = this;
    const totals = await this.sessionManager.getTotals();
    const contextUse = model && getContextUse(this.#transcript.tokens, model.contextWindow);
    return { ...totals, sessionId, cacheHitRate: getCacheHitRate(totals), contextUse };
  }

  /** Ends what is in progress, cancels the queue unless `afterCrash` may keep it, and releases the log. `why` is told to extensions. */
  dispose(why: SessionEnd = { reason: "quit" }): Promise<void> {
    this.#disposed ??= this.#dispose(why);
    return this.#disposed;
  }

  async #dispose(why: SessionEnd): Promise<void> {
    const closed = new RunAborted({ kind: "aborted", by: "person", reason: "closed" }, "The session was closed.");
    this.#lifetime.abort(closed);
    this.#bash.abort();
    this.#activity.abort(closed);
    await this.#activity.whenIdle();
    // Each step happens, also when another fails: a full disk must not leave processes behind.
    const steps = [
      async () => {
        if (!this.readOnly && !this.#parts.afterCrash) await this.#inbox.refuse("the session was closed");
      },
      () => this.#keepReports(),
      () => this.#parts.extensions.close(why, "The session was closed."),
      () => this.#lifecycles.unloadOthers([]),
      async () => this.#cleanUps.forEach((cleanUp) => cleanUp()),
      async () => this.#parts.sessions.remove(this.#live),
      () => this.#parts.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  /** Begins a run about a job that has ended, unless one is in progress: that one takes the report. */
  #wake(): void {
    if (this.#activity.isBusy || this.#lifetime.signal.aborted || !this.model) return;
    this.#activity
      .begin(this.#jobs.take())
      .catch((error: unknown) => this.#notices.add("run_failed", getErrorMessage(error)));
  }

  /** What the model was not told yet is in the log for the next time. */
  async #keepReports(): Promise<void> {
    if (this.readOnly) return;
    const { sessionManager } = this.#parts;
    for (const { role: _role, timestamp: _timestamp, ...message } of this.#jobs.take())
      await sessionManager.append({ type: "custom_message", ...message });
  }

  async #load(): Promise<void> {
    this.#choices.takeLogged(await this.#transcript.load(this.#parts.sessionManager));
  }

  #logTool(tool: string, level: ToolLogLevel, message: string): void {
    this.#parts.logTool?.(tool, level, message);
    if (level === "warn" || level === "error") this.#notices.add("tool", `${tool}: ${message}`);
  }

  #warnOfListener(message: string): void {
    // Not to the listeners: one that always fails would hear of it without end.
    process.emitWarning(`A listener of the session ${this.sessionId} failed: ${message}`, "TauWarning");
  }

  #mustBeOpen(): void {
    if (this.#lifetime.signal.aborted) throw new HarnessError("closed", `The session ${this.sessionId} is closed.`);
  }

  #mustBeUsable(): void {
    this.#mustBeOpen();
    this.#choices.mustHaveModel();
    const { readOnly } = this;
    if (readOnly) throw readOnlyError(this.sessionFile ?? this.sessionId, readOnly);
  }
}

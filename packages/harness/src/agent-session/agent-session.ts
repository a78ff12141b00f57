/**
 * A complete session: prompts in, events out, everything in the log. What it is doing is `activity.ts`, what counts for the
 * next request is `choices.ts`, and `create-agent-session.ts` puts it together.
 */
import type { AgentMessage, AgentTool, StreamFn, ThinkingLevel } from "@tau/agent";
import { type Clock, type Ids, type ImageContent, type Model } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ApprovalAnswer, BashExecutionMessage, LifecycleEvent, QueuedMessage, SessionEvent } from "@tau/protocol";
import type { ToolLogLevel } from "@tau/tools";
import type { AuthStorage } from "../auth/auth-storage.ts";
import type { Budget, BudgetLimits } from "../budget/budget.ts";
import type { CompactionOutcome } from "../compaction/compact.ts";
import { HarnessError } from "../errors.ts";
import type { ExtensionEvent, InputSource } from "../extensions/events.ts";
import type { ExtensionSlot, SessionStart } from "../extensions/session/extension-slot.ts";
import type { SessionExtensions } from "../extensions/session/session-extensions.ts";
import type { ExtensionHost, ExtensionSurface } from "../extensions/session/surface.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { Tracer } from "../observe/trace.ts";
import { toCustomMessage } from "../extensions/session/message-queue.ts";
import { adaptTool } from "../pipeline/adapt-tool.ts";
import type { DroppedTool, GivenTool, HarnessActions } from "../pipeline/layer.ts";
import { ToolLifecycles } from "../pipeline/tool-lifecycles.ts";
import { createTouches } from "../pipeline/touches.ts";
import { adviseUser } from "../policy/advice.ts";
import { createJudge, type JudgeParts } from "../policy/judge.ts";
import { createToolSandbox } from "./way-out.ts";
import type { Decision } from "../policy/policy.ts";
import type { PolicyReport } from "../policy/policy-report.ts";
import type { ExpandPort } from "../prompt/expand.ts";
import { PrefixTracker } from "../request/prefix-tracker.ts";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import { changedNames } from "../resources/resources.ts";
import { applyBoundary } from "../run/boundary.ts";
import { compactSession } from "../run/compacting.ts";
import { RunAborted, toRunAborted } from "../run/run-aborted.ts";
import type { RunHost } from "../run/run-host.ts";
import { describeEntries } from "../session/describe-entries.ts";
import { describeProblems } from "../session/describe-problems.ts";
import { customTypes, type SessionEntry } from "../session/entry.ts";
import { type ReadOnly, readOnlyError } from "../session/log.ts";
import { type TranscriptMessage, withIds } from "../session/message-ids.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Settings } from "../settings/schema.ts";
import type { SettingsChange, SettingsManager } from "../settings/settings-manager.ts";
import { Activity, type PromptOutcome, type Submission } from "./activity.ts";
import { Approvals, type AskChoice } from "./approvals.ts";
import { formatUnlisted } from "./choose-model.ts";
import { Choices, type ModelChoice, type SessionOverrides, type ToolSources } from "./choices.ts";
import { getContent, type PromptContent } from "./content.ts";
import { Inbox } from "./inbox.ts";
import type { LiveSession, LiveSessions } from "./live-sessions.ts";
import type { NavigateOptions } from "./navigate.ts";
import { type Notice, Notices } from "./notices.ts";
import { type AgentSessionEvent, Publisher } from "./publisher.ts";
import { RunScopes } from "./run-scopes.ts";
import { describeResourceProblems, type Services } from "./services.ts";
import { getCacheHitRate, getContextUse, type SessionStats } from "./stats.ts";
import { Transcript } from "./transcript.ts";
import { TreeMoves } from "./tree-moves.ts";
import { type BashOptions, type BashResult, UserBash } from "./user-bash.ts";

/** What decides about calls. */
export interface PolicyParts extends Pick<JudgeParts, "decide" | "audit" | "grants" | "remembered" | "files"> {
  ask: AskChoice | undefined;
  report: PolicyReport;
}

/** Everything that a session is made of; `createAgentSession` puts it together. */
export interface AgentSessionParts {
  cwd: string;
  sessionManager: SessionManager;
  services: Services;
  model: ModelChoice;
  tools: ToolSources;
  policy: PolicyParts;
  extensions: ExtensionSlot;
  expandPort: ExpandPort;
  /** Asks a model, with keys and headers. */
  request: StreamFn;
  /** Keeps what is too long for the model in a file, and answers with its path. */
  keep: (text: string) => Promise<string | undefined>;
  budget: Budget;
  parent: LiveSession | undefined;
  sessions: LiveSessions;
  abortSignal: AbortSignal | undefined;
  /** What is wrong with the files that the session is made of. */
  problems: readonly Notice[];
  trace: { tracer: Tracer | undefined; agentName: string | undefined };
  clock: Clock;
  ids: Ids;
  /** Writes what a tool says into the debug log. */
  logTool: ((tool: string, level: ToolLogLevel, message: string) => void) | undefined;
  /** Whether commands of the model run in the background. */
  hasJobs: () => boolean;
  /** Reads again what the session does not read itself; answers with what changed. */
  reloadGateway: (() => Promise<readonly string[]>) | undefined;
  /** Opens another session with the same parts. */
  reopen: (sessionManager: SessionManager, start: SessionStart) => Promise<AgentSession>;
  /** Ends what was made for this session, and releases the log. */
  close: () => Promise<void>;
}

export interface PromptOptions extends PromptContent {
  /** Where to queue the prompt while a run is in progress; without it, the prompt is refused then. */
  streamingBehavior?: "steer" | "followUp";
}

export interface SteerOptions {
  images?: ImageContent[];
  /** Abort the current turn first. */
  interrupt?: boolean;
}

export interface SubmitOptions extends PromptContent {
  /** Where the message is queued while a run is in progress; without it, it is refused then. */
  queue?: "steer" | "followUp";
  /** Abort the current turn, so that a steering message is sent at once. */
  interrupt?: boolean;
  /** Where the text comes from, for extensions. Default `rpc`. */
  source?: InputSource;
  /**
   * What tools with a `requiredScope` are measured against in the run that the prompt begins. A prompt that joins a run can
   * only take scopes from it. Default: scopes are not asked for.
   */
  scopes?: readonly string[];
}

/** Why a session begins, as extensions are told. */
export type StartReason = SessionStart["reason"];

/** Why a session ends, as extensions are told. */
export type SessionEnd = Omit<ExtensionEvent<"session_shutdown">, "type">;

/** How many of the last entries are read to list those that were said. */
const maxListedRows = 200;

/** The layer that hides tools because the user or the settings asked for it. */
const policyLayer = 5;

export class AgentSession {
  readonly #parts: AgentSessionParts;
  readonly #publisher = new Publisher((message) => this.#warnOfListener(message));
  readonly #notices = new Notices(this.#publisher);
  readonly #approvals: Approvals;
  readonly #judging: JudgeParts;
  /** What the user said when they allowed a call, by its id. */
  readonly #callMessages = new Map<string, string>();
  readonly #transcript = new Transcript();
  readonly #lifetime = new AbortController();
  readonly #lifecycles: ToolLifecycles;
  readonly #inbox: Inbox;
  readonly #choices: Choices;
  readonly #host: RunHost;
  readonly #activity: Activity;
  readonly #bash: UserBash;
  readonly #tree: TreeMoves;
  readonly #live: LiveSession;
  readonly #scopes = new RunScopes();
  readonly #cleanUps: (() => void)[] = [];
  #disposed: Promise<void> | undefined;

  /** A prompt of the user is with the extensions. */
  #isOffering = false;

  /** Use `createAgentSession`. */
  constructor(parts: AgentSessionParts) {
    const { sessionManager: session, services, ids, clock, tools } = parts;
    this.#parts = parts;
    const { signal } = this.#lifetime;
    this.#lifecycles = new ToolLifecycles({
      clock,
      signal,
      notice: (code, message) => this.#notices.add(code, message),
      log: (tool, level, message) => this.#logTool(tool, level, message),
    });
    const actions = this.#createActions();
    const sandbox = tools.sandbox && createToolSandbox(tools.sandbox, () => this.#judging);
    this.#choices = new Choices({ ...parts, sandbox, session, actions, lifecycles: this.#lifecycles, signal });
    this.#inbox = new Inbox({
      session,
      ids,
      now: () => clock.now(),
      mode: (kind) => this.settings[kind === "steer" ? "steeringMode" : "followUpMode"],
      onChange: () => this.#publisher.fact({ type: "queue_changed", ...this.#inbox.summarise() }),
    });
    this.#approvals = new Approvals({
      sessionId: session.id,
      publisher: this.#publisher,
      clock,
      timeoutMs: () => this.settings.approvals.timeoutMs,
    });
    this.#judging = this.#createJudgeParts();
    this.#host = this.#createHost();
    this.#tree = this.#createTree();
    this.#activity = new Activity({
      ...parts,
      host: this.#host,
      choices: this.#choices,
      inbox: this.#inbox,
      lifetime: this.#lifetime.signal,
      mustBeUsable: () => this.#mustBeUsable(),
      beforeRun: (prompts) => this.#beforeRun(prompts),
      takeSent: (mayContinue) => this.#takeSent(mayContinue),
      onSettled: async ({ kind }) => {
        await this.extensions?.emit({ type: "agent_settled", aborted: kind === "aborted" });
      },
      afterRun: async () => {
        this.#choices.setRunPrompt(undefined);
        await this.#tree.navigatePlanned(signal);
      },
      notice: (code, message) => this.#notices.add(code, message),
    });
    this.#bash = new UserBash({ getTool: () => adaptTool(tools.getBuiltIn("bash")), cwd: parts.cwd, clock });
    this.#live = this.#createLive();
    this.#cleanUps.push(session.onAppend((entry) => this.#onAppend(entry)));
    this.#cleanUps.push(services.resources.subscribe(() => this.#onResources()));
  }

  /** Reads the log, gives outcomes to calls and queued messages that a crash left without one, and follows the settings. */
  async open(): Promise<void> {
    const { sessionManager: session, services, problems, sessions } = this.#parts;
    for (const { code, message } of problems) this.#notices.add(code, message);
    session.onProblems((found) => {
      const damage = found.filter(({ kind }) => kind !== "newer_version");
      if (damage.length > 0) this.#notices.add("session", describeProblems(damage, session.getSessionFile() ?? ""));
    });
    if (!session.readOnly) {
      // A session that another process writes has its children there.
      sessions.add(this.#live);
      await session.settleUnfinishedCalls();
      await this.#refuseLeftovers();
    }
    await this.#load();
    this.#host.sent.restore(await session.getPrefix());
    if (this.extensions) await this.#bindExtensions(this.extensions);
    this.#cleanUps.push(services.settings.subscribe((change) => this.#onSettings(change)));
    const { problems: inVain, dropped } = this.#choices.outfit;
    for (const message of inVain) this.#notices.add("resources", message);
    for (const { name, reason, layer } of dropped) {
      if (layer !== policyLayer) this.#notices.add("tool_dropped", `The tool ${name} is left out: ${reason}`);
    }
    await this.#choices.loadTools();
  }

  /** Late, because most sessions have none. */
  async #bindExtensions(extensions: SessionExtensions): Promise<void> {
    const { createSessionMirror } = await import("../extensions/session/session-mirror.ts");
    const { createExtensionPort } = await import("./extension-port.ts");
    const reader = await createSessionMirror(this.sessionManager);
    const own = { choices: this.#choices, activity: this.#activity, host: this.#host, clock: this.#parts.clock };
    const { createModelAccess } = await import("../extensions/model-access.ts");
    const { modelRegistry: registry, authStorage: auth } = this;
    const { request } = this.#parts;
    const models = await createModelAccess({ registry, auth, request, providers: extensions.providers });
    extensions.bind(createExtensionPort({ session: this, extensions, reader, models, ...own }), () => reader.close());
    // Their tools can be called from now on.
    this.#choices.refit();
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
    return this.#judging;
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

  get thinkingLevel(): ThinkingLevel {
    return this.#choices.thinkingLevel;
  }

  /** The tools that the model is shown. */
  get tools(): readonly AgentTool[] {
    return this.#choices.outfit.tools;
  }

  /** The tools that a layer left out, and why. */
  get droppedTools(): readonly DroppedTool[] {
    return this.#choices.outfit.dropped;
  }

  get systemPrompt(): string {
    return this.#choices.outfit.systemPrompt.text;
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

  /** The queued messages, oldest first. */
  get queue(): { steering: QueuedMessage[]; followUps: QueuedMessage[] } {
    return { steering: this.#inbox.list("steer"), followUps: this.#inbox.list("followUp") };
  }

  /** What the user should know, the latest last; also what came before anyone listened. */
  get notices(): readonly Notice[] {
    return this.#notices.list;
  }

  /** The engine's own events and the facts of the session. Listeners are not waited for. */
  subscribe(listener: (event: AgentSessionEvent) => void): () => void {
    return this.#publisher.onEngineEvent(listener);
  }

  /** The eleven events of a run's life. */
  onEvent(listener: (event: LifecycleEvent) => void): () => void {
    return this.#publisher.onLifecycleEvent(listener);
  }

  /** Everything that a surface draws: see `reduce` of `@tau/protocol`. */
  onSessionEvent(listener: (event: SessionEvent) => void): () => void {
    return this.#publisher.onSessionEvent(listener);
  }

  /**
   * Sends a prompt to the model, and resolves when the run that it begins is over. While another run is in progress it
   * throws `busy`, unless `streamingBehavior` says where to queue it.
   */
  async prompt(text: string, { streamingBehavior: queue, ...content }: PromptOptions = {}): Promise<PromptOutcome> {
    return await settle(await this.submit(text, { ...content, ...(queue && { queue }) }));
  }

  /** Queues a message that is sent before the next request. When the session is idle, it is a prompt. */
  async steer(text: string, options: SteerOptions | ImageContent[] = {}): Promise<PromptOutcome> {
    const content = Array.isArray(options) ? { images: options } : options;
    return await settle(await this.submit(text, { ...content, queue: "steer" }));
  }

  /** Queues a message that is sent when the model would stop. When the session is idle, it is a prompt. */
  async followUp(text: string, images: ImageContent[] = []): Promise<PromptOutcome> {
    return await settle(await this.submit(text, { images, queue: "followUp" }));
  }

  /** The same as these three, but resolves as soon as the message is in the log. */
  async submit(text: string, options: SubmitOptions = {}): Promise<Submission> {
    const { queue: wanted, interrupt = false, source = "rpc", scopes, ...given } = options;
    const { extensions } = this;
    const input = { source, ...(wanted && { streamingBehavior: wanted }) };
    // At once without extensions: the session is busy as soon as this was called.
    const offered = extensions
      ? await this.#offer(extensions, text, given, input)
      : { text, content: given, mayWait: false };
    if (!offered) return { disposition: "handled" };
    const { text: typed, content, mayWait } = offered;
    // A run that began while the prompt was offered is no reason to refuse it: the prompt came first.
    const queue = wanted ?? (mayWait && source === "extension" && this.isStreaming ? "followUp" : undefined);
    while (mayWait && queue === undefined && this.isStreaming) await this.waitForIdle();
    this.#mustBeUsable();
    if (this.isStreaming && queue === undefined) {
      throw new HarnessError(
        "busy",
        "A run is already in progress. Wait for it, abort it, or pass `streamingBehavior` to steer it or to follow up.",
      );
    }
    this.#scopes.take(scopes, this.isStreaming);
    const submission = await this.#activity.submit(() => this.#getContent(typed, content), queue ?? "followUp");
    // It is queued first: otherwise only the abort would happen.
    if (interrupt && submission.disposition === "queued" && this.#inbox.has(submission.id)) {
      const end = { kind: "aborted", by: "person", reason: "steered" } as const;
      this.#activity.abort(new RunAborted(end, "Interrupted by a steering message.", { isSteered: true }));
    }
    return submission;
  }

  /** Messages of extensions that came too late for a run. Without one to follow, they are in the log for the next prompt. */
  async #takeSent(mayContinue: boolean): Promise<readonly AgentMessage[]> {
    const left = await this.extensions?.takeLeft();
    if (!left || left.drafts.length === 0) return [];
    const { drafts, triggersTurn } = left;
    if (triggersTurn && mayContinue) return drafts.map((draft) => toCustomMessage(draft, this.#parts.clock.now()));
    const entries = drafts.map((draft) => ({ type: "custom_message" as const, ...draft }));
    await applyBoundary(this.#host, { entries }).catch((error: unknown) => {
      this.#notices.add("not_remembered", `Messages of extensions could not be kept: ${getErrorMessage(error)}`);
    });
    return [];
  }

  /** Offers a prompt to the extensions; undefined if one has dealt with it. */
  async #offer(
    extensions: SessionExtensions,
    text: string,
    content: PromptContent,
    input: Pick<ExtensionEvent<"input">, "source" | "streamingBehavior">,
  ): Promise<{ text: string; content: PromptContent; mayWait: boolean } | undefined> {
    const isOfUser = input.source !== "extension";
    const mayWait = !this.isStreaming && !(isOfUser && this.#isOffering);
    if (isOfUser) this.#isOffering = true;
    try {
      const offered = await offerInput(extensions, text, content, input);
      return offered && { ...offered, mayWait };
    } finally {
      if (isOfUser) this.#isOffering = false;
    }
  }

  /** Takes back all queued messages, and returns them. */
  async clearQueue(): Promise<{ steering: QueuedMessage[]; followUps: QueuedMessage[] }> {
    const before = this.queue;
    await this.#inbox.cancel();
    return before;
  }

  /** Takes back one queued message. False when it is no longer queued. */
  async removeQueued(id: string): Promise<boolean> {
    return (await this.#inbox.cancel(id)).length > 0;
  }

  /** Changes the text of a queued message; answers with its new id. */
  async editQueued(id: string, text: string): Promise<string> {
    return await this.#inbox.edit(id, await this.#getContent(text, {}));
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

  /** Something goes on that would end with the session: a run, a queued message, or a command in the background. */
  get hasWork(): boolean {
    return this.isStreaming || !this.#inbox.isEmpty || this.#bash.isRunning || this.#parts.hasJobs();
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
    return this.#approvals.answer(approvalId, answer);
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
    return await this.#activity.exclusive("Navigating", (signal) => this.#tree.navigate(entryId, options, signal));
  }

  /** Replaces the older part of the conversation by a summary. Throws `busy` during a run. */
  async compact(instructions?: string): Promise<CompactionOutcome> {
    this.#mustBeUsable();
    return await this.#activity.exclusive("Compacting", async (signal) => {
      const outcome = await compactSession(this.#host, { reason: "manual", instructions, signal });
      this.#parts.budget.charge(outcome.usage);
      return outcome;
    });
  }

  /** Takes effect with the next request. Takes a model, or what `ModelRegistry.resolve` understands. */
  async setModel(model: Model | string, source: ExtensionEvent<"model_select">["source"] = "set"): Promise<void> {
    this.#mustBeOpen();
    const { model: previousModel } = this;
    this.#choices.setModel(model);
    const notice = this.model && formatUnlisted(this.model);
    if (notice !== undefined) this.#notices.add("model", notice);
    await this.#choices.remember();
    if (this.model) await this.extensions?.emit({ type: "model_select", model: this.model, previousModel, source });
  }

  /** Takes effect with the next request. A level that the model does not have becomes the nearest one. */
  async setThinkingLevel(level: ThinkingLevel | "none"): Promise<void> {
    this.#mustBeOpen();
    const { thinkingLevel: previousLevel } = this;
    this.#choices.setThinkingLevel(level);
    await this.#choices.remember();
    const { thinkingLevel: chosen } = this;
    if (chosen !== previousLevel)
      await this.extensions?.emit({ type: "thinking_level_select", level: chosen, previousLevel });
  }

  /** Takes effect with the next request. Names stand for built-in tools. */
  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#mustBeOpen();
    this.#choices.setTools(tools);
  }

  /** Takes effect with the next request: the model is shown these tools alone. Throws for a name that no tool has. */
  setActiveTools(names: readonly string[]): void {
    this.#mustBeOpen();
    this.#choices.setActiveTools(names);
  }

  /** Tells the user something, in whole sentences. `code` is for programs. */
  notify(code: string, message: string): void {
    this.#notices.add(code, message);
  }

  /** Changes what this session does, without changing any file. */
  override(changes: SessionOverrides): void {
    this.#choices.override(changes);
  }

  /**
   * Runs a command with the user's own authority: the policy does not judge it. The model is told with the next prompt,
   * unless `excludeFromContext`. Resolves when the command is in the log; throws `write_failed` if it cannot be written.
   */
  async executeBash(command: string, options: BashOptions = {}): Promise<BashResult> {
    this.#mustBeOpen();
    const { excludeFromContext = false } = options;
    const event = { type: "user_bash", command, excludeFromContext, cwd: this.cwd } as const;
    // At once without extensions: the next command may be one that aborts it.
    const replaced = this.extensions ? await this.extensions.emit(event) : undefined;
    const message = await this.#bash.run(command, options, replaced);
    await this.#remember(message).catch((error: unknown) => {
      const reason = `The command was run, but could not be written into the session: ${getErrorMessage(error)}`;
      if (!this.readOnly) throw new HarnessError("write_failed", reason, { cause: error });
      this.#notices.add("not_remembered", reason);
    });
    const { output, exitCode, cancelled, truncated, fullOutputPath } = message;
    return { output, exitCode, cancelled, truncated, ...(fullOutputPath !== undefined && { fullOutputPath }) };
  }

  abortBash(): void {
    this.#bash.abort();
  }

  /**
   * Reads settings and resources again, and loads extensions again. Answers with what changed. Resources count from the
   * next prompt on.
   */
  async reload(): Promise<readonly string[]> {
    const { settings, resources } = this.#parts.services;
    const before = resources.resources;
    await settings.reload();
    await resources.reload();
    await this.#parts.extensions.reload((extensions) => this.#bindExtensions(extensions));
    this.#lifecycles.forgetFailures();
    this.#choices.refit();
    await this.#choices.loadTools();
    return changedNames(before, resources.resources);
  }

  /** Tokens, cost, cache hits and how full the context is. */
  async stats(): Promise<SessionStats> {
    const { model, sessionId } = this;
    const totals = await this.sessionManager.getTotals();
    const contextUse = model && getContextUse(this.#transcript.tokens, model.contextWindow);
    return { ...totals, sessionId, cacheHitRate: getCacheHitRate(totals), contextUse };
  }

  /** Ends what is in progress, cancels the queue, and releases the log. `why` is told to extensions. */
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
      async () => void (this.readOnly || (await this.#inbox.refuse("the session was closed"))),
      async () => this.extensions?.close(why, "The session was closed."),
      () => this.#lifecycles.unloadOthers([]),
      async () => this.#cleanUps.forEach((cleanUp) => cleanUp()),
      async () => this.#parts.sessions.remove(this.#live),
      () => this.#parts.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  #createJudgeParts(): JudgeParts {
    const { sessionManager: session, ids, cwd, parent } = this.#parts;
    const { audit, files, ask, ...policy } = this.#parts.policy;
    const approvals = this.#approvals;
    return {
      ...policy,
      audit: async (decision) => {
        try {
          await audit(decision);
        } finally {
          if (decision.outcome === "denied") this.#tellDenied(decision, await adviseUser(decision, files));
        }
      },
      onMessage: (toolCallId, message) => this.#callMessages.set(toolCallId, message),
      hasScope: (scope) => this.#scopes.has(scope),
      files,
      cwd,
      ids,
      // For each call: a client may come or say later that it answers.
      get ask() {
        return ask && approvals.port(ask);
      },
      subject: parent
        ? { kind: "child", sessionId: session.id, parentSessionId: parent.sessionId }
        : { kind: "model", sessionId: session.id },
    };
  }

  #createHost(): RunHost {
    const { sessionManager: session, clock, ids, keep, trace, request } = this.#parts;
    const { grants } = this.#parts.policy;
    const judge = createJudge(this.#judging);
    const { extensions } = this.#parts;
    return {
      get extensions() {
        return extensions.current;
      },
      session,
      transcript: this.#transcript,
      inbox: this.#inbox,
      publisher: this.#publisher,
      clock,
      ids,
      ask: request,
      settings: () => this.#choices.settings(),
      current: () => this.#choices.current(),
      touches: createTouches({ current: () => this.#choices.outfit.tools, builtIn: this.#parts.tools.builtIn }),
      judge,
      endCall: (id) => {
        grants.endCall(id);
        this.#callMessages.delete(id);
      },
      getCallMessage: (id) => this.#callMessages.get(id),
      keep,
      tracer: trace.tracer,
      agentName: trace.agentName,
      resumedFrom: session.getEntryCount() > 0 ? session.id : undefined,
      sent: new PrefixTracker(),
    };
  }

  #createTree(): TreeMoves {
    const { sessionManager: session, request, budget } = this.#parts;
    return new TreeMoves({
      getExtensions: () => this.extensions,
      session,
      request,
      budget,
      publisher: this.#publisher,
      touches: this.#host.touches,
      getModel: () => this.#choices.mustHaveModel(),
      settings: () => this.settings,
      notice: (code, message) => this.#notices.add(code, message),
      afterMove: async () => {
        await this.#load();
        this.#host.sent.forgetMessages();
      },
    });
  }

  /** What children of this session use. */
  #createLive(): LiveSession {
    const { sessionManager, parent, budget } = this.#parts;
    const activity = this.#activity;
    const lifetime = this.#lifetime.signal;
    return {
      sessionId: sessionManager.id,
      get signal() {
        return activity.run?.signal ?? lifetime;
      },
      get budget() {
        return activity.run?.budget ?? budget;
      },
      async noteChild(spent) {
        await sessionManager.appendUsage("child", spent.provider, spent.model, spent.usage);
        await parent?.noteChild(spent);
      },
    };
  }

  /** What the harness's own tools do. */
  #createActions(): HarnessActions {
    const { sessionManager } = this.#parts;
    return {
      branch: async (entryId, toolCallId) => {
        const branched = await (entryId === undefined
          ? this.#tree.branchOffBefore(toolCallId)
          : this.#tree.branchOff(entryId));
        await branched.close();
        return branched.id;
      },
      listEntries: async () => describeEntries(await sessionManager.getEntries(maxListedRows)),
      navigate: (entryId) => this.#tree.plan(entryId),
      reload: async () => {
        const changed = await this.#parts.reloadGateway?.();
        return [...new Set([...(changed ?? []), ...(await this.reload())])];
      },
      interrupt: (reason) => this.#activity.run?.stopAfterTurn({ kind: "aborted", by: "agent", reason }),
    };
  }

  async #beforeRun(prompts: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { extensions } = this;
    if (!extensions) return prompts;
    const { beforeRun } = await import("./before-run.ts");
    return await beforeRun(prompts, { extensions, choices: this.#choices, clock: this.#parts.clock });
  }

  async #getContent(text: string, options: PromptContent) {
    const { content, notices } = await getContent(text, options, this.#parts.expandPort);
    for (const notice of notices) this.#notices.add("prompt", notice);
    return content;
  }

  async #load(): Promise<void> {
    this.#choices.takeLogged(await this.#transcript.load(this.#parts.sessionManager));
  }

  /** Not between a call and its result, where the model would not understand it: until then, a copy is in the log. */
  async #remember(message: BashExecutionMessage): Promise<void> {
    const { sessionManager: session } = this.#parts;
    const isBusy = this.#activity.isBusy;
    if (isBusy) await session.appendCustomEntry(customTypes.bashRan, message);
    const written = this.#activity.later(async () => {
      await session.appendMessage(message);
      this.#transcript.add(message);
    });
    if (!isBusy) return await written;
    written.catch((error: unknown) => this.#notices.add("not_remembered", getErrorMessage(error)));
  }

  async #refuseLeftovers(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    for (const { queueId, content } of await session.waitingMessages()) {
      const reason = "the program ended before it was sent";
      await session.append({ type: "queue", queueId, state: "refused", reason });
      const text = typeof content === "string" ? content : content.map(getWords).join("\n");
      this.#notices.add(
        "message_not_said",
        `This message was queued when the program ended, and was not sent: ${text}`,
      );
    }
  }

  #onAppend(entry: SessionEntry): void {
    this.#publisher.fact({ type: "entry_appended", entry });
    if (entry.type === "session_info") void this.extensions?.emit({ type: "session_info_changed", name: entry.name });
    if (entry.type === "model_change" || entry.type === "thinking_level_change") this.#tellModel();
  }

  #logTool(tool: string, level: ToolLogLevel, message: string): void {
    this.#parts.logTool?.(tool, level, message);
    if (level === "warn" || level === "error") this.#notices.add("tool", `${tool}: ${message}`);
  }

  #tellDenied({ toolCallId, toolName, rule, reason = "", by = "policy" }: Decision, advice: string): void {
    this.#publisher.fact({ type: "tool_denied", toolCallId, toolName, rule, reason, by, advice });
  }

  #tellModel(): void {
    const { model, thinkingLevel } = this;
    if (!model) return;
    this.#publisher.fact({ type: "model_changed", provider: model.provider, modelId: model.id, thinkingLevel });
  }

  #onSettings({ changed, trustChanged }: SettingsChange): void {
    if (changed.includes("tools")) this.#choices.refit();
    if (trustChanged && this.settingsManager.hasLostTrust) this.#notices.add("trust", lostTrust);
    if (!trustChanged && !changed.includes("skills") && !changed.includes("prompts")) return;
    this.resourceLoader
      .reload()
      .catch((error: unknown) => this.#notices.add("resources", `Reloading failed: ${getErrorMessage(error)}`));
  }

  #onResources(): void {
    const { problems: all } = this.resourceLoader;
    const problems = this.settingsManager.hasLostTrust ? all.filter(({ kind }) => kind !== "untrusted") : all;
    for (const { code, message } of describeResourceProblems({ problems })) this.#notices.addNew(code, message);
    // A run keeps the prompt and the tools that it began with.
    if (!this.isStreaming) this.#host.sent.addChangedFiles(this.#choices.takeResources());
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

const lostTrust =
  "Files of this project changed after you trusted it, so from the next prompt on only its context files and the settings that need no trust count. Look at the changes, then: tau trust";

async function settle(submission: Submission): Promise<PromptOutcome> {
  switch (submission.disposition) {
    case "queued":
      return { kind: "queued", id: submission.id };
    case "handled":
      return { kind: "handled" };
    case "started":
      return { kind: "ran", ...(await submission.outcome) };
  }
}

const getWords = (block: { type: string; text?: string }) => (block.type === "text" ? (block.text ?? "") : "[image]");

/** A command of an extension is looked for first, then handlers may change the text. Undefined: it was dealt with. */
async function offerInput(
  extensions: SessionExtensions,
  text: string,
  content: PromptContent,
  options: Pick<ExtensionEvent<"input">, "source" | "streamingBehavior">,
): Promise<{ text: string; content: PromptContent } | undefined> {
  await extensions.start();
  const expands = content.expandPromptTemplates !== false;
  if (expands && (await extensions.runCommand(text))) return undefined;
  const changed = await extensions.transformInput(text, content.images, options);
  return changed && { text: changed.text, content: { ...content, ...(changed.images && { images: changed.images }) } };
}

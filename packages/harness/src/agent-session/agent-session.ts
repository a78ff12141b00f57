/**
 * A complete session: prompts in, events out, everything in the log. This is its face; what goes on in it is `run/work.ts`,
 * what counts for the next request is `run/choices.ts`, and what it is made of is `create-agent-session.ts`.
 */
import type { AgentMessage, AgentTool, StreamFn, ThinkingLevel } from "@tau/agent";
import { type Ids, type ImageContent, getErrorMessage, type Model } from "@tau/ai";
import type { LifecycleEvent, QueuedMessage, SessionEvent, WireEntry } from "@tau/protocol";
import type { AuthStorage } from "../auth/auth-storage.ts";
import { summariseBranch } from "../compaction/branch-summary.ts";
import type { CompactionOutcome } from "../compaction/compact.ts";
import { HarnessError } from "../errors.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { Tracer } from "../observe/trace.ts";
import { adaptTool } from "../pipeline/adapt-tool.ts";
import type { DroppedTool, GivenTool, HarnessActions } from "../pipeline/layer.ts";
import { createTouches, type TouchesParts } from "../pipeline/touches.ts";
import type { Grants } from "../policy/grants.ts";
import { createJudge, type JudgeParts } from "../policy/judge.ts";
import type { Answer, Audit, Decide } from "../policy/policy.ts";
import type { ExpandPort } from "../prompt/expand.ts";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import { Approvals, type AskChoice } from "./approvals.ts";
import { type BashResult, runBash } from "./bash.ts";
import type { Budget } from "../budget/budget.ts";
import { Choices, type ChoicesParts, type SessionOverrides } from "./choices.ts";
import { compactSession } from "../run/compacting.ts";
import { getContent, type PromptContent } from "./content.ts";
import { Inbox } from "./inbox.ts";
import { addLiveSession, type ChildSpending, type LiveSession, removeLiveSession } from "./live-sessions.ts";
import { type AgentSessionEvent, Publisher } from "./publisher.ts";
import { abortedBy, RunAborted } from "../run/run-aborted.ts";
import type { RunHost } from "../run/run-host.ts";
import { Sent } from "../request/sent.ts";
import { getContextUse, countEntry, emptyStats, type SessionStats } from "./stats.ts";
import { Transcript } from "./transcript.ts";
import { type PromptOutcome, Work } from "./work.ts";
import type { SessionEntry } from "../session/entry.ts";
import { type ReadOnly, readOnlyError } from "../session/log.ts";
import type { BashExecutionMessage } from "../session/message.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Settings } from "../settings/schema.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";

/** Everything that a session is made of: see `createAgentSession`, which fills in what is not given. */
export interface AgentSessionParts extends ChoicesParts {
  sessionManager: SessionManager;
  authStorage: AuthStorage;
  expandPort: ExpandPort;
  decide: Decide;
  ask: AskChoice | undefined;
  audit: Audit;
  grants: Grants;
  /** Without a guard. */
  files: JudgeParts["files"];
  builtInTools: TouchesParts["builtIn"];
  keep: (text: string) => Promise<string | undefined>;
  /** Asks a model, with keys and headers. */
  request: StreamFn;
  budget: Budget;
  parent: LiveSession | undefined;
  abortSignal: AbortSignal | undefined;
  resumedFrom: string | undefined;
  modelProblem: string | undefined;
  /** What is wrong with the files that it is made of. */
  problems: readonly Notice[];
  tracer: Tracer | undefined;
  agentName: string | undefined;
  ids: Ids;
  /** Opens another session with the same parts. */
  reopen: (sessionManager: SessionManager) => Promise<AgentSession>;
  /** Ends what was made for this session, and lets go of the log. */
  close: () => Promise<void>;
}

/** Something that a person should know. `code` is for programs. */
export interface Notice {
  code: string;
  message: string;
}

export interface PromptOptions extends PromptContent {
  /** What to do while a run goes on; without it, the prompt is refused then. */
  streamingBehavior?: "steer" | "followUp";
}

export interface SteerOptions {
  images?: ImageContent[];
  /** Abort the running turn first. */
  interrupt?: boolean;
}

const maxNotices = 100;
/** The layer that hides tools because somebody said so. */
const policyLayer = 5;

export class AgentSession {
  readonly #parts: AgentSessionParts;
  readonly #publisher: Publisher;
  readonly #transcript = new Transcript();
  readonly #inbox: Inbox;
  readonly #approvals: Approvals;
  readonly #lifetime = new AbortController();
  readonly #choices: Choices;
  readonly #host: RunHost;
  readonly #work: Work;
  readonly #cleanUps: (() => void)[] = [];
  #stats: SessionStats | undefined;
  #disposed: Promise<void> | undefined;
  /** Where the model asked to go when the run is over. */
  #navigation: string | undefined;
  #notices: readonly Notice[] = [];
  #bash: AbortController | undefined;

  /** Use `createAgentSession`. */
  constructor(parts: AgentSessionParts) {
    const { sessionManager: session, ids, clock } = parts;
    this.#parts = parts;
    this.#publisher = new Publisher((message) => this.#listenerFailed(message));
    this.#approvals = new Approvals(this.#publisher);
    this.#choices = new Choices(parts, this.#createActions(), this.#lifetime.signal);
    this.#inbox = new Inbox({
      session,
      ids,
      now: () => clock.now(),
      mode: (kind) => this.settings[kind === "steer" ? "steeringMode" : "followUpMode"],
      onChange: () => this.#publisher.fact({ type: "queue_changed", ...this.queue }),
    });
    this.#host = this.#createHost();
    this.#work = new Work({
      ...parts,
      host: this.#host,
      choices: this.#choices,
      inbox: this.#inbox,
      lifetime: this.#lifetime.signal,
      mustBeUsable: () => this.#mustBeUsable(),
      afterRun: () => this.#goWhereAsked(),
      notice: (code, message) => this.#notice(code, message),
    });
    this.#cleanUps.push(session.onAppend((entry) => this.#onAppend(entry)));
    this.#cleanUps.push(parts.resourceLoader.subscribe(() => this.#choices.refit()));
  }

  /** Reads the log, gives outcomes to what a crash left without one, and listens to what changes. */
  async open(): Promise<void> {
    const { sessionManager: session, settingsManager, problems } = this.#parts;
    for (const { code, message } of problems) this.#notice(code, message);
    if (!session.readOnly) {
      // A session that somebody else writes has its children there.
      addLiveSession(this);
      await session.settleUnfinishedCalls();
      await this.#refuseLeftovers();
    }
    await this.#load();
    this.#host.sent.restore(await session.getPrefix());
    this.#cleanUps.push(settingsManager.subscribe(({ changed }) => this.#onSettings(changed)));
    const { problems: inVain, dropped } = this.#choices.outfit;
    for (const message of inVain) this.#notice("resources", message);
    // What somebody filtered out on purpose is no news.
    for (const { name, reason, layer } of dropped) {
      if (layer !== policyLayer) this.#notice("tool_dropped", `The tool ${name} is left out: ${reason}`);
    }
  }

  /** Pi's way to take it: `const { session } = await createAgentSession()`. */
  get session(): this {
    return this;
  }

  get sessionId(): string {
    return this.#parts.sessionManager.id;
  }

  get sessionFile(): string | undefined {
    return this.#parts.sessionManager.getSessionFile();
  }

  get sessionManager(): SessionManager {
    return this.#parts.sessionManager;
  }

  get settingsManager(): SettingsManager {
    return this.#parts.settingsManager;
  }

  get modelRegistry(): ModelRegistry {
    return this.#parts.modelRegistry;
  }

  get authStorage(): AuthStorage {
    return this.#parts.authStorage;
  }

  get resourceLoader(): ResourceLoader {
    return this.#parts.resourceLoader;
  }

  /** Undefined as long as no model can be used. */
  get model(): Model | undefined {
    return this.#choices.model;
  }

  /** Why the model that the settings ask for cannot be used; undefined when there is one, or none was asked for. */
  get modelProblem(): string | undefined {
    return this.model ? undefined : this.#parts.modelProblem;
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

  /** A run goes on, or is about to begin. */
  get isStreaming(): boolean {
    return this.#work.isBusy;
  }

  /** Why nothing can be written; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    return this.#parts.sessionManager.readOnly;
  }

  /** Aborts when the running run does, and when the session ends. */
  get signal(): AbortSignal {
    return this.#work.run?.signal ?? this.#lifetime.signal;
  }

  /** What the running run, or else the session, may still use up: its children spend from it. */
  get budget(): Budget {
    return this.#work.run?.budget ?? this.#parts.budget;
  }

  /** What waits, oldest first. */
  get queue(): { steering: QueuedMessage[]; followUps: QueuedMessage[] } {
    return { steering: this.#inbox.list("steer"), followUps: this.#inbox.list("followUp") };
  }

  /** What a person should know, the latest last: also what came before anybody listened. */
  get notices(): readonly Notice[] {
    return this.#notices;
  }

  /** The engine's own events and the facts of the session. Nobody waits for a listener. */
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
   * Says something to the model, and resolves when the run that this begins is over. While another goes on it throws
   * `busy`, unless `streamingBehavior` says where to wait.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<PromptOutcome> {
    this.#mustBeUsable();
    if (this.isStreaming && options.streamingBehavior === undefined) {
      throw new HarnessError(
        "busy",
        "A run goes on already. Wait for it, abort it, or say with `streamingBehavior` whether to steer or to follow up.",
      );
    }
    return await this.#work.say(() => this.#getContent(text, options), options.streamingBehavior ?? "followUp");
  }

  /** Says something before the next request. When nothing goes on, it is a prompt. */
  async steer(text: string, options: SteerOptions | ImageContent[] = {}): Promise<PromptOutcome> {
    this.#mustBeUsable();
    const { images = [], interrupt = false } = Array.isArray(options) ? { images: options } : options;
    const outcome = await this.#work.say(() => this.#getContent(text, { images }), "steer");
    // It is accepted first, or an abort is all that comes of it.
    if (interrupt && outcome.kind === "queued") {
      const isWaiting = this.queue.steering.some(({ id }) => id === outcome.id);
      const reason = new RunAborted("abort_signal", "Interrupted by a steering message.", "steered");
      if (isWaiting) this.#work.abort(reason);
    }
    return outcome;
  }

  /** Says something when the model would stop. When nothing goes on, it is a prompt. */
  async followUp(text: string, images: ImageContent[] = []): Promise<PromptOutcome> {
    this.#mustBeUsable();
    return await this.#work.say(() => this.#getContent(text, { images }), "followUp");
  }

  /** Takes back everything that waits, and returns it. */
  async clearQueue(): Promise<{ steering: QueuedMessage[]; followUps: QueuedMessage[] }> {
    const before = this.queue;
    await this.#inbox.cancel();
    return before;
  }

  /** Takes back one message that waits. False when it does not wait any more. */
  async removeQueued(id: string): Promise<boolean> {
    return (await this.#inbox.cancel(id)).length > 0;
  }

  /** Puts other words in the place of a message that waits; answers with its new id. */
  async editQueued(id: string, text: string): Promise<string> {
    return await this.#inbox.edit(id, await this.#getContent(text, {}));
  }

  /**
   * Ends what goes on, also what is only about to begin, and resolves when it is over. What waits stays. The reason
   * `gateway_disconnected` says that nobody is there any more.
   */
  async abort(reason?: unknown): Promise<void> {
    this.#work.abort(abortedBy(reason));
    await this.waitForIdle();
  }

  /** Gives up waiting to ask again: the run ends with the failure. */
  abortRetry(): void {
    this.#work.run?.abortRetry();
  }

  /** Resolves when nothing goes on any more. A tool that waits for it waits for itself. */
  async waitForIdle(): Promise<void> {
    await this.#work.whenIdle();
  }

  /** Remembers what a session that this one started has spent: a budget for the life of this one counts it. */
  async noteChild(spent: ChildSpending): Promise<void> {
    const { sessionManager, parent } = this.#parts;
    await sessionManager.appendUsage("child", spent.provider, spent.model, spent.usage);
    await parent?.noteChild(spent);
  }

  /** Answers a question of `approval_requested`. False when it is no longer open. */
  approve(approvalId: string, answer: Answer): boolean {
    return this.#approvals.answer(approvalId, answer);
  }

  /** A new session that goes on from an entry of this one, with the same parts. It has a file of its own. */
  async branch(fromEntryId: string): Promise<AgentSession> {
    this.#mustBeOpen();
    return await this.openOther(await this.#branchOff(fromEntryId));
  }

  /**
   * Another session with the same parts, which does what `override` said of this one. It has the model that its own log
   * names, else the one that this one began with. This one stays open.
   */
  async openOther(sessionManager: SessionManager): Promise<AgentSession> {
    this.#mustBeOpen();
    const other = await this.#parts.reopen(sessionManager);
    other.override(this.#choices.overrides);
    return other;
  }

  /** Goes to an entry of this session, or with null before the first. Throws `busy` while a run goes on. */
  async navigate(entryId: string | null, options: { summarise?: boolean; instructions?: string } = {}): Promise<void> {
    this.#mustBeOpen();
    await this.#work.alone("going to another entry", (signal) => this.#navigate(entryId, { ...options, signal }));
  }

  /** Replaces the older part of the conversation by a summary. Throws `busy` while a run goes on. */
  async compact(instructions?: string): Promise<CompactionOutcome> {
    this.#mustBeUsable();
    return await this.#work.alone("compacting", async (signal) => {
      const outcome = await compactSession(this.#host, { reason: "manual", instructions, signal });
      this.#parts.budget.charge(outcome.usage);
      return outcome;
    });
  }

  /** Counts from the next request on. Takes a model, or what `ModelRegistry.resolve` understands. */
  async setModel(model: Model | string): Promise<void> {
    this.#mustBeOpen();
    this.#choices.setModel(model);
    await this.#choices.remember();
  }

  /** Counts from the next request on. One that the model does not have becomes the nearest. */
  async setThinkingLevel(level: ThinkingLevel | "none"): Promise<void> {
    this.#mustBeOpen();
    this.#choices.setThinkingLevel(level);
    await this.#choices.remember();
  }

  /** Counts from the next request on. Names stand for built-in tools. */
  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#mustBeOpen();
    this.#choices.setTools(tools);
  }

  /** Changes what this session does, and nothing in any file. */
  override(changes: SessionOverrides): void {
    this.#choices.override(changes);
  }

  /**
   * Runs a command with the person's own authority: nobody judges it. The model is told of it with the next prompt,
   * unless `excludeFromContext`.
   */
  async executeBash(
    command: string,
    { excludeFromContext = false, onOutput }: { excludeFromContext?: boolean; onOutput?: (text: string) => void } = {},
  ): Promise<BashResult> {
    this.#mustBeOpen();
    if (this.#bash) throw new HarnessError("busy", "A command is running already. Wait for it, or abort it.");
    const { signal } = (this.#bash = new AbortController());
    try {
      const result = await runBash(adaptTool(this.#parts.builtIn("bash")), command, { signal, onOutput });
      // Not between a call and its result: the model would not understand it there.
      this.#work
        .later(() => this.#rememberBash(command, result, excludeFromContext))
        .catch((error: unknown) => {
          this.#notice(
            "not_remembered",
            `The command could not be written into the session: ${getErrorMessage(error)}`,
          );
        });
      return result;
    } finally {
      this.#bash = undefined;
    }
  }

  abortBash(): void {
    this.#bash?.abort();
  }

  /** Reads settings and resources again. Answers with what changed. */
  async reload(): Promise<readonly string[]> {
    const { settingsManager, resourceLoader } = this.#parts;
    await settingsManager.reload();
    return await resourceLoader.reload();
  }

  /** Tokens, cost, cache hits and how full the context is. Reads the whole log when it is first asked. */
  async stats(): Promise<SessionStats> {
    const { sessionManager } = this.#parts;
    const { model } = this;
    this.#stats ??= (await sessionManager.getEntries()).reduce(countEntry, {
      ...emptyStats,
      sessionId: this.sessionId,
    });
    return { ...this.#stats, contextUse: model && getContextUse(this.#transcript.tokens, model.contextWindow) };
  }

  /** Ends what goes on, says of what waits that it will not be said, and lets go of the log. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    const closed = new RunAborted("abort_signal", "The session was closed.", "closed");
    this.#lifetime.abort(closed);
    this.#bash?.abort();
    this.#work.abort(closed);
    await this.#work.whenIdle();
    // Each of these happens, whatever became of the others: a full disk must not leave processes behind.
    const steps = [
      async () => void (this.readOnly || (await this.#inbox.refuse("the session was closed"))),
      async () => this.#cleanUps.forEach((cleanUp) => cleanUp()),
      async () => removeLiveSession(this),
      () => this.#parts.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  #createHost(): RunHost {
    const { sessionManager: session, clock, ids, keep, tracer, agentName, resumedFrom } = this.#parts;
    const { decide, audit, grants, files, ask, request, cwd, parent } = this.#parts;
    const judge = createJudge({
      decide,
      audit,
      grants,
      files,
      cwd,
      ids,
      ask: ask && this.#approvals.port(ask),
      subject: parent
        ? { kind: "child", sessionId: session.id, parentSessionId: parent.sessionId }
        : { kind: "model", sessionId: session.id },
    });
    return {
      session,
      transcript: this.#transcript,
      inbox: this.#inbox,
      publisher: this.#publisher,
      clock,
      ids,
      ask: request,
      settings: () => this.#choices.settings(),
      current: () => this.#choices.current(),
      touches: createTouches({ current: () => this.#choices.outfit.tools, builtIn: this.#parts.builtInTools }),
      judge,
      endCall: (id) => grants.endCall(id),
      keep,
      tracer,
      agentName,
      resumedFrom,
      sent: new Sent(),
    };
  }

  #createActions(): HarnessActions {
    const { sessionManager } = this.#parts;
    return {
      branch: async (entryId) => {
        const branched = await this.#branchOff(entryId ?? sessionManager.getLeafId() ?? "");
        await branched.close();
        return branched.id;
      },
      navigate: async (entryId) => {
        if (!(await sessionManager.getEntry(entryId))) {
          throw new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(entryId)}.`);
        }
        this.#navigation = entryId;
      },
      reload: () => this.reload(),
      interrupt: (reason) => this.#work.run?.stopAfterTurn(reason),
    };
  }

  async #getContent(text: string, options: PromptContent) {
    const { content, notices } = await getContent(text, options, this.#parts.expandPort);
    for (const notice of notices) this.#notice("prompt", notice);
    return content;
  }

  async #load(): Promise<void> {
    this.#choices.takeLogged(await this.#transcript.load(this.#parts.sessionManager));
  }

  async #branchOff(entryId: string): Promise<SessionManager> {
    const { sessionManager } = this.#parts;
    const branched = await sessionManager.branchSession(sessionManager.id, entryId);
    this.#publisher.fact({ type: "session_branched", branchId: branched.id, branchPoint: entryId });
    return branched;
  }

  async #goWhereAsked(): Promise<void> {
    const entryId = this.#navigation;
    this.#navigation = undefined;
    if (entryId !== undefined) await this.#navigate(entryId, { signal: this.#lifetime.signal });
  }

  async #navigate(entryId: string | null, options: NavigateOptions): Promise<void> {
    const { sessionManager: session } = this.#parts;
    const summary = options.summarise ? await this.#summariseLeft(entryId, options) : undefined;
    if (summary === undefined) await session.navigate(entryId);
    else await session.branchWithSummary(entryId, summary.summary, summary.extras);
    await this.#load();
    this.#host.sent.forgetMessages();
  }

  async #summariseLeft(entryId: string | null, { instructions, signal }: NavigateOptions) {
    const { sessionManager: session, request, budget } = this.#parts;
    const result = await summariseBranch({
      oldBranch: await session.getBranch(),
      newBranch: entryId === null ? [] : await session.getBranch(entryId),
      model: this.#choices.mustHaveModel(),
      streamFn: request,
      signal,
      settings: this.settings.compaction,
      touches: this.#host.touches,
      instructions,
    });
    if (result.kind === "nothing") return undefined;
    budget.charge(result.usage);
    if (result.kind === "summary") {
      return { summary: result.summary, extras: { details: result.details, usage: result.usage } };
    }
    if (result.kind === "aborted") throw new HarnessError("aborted", "Going to another entry was aborted.");
    this.#notice("summary_failed", `The branch that was left has no summary: ${result.failure.message}`);
    return undefined;
  }

  async #rememberBash(command: string, result: BashResult, excludeFromContext: boolean): Promise<void> {
    const message: BashExecutionMessage = {
      role: "bashExecution",
      command,
      ...result,
      ...(excludeFromContext && { excludeFromContext }),
      timestamp: this.#parts.clock.now(),
    };
    await this.#parts.sessionManager.appendMessage(message);
    this.#transcript.add(message);
  }

  async #refuseLeftovers(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    for (const { queueId, content } of await session.waitingMessages()) {
      await session.append({
        type: "queue",
        queueId,
        state: "refused",
        reason: "the program ended before it was said",
      });
      const words = typeof content === "string" ? content : content.map(getWords).join("\n");
      this.#notice("message_not_said", `This was waiting when the program ended, and was not said: ${words}`);
    }
  }

  #onAppend(entry: SessionEntry): void {
    if (this.#stats) this.#stats = countEntry(this.#stats, entry);
    this.#publisher.fact({ type: "entry_appended", entry: entry as unknown as WireEntry });
    if (entry.type === "model_change" || entry.type === "thinking_level_change") this.#tellModel();
  }

  #tellModel(): void {
    const { model, thinkingLevel } = this;
    if (!model) return;
    this.#publisher.fact({ type: "model_changed", provider: model.provider, modelId: model.id, thinkingLevel });
  }

  #onSettings(changed: readonly (keyof Settings)[]): void {
    if (changed.includes("tools")) this.#choices.refit();
  }

  #notice(code: string, message: string): void {
    this.#notices = [...this.#notices, { code, message }].slice(-maxNotices);
    this.#publisher.fact({ type: "notice", code, message });
  }

  #listenerFailed(message: string): void {
    // Not to the listeners: one that fails at everything would hear of it for ever.
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

interface NavigateOptions {
  summarise?: boolean;
  instructions?: string;
  signal: AbortSignal;
}

const getWords = (block: { type: string; text?: string }) => (block.type === "text" ? (block.text ?? "") : "[image]");

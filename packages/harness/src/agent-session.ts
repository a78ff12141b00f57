/**
 * A complete session: prompts in, events out, everything in the log. It holds the state that a conversation has besides
 * its log; what happens in a run is `run/run.ts`, and what it is made of is `create-agent-session.ts`.
 */
import type { AgentMessage, AgentTool, QueueMode, StreamFn, ThinkingLevel } from "@tau/agent";
import {
  clampThinkingLevel,
  type Clock,
  type Ids,
  type ImageContent,
  messageOf,
  type Model,
  parseThinkingLevel,
  type TextContent,
  type UserMessage,
} from "@tau/ai";
import type { LifecycleEvent, QueuedMessage, SessionEvent, WireEntry } from "@tau/protocol";
import type { AuthStorage } from "./auth/auth-storage.ts";
import { summariseBranch } from "./compaction/branch-summary.ts";
import type { CompactionOutcome } from "./compaction/compact.ts";
import { HarnessError } from "./errors.ts";
import type { ModelRegistry } from "./models/model-registry.ts";
import type { Tracer } from "./observe/trace.ts";
import { adaptTool } from "./pipeline/adapt-tool.ts";
import type { ChannelBinding, DroppedTool, GivenTool, HarnessActions } from "./pipeline/layer.ts";
import type { Grants } from "./policy/grants.ts";
import { createJudge } from "./policy/judge.ts";
import type { Answer, Audit, Decide } from "./policy/policy.ts";
import { dateOf } from "./prompt/system-prompt.ts";
import { attachFiles, type ExpandPort, expandPrompt, inputBlock } from "./prompt/expand.ts";
import type { ResourceLoader } from "./resources/resource-loader.ts";
import { Approvals, type AskChoice } from "./run/approvals.ts";
import { type BashResult, runBash } from "./run/bash.ts";
import { type Budget, type BudgetLimits, createBudget } from "./run/budget.ts";
import { compactSession } from "./run/compacting.ts";
import { Inbox, type WaitingKind } from "./run/inbox.ts";
import { Lane } from "./run/lane.ts";
import { addLiveSession, removeLiveSession } from "./run/live-sessions.ts";
import { buildOutfit, type Outfit } from "./run/outfit.ts";
import { type AgentSessionEvent, Publisher } from "./run/publisher.ts";
import { Run, type RunOutcome } from "./run/run.ts";
import { abortedBy, RunAborted } from "./run/run-aborted.ts";
import type { RunHost } from "./run/run-host.ts";
import { Sent } from "./run/sent.ts";
import { contextUseOf, countEntry, emptyStats, type SessionStats } from "./run/stats.ts";
import { Transcript } from "./run/transcript.ts";
import type { SessionEntry } from "./session/entry.ts";
import { type ReadOnly, readOnlyError } from "./session/log.ts";
import type { BashExecutionMessage } from "./session/message.ts";
import type { SessionManager } from "./session/session-manager.ts";
import type { Settings } from "./settings/schema.ts";
import type { SettingsManager } from "./settings/settings-manager.ts";

/** Everything that a session is made of: see `createAgentSession`, which fills in what is not given. */
export interface AgentSessionParts {
  cwd: string;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  modelRegistry: ModelRegistry;
  authStorage: AuthStorage;
  resourceLoader: ResourceLoader;
  expandPort: ExpandPort;
  model: Model | undefined;
  /** Why there is no model. */
  noModelReason: string;
  thinkingLevel: ThinkingLevel;
  tools: readonly GivenTool[];
  customTools: readonly GivenTool[];
  /** Finds built-in tools by name. */
  builtIn: (name: string) => GivenTool;
  binding: ChannelBinding | undefined;
  allowedTools: readonly string[] | undefined;
  excludedTools: readonly string[];
  scopes: readonly string[] | undefined;
  systemPrompt: string | undefined;
  appendSystemPrompt: readonly string[];
  decide: Decide;
  ask: AskChoice | undefined;
  audit: Audit;
  grants: Grants;
  realPath: (path: string) => Promise<string>;
  keep: (text: string) => Promise<string | undefined>;
  /** Asks a model, with keys and headers. */
  request: StreamFn;
  budget: Budget;
  parent: AgentSession | undefined;
  abortSignal: AbortSignal | undefined;
  resumedFrom: string | undefined;
  /** What is wrong with the files that it is made of. */
  problems: readonly Notice[];
  tracer: Tracer | undefined;
  agentName: string | undefined;
  clock: Clock;
  ids: Ids;
  /** Opens another session with the same parts. */
  reopen: (sessionManager: SessionManager) => Promise<AgentSession>;
  /** Ends what was made for this session. */
  close: () => Promise<void>;
}

/** Something that a person should know. `code` is for programs. */
export interface Notice {
  code: string;
  message: string;
}

export interface PromptOptions {
  images?: ImageContent[];
  /** Files that go along, from the working directory if relative. Each has to be there. */
  files?: readonly string[];
  /** Text that goes along as it is, such as what a pipe says. */
  input?: string;
  /** What to do while a run goes on; without it, the prompt is refused then. */
  streamingBehavior?: "steer" | "followUp";
  /** Whether templates, skills and file mentions are expanded. Default true. */
  expandPromptTemplates?: boolean;
}

export interface SteerOptions {
  images?: ImageContent[];
  /** Abort the running turn first. */
  interrupt?: boolean;
}

/** What one session does otherwise than the settings say, until it ends. */
export interface SessionOverrides {
  autoCompaction?: boolean;
  autoRetry?: boolean;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** What a run may use up, where it is less than the settings say. */
  budgets?: BudgetLimits;
}

/** What became of a prompt: the run that it began, or the place in the queue where it waits. */
export type PromptOutcome = ({ kind: "ran" } & RunOutcome) | { kind: "queued"; id: string };

export class AgentSession {
  readonly #parts: AgentSessionParts;
  readonly #publisher: Publisher;
  readonly #transcript = new Transcript();
  readonly #inbox: Inbox;
  readonly #lane = new Lane();
  readonly #approvals: Approvals;
  readonly #host: RunHost;
  readonly #actions: HarnessActions;
  readonly #lifetime = new AbortController();
  readonly #cleanUps: (() => void)[] = [];
  #model: Model | undefined;
  #thinkingLevel: ThinkingLevel;
  #tools: readonly GivenTool[];
  #outfit: Outfit;
  #outfitDate: string;
  #run: Run | undefined;
  /** Prompts that have been taken and whose run has not begun. */
  #starting = 0;
  #stats: SessionStats | undefined;
  #disposed: Promise<void> | undefined;
  #notices: readonly Notice[] = [];
  #overrides: SessionOverrides = {};
  #bash: AbortController | undefined;
  /** Where the model asked to go when the run is over. */
  #navigation: string | undefined;

  /** Use `createAgentSession`. */
  constructor(parts: AgentSessionParts) {
    const { sessionManager: session, ids, clock } = parts;
    const publisher = new Publisher((message) => this.#listenerFailed(message));
    this.#parts = parts;
    this.#publisher = publisher;
    this.#model = parts.model;
    this.#thinkingLevel = parts.thinkingLevel;
    this.#tools = parts.tools;
    this.#approvals = new Approvals(publisher);
    this.#inbox = new Inbox({
      session,
      ids,
      now: () => clock.now(),
      mode: (kind) => this.#settings()[kind === "steer" ? "steeringMode" : "followUpMode"],
      onChange: () => this.#publisher.fact({ type: "queue_changed", ...this.queue }),
    });
    this.#actions = this.#createActions();
    this.#outfitDate = dateOf(clock.now());
    this.#outfit = this.#buildOutfit();
    this.#host = this.#createHost();
    this.#cleanUps.push(session.onAppend((entry) => this.#onAppend(entry)));
    this.#cleanUps.push(parts.resourceLoader.subscribe(() => this.#refit()));
    addLiveSession(this);
  }

  /** Reads the log, gives outcomes to what a crash left without one, and listens to what changes. */
  async open(): Promise<void> {
    const { sessionManager: session, settingsManager, problems } = this.#parts;
    for (const { code, message } of problems) this.#notice(code, message);
    if (!session.readOnly) {
      await session.settleUnfinishedCalls();
      await this.#refuseLeftovers();
    }
    await this.#transcript.load(session);
    this.#host.sent.restore(await session.getPrefix());
    this.#cleanUps.push(settingsManager.subscribe(({ changed }) => this.#onSettings(changed)));
    for (const message of this.#outfit.problems) this.#notice("resources", message);
    for (const { name, reason } of this.#outfit.dropped)
      this.#notice("tool_dropped", `The tool ${name} is left out: ${reason}`);
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
    return this.#model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#thinkingLevel;
  }

  /** The tools that the model is shown. */
  get tools(): readonly AgentTool[] {
    return this.#outfit.tools;
  }

  /** The tools that a layer left out, and why. */
  get droppedTools(): readonly DroppedTool[] {
    return this.#outfit.dropped;
  }

  get systemPrompt(): string {
    return this.#outfit.systemPrompt.text;
  }

  /** What the model is sent of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.#transcript.messages;
  }

  /** A run goes on, or is about to begin. */
  get isStreaming(): boolean {
    return this.#run !== undefined || this.#starting > 0;
  }

  /** Why nothing can be written; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    return this.#parts.sessionManager.readOnly;
  }

  /** Aborts when the running run does, and when the session ends. */
  get signal(): AbortSignal {
    return this.#run?.signal ?? this.#lifetime.signal;
  }

  /** What the running run, or else the session, may still use up: its children spend from it. */
  get budget(): Budget {
    return this.#run?.budget ?? this.#parts.budget;
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
    return await this.#say(text, options, options.streamingBehavior ?? "followUp");
  }

  /** Says something before the next request. When nothing goes on, it is a prompt. */
  async steer(text: string, options: SteerOptions | ImageContent[] = {}): Promise<PromptOutcome> {
    this.#mustBeUsable();
    const { images = [], interrupt = false } = Array.isArray(options) ? { images: options } : options;
    const said = this.#say(text, { images }, "steer");
    if (interrupt && this.#run) {
      const run = this.#run;
      // What interrupts must be accepted first, or an abort is all that comes of it.
      void said.then(
        ({ kind }) =>
          kind === "queued" &&
          run.abort(new RunAborted("abort_signal", "Interrupted by a steering message.", "steered")),
        () => undefined,
      );
    }
    return await said;
  }

  /** Says something when the model would stop. When nothing goes on, it is a prompt. */
  async followUp(text: string, images: ImageContent[] = []): Promise<PromptOutcome> {
    this.#mustBeUsable();
    return await this.#say(text, { images }, "followUp");
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
    return await this.#inbox.edit(id, [{ type: "text", text }]);
  }

  /**
   * Ends the running run and resolves when it is over. What waits stays. The reason `gateway_disconnected` says that
   * nobody is there any more.
   */
  async abort(reason?: unknown): Promise<void> {
    this.#run?.abort(abortedBy(reason));
    await this.waitForIdle();
  }

  /** Resolves when nothing goes on any more. */
  async waitForIdle(): Promise<void> {
    await this.#lane.whenIdle();
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
    other.override(this.#overrides);
    return other;
  }

  /** Goes to an entry of this session, or with null before the first, once nothing goes on any more. */
  async navigate(entryId: string | null, options: { summarise?: boolean; instructions?: string } = {}): Promise<void> {
    this.#mustBeOpen();
    await this.#lane.enqueue(() => this.#navigate(entryId, options));
  }

  /** Replaces the older part of the conversation by a summary, once nothing goes on any more. */
  async compact(instructions?: string): Promise<CompactionOutcome> {
    this.#mustBeUsable();
    return await this.#lane.enqueue(() =>
      compactSession(this.#host, { reason: "manual", instructions, signal: this.#lifetime.signal }),
    );
  }

  /** Counts from the next request on. Takes a model, or what `ModelRegistry.resolve` understands. */
  async setModel(model: Model | string): Promise<void> {
    this.#mustBeOpen();
    const { model: chosen, thinkingLevel } = typeof model === "string" ? this.#resolveModel(model) : { model };
    this.#model = chosen;
    this.#thinkingLevel = clampThinkingLevel(chosen, thinkingLevel ?? this.#thinkingLevel);
    this.#refit();
    await this.#rememberChoices();
  }

  /** Counts from the next request on. One that the model does not have becomes the nearest. */
  async setThinkingLevel(level: ThinkingLevel | "none"): Promise<void> {
    this.#mustBeOpen();
    const parsed = parseThinkingLevel(level);
    if (!parsed) throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
    this.#thinkingLevel = this.#model ? clampThinkingLevel(this.#model, parsed) : parsed;
    await this.#rememberChoices();
  }

  /** Counts from the next request on. Names stand for built-in tools. */
  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#mustBeOpen();
    this.#tools = tools.map((tool) => (typeof tool === "string" ? this.#parts.builtIn(tool) : tool));
    this.#refit();
  }

  /** Changes what this session does, and nothing in any file. */
  override(changes: SessionOverrides): void {
    this.#overrides = { ...this.#overrides, ...changes };
  }

  /** The settings as this session follows them. */
  get settings(): Settings {
    return this.#settings();
  }

  /** Gives up waiting to ask again: the run ends with the failure. */
  abortRetry(): void {
    this.#run?.abortRetry();
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
    const controller = (this.#bash = new AbortController());
    try {
      const result = await runBash(adaptTool(this.#parts.builtIn("bash")), command, {
        signal: controller.signal,
        onOutput,
      });
      // Not between a call and its result: the model would not understand it there.
      void this.#lane
        .enqueue(() => this.#rememberBash(command, result, excludeFromContext))
        .catch((error: unknown) => {
          this.#notice("not_remembered", `The command could not be written into the session: ${messageOf(error)}`);
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
    this.#stats ??= (await sessionManager.getEntries()).reduce(countEntry, {
      ...emptyStats,
      sessionId: this.sessionId,
    });
    const contextUse = this.#model && contextUseOf(this.#transcript.tokens, this.#model.contextWindow);
    return { ...this.#stats, contextUse };
  }

  /** Ends the run, says of what waits that it will not be said, and lets go of the log. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    this.#lifetime.abort(new RunAborted("abort_signal", "The session was closed.", "closed"));
    this.#bash?.abort();
    this.#run?.abort(this.#lifetime.signal.reason as RunAborted);
    await this.#lane.whenIdle();
    const { sessionManager, close } = this.#parts;
    if (!sessionManager.readOnly) await this.#inbox.refuse("the session was closed");
    for (const cleanUp of this.#cleanUps) cleanUp();
    removeLiveSession(this);
    await sessionManager.close();
    await close();
  }

  /** What the person typed becomes a message; then it begins a run, or waits for its turn in one. */
  async #say(text: string, options: PromptOptions, waits: WaitingKind): Promise<PromptOutcome> {
    if (this.isStreaming) return await this.#enqueue(await this.#contentOf(text, options), waits);
    // From here on the session is busy: whoever comes next waits or is refused.
    this.#starting++;
    let content: (TextContent | ImageContent)[];
    try {
      content = await this.#contentOf(text, options);
    } catch (error) {
      this.#starting--;
      throw error;
    }
    const ran = await this.#lane.enqueue(() => {
      this.#starting--;
      return this.#runUntilQuiet([this.#userMessage(content)]);
    });
    return { kind: "ran", ...ran };
  }

  async #enqueue(content: (TextContent | ImageContent)[], waits: WaitingKind): Promise<PromptOutcome> {
    const id = await this.#inbox.accept(waits, content);
    // The run may have ended while it was written down; then somebody has to begin one with it.
    if (!this.isStreaming) this.#startWaiting();
    return { kind: "queued", id };
  }

  #startWaiting(): void {
    this.#starting++;
    this.#lane
      .enqueue(async () => {
        this.#starting--;
        const waiting = this.#nextWaiting();
        if (waiting.length > 0) await this.#runUntilQuiet(waiting);
      })
      .catch((error: unknown) => this.#notice("run_failed", messageOf(error)));
  }

  #nextWaiting(): UserMessage[] {
    const steering = this.#inbox.take("steer");
    return steering.length > 0 ? steering : this.#inbox.take("followUp");
  }

  /** A run, and another one for as long as somebody interrupts with something to say. */
  async #runUntilQuiet(first: readonly UserMessage[]): Promise<RunOutcome> {
    let prompts = first;
    for (;;) {
      const outcome = await this.#runOnce(prompts);
      const isSteered = outcome.terminationReason === "abort_signal" && outcome.detail === "steered";
      prompts = isSteered ? this.#nextWaiting() : [];
      if (prompts.length === 0) return outcome;
    }
  }

  async #runOnce(prompts: readonly UserMessage[]): Promise<RunOutcome> {
    this.#mustBeUsable();
    await this.#rememberChoices();
    this.#refitForToday();
    const { parent, clock, settingsManager, abortSignal } = this.#parts;
    const usual = createBudget(given(settingsManager.get().budgets), { parent: this.#parts.budget, clock });
    const run = new Run(this.#host, createBudget(this.#overrides.budgets ?? {}, { parent: usual, clock }));
    const signals = [this.#lifetime.signal, abortSignal, parent?.signal].filter((signal) => signal !== undefined);
    const stopFollowing = follow(signals, (reason) => run.abort(abortedBy(reason)));
    this.#run = run;
    try {
      return await run.start(prompts);
    } finally {
      this.#run = undefined;
      stopFollowing();
      await this.#goWhereAsked();
    }
  }

  #createHost(): RunHost {
    const { sessionManager: session, clock, ids, keep, tracer, agentName, resumedFrom } = this.#parts;
    const { decide, audit, grants, realPath, ask, request, cwd, parent } = this.#parts;
    const judge = createJudge({
      decide,
      audit,
      grants,
      realPath,
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
      settings: () => this.#settings(),
      current: () => ({
        model: this.#mustHaveModel(),
        thinkingLevel: this.#thinkingLevel,
        systemPrompt: this.#outfit.systemPrompt,
        tools: this.#outfit.tools,
      }),
      judge,
      endCall: (id) => grants.endCall(id),
      keep,
      tracer,
      agentName,
      resumedFrom,
      sent: new Sent(),
    };
  }

  #buildOutfit(before?: Outfit): Outfit {
    const { customTools, binding, scopes, resourceLoader, cwd, settingsManager } = this.#parts;
    const { tools } = settingsManager.get();
    return buildOutfit(
      {
        base: this.#tools,
        custom: customTools,
        binding,
        scopes,
        allowed: this.#parts.allowedTools ?? tools.allowed,
        excluded: [...tools.excluded, ...this.#parts.excludedTools],
        model: this.#model ?? { api: "", provider: "", id: "" },
        signal: this.#lifetime.signal,
        actions: this.#actions,
        resources: resourceLoader.resources,
        cwd,
        date: this.#outfitDate,
        systemPrompt: this.#parts.systemPrompt,
        appendSystemPrompt: this.#parts.appendSystemPrompt,
      },
      before,
    );
  }

  #createActions(): HarnessActions {
    return {
      branch: async (entryId) => {
        const { sessionManager } = this.#parts;
        const branched = await this.#branchOff(entryId ?? sessionManager.getLeafId() ?? "");
        const { id } = branched;
        await branched.close();
        return id;
      },
      navigate: async (entryId) => {
        if (!(await this.#parts.sessionManager.getEntry(entryId))) {
          throw new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(entryId)}.`);
        }
        this.#navigation = entryId;
      },
      reload: () => this.reload(),
      interrupt: (reason) => this.#run?.stopAfterTurn(reason),
    };
  }

  #refit(): void {
    this.#outfit = this.#buildOutfit(this.#outfit);
  }

  /** The prompt names the date: over midnight it is another one. */
  #refitForToday(): void {
    const today = dateOf(this.#parts.clock.now());
    if (today === this.#outfitDate) return;
    this.#outfitDate = today;
    this.#refit();
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
    if (entryId !== undefined) await this.#navigate(entryId, {});
  }

  async #navigate(
    entryId: string | null,
    { summarise = false, instructions }: { summarise?: boolean; instructions?: string },
  ): Promise<void> {
    const { sessionManager: session } = this.#parts;
    const summary = summarise ? await this.#summariseLeft(entryId, instructions) : undefined;
    if (summary === undefined) await session.navigate(entryId);
    else await session.branchWithSummary(entryId, summary.summary, summary.extras);
    await this.#transcript.load(session);
    // Another branch is no change of this one.
    this.#host.sent.forgetMessages();
  }

  async #summariseLeft(entryId: string | null, instructions: string | undefined) {
    const { sessionManager: session, settingsManager } = this.#parts;
    const result = await summariseBranch({
      oldBranch: await session.getBranch(),
      newBranch: entryId === null ? [] : await session.getBranch(entryId),
      model: this.#mustHaveModel(),
      streamFn: this.#parts.request,
      signal: this.#lifetime.signal,
      settings: settingsManager.get().compaction,
      instructions,
    });
    if (result.kind === "failed")
      this.#notice("summary_failed", `The branch that was left has no summary: ${result.failure.message}`);
    return result.kind === "summary"
      ? { summary: result.summary, extras: { details: result.details, usage: result.usage } }
      : undefined;
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

  #settings(): Settings {
    const settings = this.#parts.settingsManager.get();
    const { autoCompaction, autoRetry, steeringMode, followUpMode } = this.#overrides;
    return {
      ...settings,
      ...(autoCompaction !== undefined && { compaction: { ...settings.compaction, enabled: autoCompaction } }),
      ...(autoRetry !== undefined && { retry: { ...settings.retry, enabled: autoRetry } }),
      ...(steeringMode !== undefined && { steeringMode }),
      ...(followUpMode !== undefined && { followUpMode }),
    };
  }

  /** The log says which model and which thinking level answers come from. A session that was never used says nothing. */
  async #rememberChoices(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    const model = this.#model;
    if (!model || session.readOnly) return;
    const said = await session.buildContext();
    const isSameModel = said.model?.provider === model.provider && said.model.modelId === model.id;
    if (!isSameModel) await session.appendModelChange(model.provider, model.id);
    if (said.thinkingLevel !== this.#thinkingLevel) await session.appendThinkingLevelChange(this.#thinkingLevel);
  }

  #resolveModel(spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
    const found = this.#parts.modelRegistry.resolve(spec);
    if (found.kind !== "resolved") throw new HarnessError("unknown_model", found.message);
    return found;
  }

  async #contentOf(text: string, options: PromptOptions): Promise<(TextContent | ImageContent)[]> {
    const { images = [], files = [], input } = options;
    const attached = await attachFiles(files, this.#parts.expandPort);
    if (attached.kind === "refused") throw new HarnessError("invalid_input", attached.reason);
    const more = [...attached.content, ...(input === undefined ? [] : [inputBlock(input)]), ...images];
    if (options.expandPromptTemplates === false) return [{ type: "text", text }, ...more];
    const expanded = await expandPrompt(text, this.#parts.expandPort);
    if (expanded.kind === "refused") throw new HarnessError("invalid_input", expanded.reason);
    for (const notice of expanded.notices) this.#notice("prompt", notice);
    return [...expanded.content, ...more];
  }

  #userMessage(content: (TextContent | ImageContent)[]): UserMessage {
    return { role: "user", content, timestamp: this.#parts.clock.now() };
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
      const text =
        typeof content === "string"
          ? content
          : content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
      this.#notice("message_not_said", `This was waiting when the program ended, and was not said: ${text}`);
    }
  }

  #onAppend(entry: SessionEntry): void {
    if (this.#stats) this.#stats = countEntry(this.#stats, entry);
    this.#publisher.fact({ type: "entry_appended", entry: entry as unknown as WireEntry });
    if (entry.type === "model_change" || entry.type === "thinking_level_change") this.#tellModel();
  }

  #tellModel(): void {
    if (!this.#model) return;
    const { provider, id: modelId } = this.#model;
    this.#publisher.fact({ type: "model_changed", provider, modelId, thinkingLevel: this.#thinkingLevel });
  }

  #onSettings(changed: readonly (keyof Settings)[]): void {
    if (changed.includes("tools")) this.#refit();
  }

  #notice(code: string, message: string): void {
    this.#notices = [...this.#notices, { code, message }].slice(-mostNotices);
    this.#publisher.fact({ type: "notice", code, message });
  }

  #listenerFailed(message: string): void {
    // Not to the listeners: one that fails at everything would hear of it for ever.
    process.emitWarning(`A listener of the session ${this.sessionId} failed: ${message}`, "TauWarning");
  }

  #mustHaveModel(): Model {
    if (this.#model) return this.#model;
    throw new HarnessError("no_model", this.#parts.noModelReason);
  }

  #mustBeOpen(): void {
    if (this.#lifetime.signal.aborted) throw new HarnessError("closed", `The session ${this.sessionId} is closed.`);
  }

  #mustBeUsable(): void {
    this.#mustBeOpen();
    this.#mustHaveModel();
    const { readOnly } = this;
    if (readOnly) throw readOnlyError(this.sessionFile ?? this.sessionId, readOnly);
  }
}

const mostNotices = 100;

/** Without what is undefined. */
const given = ({ tokens, cost, turns, timeMs }: Settings["budgets"]): BudgetLimits => ({
  ...(tokens !== undefined && { tokens }),
  ...(cost !== undefined && { cost }),
  ...(turns !== undefined && { turns }),
  ...(timeMs !== undefined && { timeMs }),
});

/** Calls `onAbort` when the first of the signals aborts, or at once. Returns how to stop following. */
function follow(signals: readonly AbortSignal[], onAbort: (reason: unknown) => void): () => void {
  const listeners = signals.map((signal) => {
    const listener = () => onAbort(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
    return () => signal.removeEventListener("abort", listener);
  });
  return () => listeners.forEach((stop) => stop());
}

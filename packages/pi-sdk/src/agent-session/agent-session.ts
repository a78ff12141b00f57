/**
 * pi's `AgentSession`: an agent whose messages are kept in a session, with extensions, retries and compaction. It works with
 * the agent, the tools and the managers that its creator gives it: nothing judges its calls. Programs of tau use the session
 * of `@tau/harness`, which does.
 */
import type { Agent, AgentMessage, AgentState, AgentTool, ThinkingLevel } from "@tau/agent";
import type { ImageContent, Model } from "@tau/ai";
import { Listeners } from "@tau/ai/internal";
import type { ReplacedSessionContext, ToolDefinition } from "@tau/extensions";
import {
  type BashOperations,
  type CompactionResult,
  contentText,
  type SessionManager,
  supportsXhigh,
} from "@tau/pi/internal";
import type { ExtensionRunner } from "../extensions/runner.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import { ModelRuntime } from "../models/model-runtime.ts";
import type { PromptTemplate } from "../resources/prompt-templates.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { ActiveTools } from "./active-tools.ts";
import { Activity } from "./activity.ts";
import { BashCommands, type BashResult, type RecordOptions } from "./bash-commands.ts";
import { Compactor } from "./compactor.ts";
import { CurrentRunner } from "./current-runner.ts";
import { EventRecorder } from "./event-recorder.ts";
import { type ExtensionBindings, ExtensionHost } from "./extension-host.ts";
import { ModelChoice } from "./model-choice.ts";
import { NestedCalls } from "./nested-calls.ts";
import { Prompts } from "./prompts.ts";
import { Recovery } from "./recovery.ts";
import { reloadMessages } from "./reload-messages.ts";
import type { ResourceSource } from "./resource-source.ts";
import { Runs } from "./runs.ts";
import { type NewSessionOptions, SessionSwitch } from "./session-switch.ts";
import { SlashCommands } from "./slash-commands.ts";
import { Statistics } from "./statistics.ts";
import type { ContextUsage, SessionStats } from "./stats.ts";
import { createToolFilter } from "./tool-filter.ts";
import { installToolHooks } from "./tool-hooks.ts";
import { type NavigateOptions, type NavigateResult, TreeNavigation } from "./tree-navigation.ts";
import type {
  AgentSessionConfig,
  AgentSessionEvent,
  Content,
  CustomDraft,
  CustomMessageOptions,
  PromptOptions,
  ScopedModel,
} from "./types.ts";
import { writeHtml } from "./write-html.ts";
import { writeJsonl } from "./write-jsonl.ts";

export class AgentSession {
  readonly agent: Agent;
  readonly sessionManager: SessionManager;
  readonly settingsManager: SettingsManager;
  readonly modelRuntime: ModelRuntime;
  readonly #resourceLoader: ResourceSource;
  readonly #listeners = new Listeners<AgentSessionEvent>(() => {});
  readonly #activity = new Activity();
  readonly #extensions: CurrentRunner;
  readonly #models: ModelChoice;
  readonly #tools: ActiveTools;
  readonly #bash: BashCommands;
  readonly #recovery: Recovery;
  readonly #runs: Runs;
  readonly #prompts: Prompts;
  readonly #navigation: TreeNavigation;
  readonly #switch: SessionSwitch;
  readonly #statistics: Statistics;
  readonly #host: ExtensionHost;
  readonly #unsubscribe: () => void;

  constructor(config: AgentSessionConfig) {
    const { agent, sessionManager, settingsManager, resourceLoader, cwd } = config;
    const modelRegistry = getModelRegistry(config);
    const { customTools = [], baseToolsOverride, scopedModels = [], extensionRunnerRef: runnerRef } = config;
    this.agent = agent;
    this.sessionManager = sessionManager;
    this.settingsManager = settingsManager;
    this.modelRuntime = config.modelRuntime ?? ModelRuntime.fromRegistry(modelRegistry);
    this.#resourceLoader = resourceLoader;
    const listeners = this.#listeners;
    const activity = this.#activity;
    const managers = { agent, sessionManager, settingsManager };
    const extensions = new CurrentRunner({ cwd, resourceLoader, sessionManager, modelRegistry, runnerRef });
    const models = new ModelChoice({ ...managers, modelRegistry, extensions, scopedModels });
    const isAllowed = createToolFilter(config.allowedToolNames, config.excludedToolNames);
    const tools = new ActiveTools({
      agent,
      cwd,
      settingsManager,
      resourceLoader,
      customTools,
      baseToolsOverride,
      isAllowed,
    });
    const calls = new NestedCalls();
    const bash = new BashCommands({ ...managers, cwd });
    const compactor = new Compactor({ ...managers, models, extensions, activity, listeners });
    const recovery = new Recovery({ ...managers, compactor, activity, listeners });
    const runs = new Runs({ agent, extensions, activity, recovery, compactor, listeners });
    const commands = new SlashCommands({ extensions, resourceLoader });
    const prompts = new Prompts({
      agent,
      sessionManager,
      extensions,
      models,
      tools,
      commands,
      bash,
      runs,
      recovery,
      listeners,
    });
    const statistics = new Statistics({ agent, sessionManager });
    const recorder = new EventRecorder({ sessionManager, extensions, recovery, listeners });
    this.#extensions = extensions;
    this.#models = models;
    this.#tools = tools;
    this.#bash = bash;
    this.#recovery = recovery;
    this.#runs = runs;
    this.#prompts = prompts;
    this.#statistics = statistics;
    this.#navigation = new TreeNavigation({ ...managers, modelRegistry, models, extensions, activity });
    this.#switch = new SessionSwitch({ agent, sessionManager, extensions, models, prompts, runs });
    this.#host = new ExtensionHost({
      agent,
      cwd,
      settingsManager,
      resourceLoader,
      extensions,
      models,
      tools,
      startEvent: config.sessionStartEvent ?? { type: "session_start", reason: "startup" },
      actions: { ...managers, extensions, models, tools, calls, commands, prompts, runs, statistics },
    });
    tools.activateInitial(config.initialActiveToolNames);
    installToolHooks(agent, extensions, calls);
    this.#unsubscribe = agent.subscribe(async (event) => {
      if (event.type === "message_start") prompts.handleDelivery(event.message);
      await recorder.handle(event);
    });
  }

  dispose(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  subscribe(listener: (event: AgentSessionEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  get modelRegistry(): ModelRegistry {
    return this.modelRuntime.registry;
  }

  get resourceLoader(): ResourceSource {
    return this.#resourceLoader;
  }

  get state(): AgentState {
    return this.agent.state;
  }

  get systemPrompt(): string {
    return this.agent.state.systemPrompt;
  }

  get messages(): AgentMessage[] {
    return this.agent.state.messages;
  }

  get sessionFile(): string | undefined {
    return this.sessionManager.getSessionFile();
  }

  get sessionId(): string {
    return this.sessionManager.getSessionId();
  }

  get sessionName(): string | undefined {
    return this.sessionManager.getSessionName();
  }

  setSessionName(name: string): void {
    this.sessionManager.appendSessionInfo(name);
  }

  /** Takes the messages of the session as they are now. */
  refreshContext(): void {
    reloadMessages(this.agent, this.sessionManager);
  }

  getUserMessagesForForking(): { entryId: string; text: string }[] {
    return this.sessionManager.getEntries().flatMap((entry) => {
      if (entry.type !== "message" || entry.message.role !== "user") return [];
      const text = contentText(entry.message.content);
      return text === "" ? [] : [{ entryId: entry.id, text }];
    });
  }

  getLastAssistantText(): string | undefined {
    const last = this.messages.findLast(
      (message) => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
    );
    return (last?.role === "assistant" && contentText(last.content, "").trim()) || undefined;
  }

  getSessionStats(): SessionStats {
    return this.#statistics.getStats();
  }

  getContextUsage(): ContextUsage | undefined {
    return this.#statistics.getContextUsage();
  }

  /** Returns the path. Default: a file in the working directory. */
  async exportToHtml(outputPath?: string): Promise<string> {
    return await writeHtml(this.sessionManager, outputPath);
  }

  /** Writes the current branch. Returns the path. Default: a file in the working directory of the process. */
  exportToJsonl(outputPath?: string): string {
    return writeJsonl(this.sessionManager, outputPath);
  }

  // The model.

  get model(): Model | undefined {
    return this.#models.model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#models.thinkingLevel;
  }

  get scopedModels(): readonly ScopedModel[] {
    return this.#models.scopedModels;
  }

  setScopedModels(models: ScopedModel[]): void {
    this.#models.setScopedModels(models);
  }

  async setModel(model: Model): Promise<void> {
    await this.#models.set(model);
  }

  async cycleModel(
    direction: "forward" | "backward" = "forward",
  ): Promise<{ model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | undefined> {
    return await this.#models.cycle(direction);
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.#models.thinkingLevels;
  }

  supportsXhighThinking(): boolean {
    return this.model !== undefined && supportsXhigh(this.model);
  }

  supportsThinking(): boolean {
    return this.#models.supportsThinking;
  }

  /** Sets the nearest level that the model has. A model that cannot think leaves the settings as they are. */
  setThinkingLevel(level: ThinkingLevel): void {
    this.#models.setThinkingLevel(level);
  }

  cycleThinkingLevel(): ThinkingLevel | undefined {
    return this.#models.cycleThinkingLevel();
  }

  // The tools.

  getActiveToolNames(): string[] {
    return this.#tools.names;
  }

  /** Returns the names of the tools that the model can call. */
  getCallableToolNames(): string[] {
    return this.#tools.names;
  }

  getAllTools(): Pick<AgentTool, "name" | "description" | "parameters">[] {
    return this.#tools.listAll();
  }

  getToolDefinition(name: string): ToolDefinition | undefined {
    return this.#tools.getDefinition(name);
  }

  setActiveToolsByName(names: string[]): void {
    this.#tools.activate(names);
  }

  // Prompts and queues.

  get promptTemplates(): PromptTemplate[] {
    return this.resourceLoader.getPrompts().prompts;
  }

  /** Resolves when the run, its retries and what follows them have ended. Rejects for a prompt that cannot be sent. */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    await this.#prompts.prompt(text, options);
  }

  async steer(text: string, images?: ImageContent[]): Promise<void> {
    this.#prompts.queue("steer", text, images);
  }

  async followUp(text: string, images?: ImageContent[]): Promise<void> {
    this.#prompts.queue("followUp", text, images);
  }

  async sendCustomMessage(draft: CustomDraft, options?: CustomMessageOptions): Promise<void> {
    await this.#prompts.sendCustomMessage(draft, options);
  }

  async sendUserMessage(content: Content, options?: { deliverAs?: "steer" | "followUp" }): Promise<void> {
    await this.#prompts.sendUserMessage(content, options);
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    return this.#prompts.clearQueue();
  }

  get pendingMessageCount(): number {
    return this.#prompts.waitingCount;
  }

  getSteeringMessages(): readonly string[] {
    return this.#prompts.steering;
  }

  getFollowUpMessages(): readonly string[] {
    return this.#prompts.followUps;
  }

  get steeringMode(): Agent["steeringMode"] {
    return this.agent.steeringMode;
  }

  get followUpMode(): Agent["followUpMode"] {
    return this.agent.followUpMode;
  }

  setSteeringMode(mode: "all" | "one-at-a-time"): void {
    this.agent.setSteeringMode(mode);
    this.settingsManager.setSteeringMode?.(mode);
  }

  setFollowUpMode(mode: "all" | "one-at-a-time"): void {
    this.agent.setFollowUpMode(mode);
    this.settingsManager.setFollowUpMode?.(mode);
  }

  // Runs, retries and compaction.

  get isStreaming(): boolean {
    return this.agent.state.isStreaming;
  }

  /** False until a run, its retries and what follows them have ended. */
  get isIdle(): boolean {
    return this.#runs.isIdle;
  }

  async waitForIdle(): Promise<void> {
    await this.#runs.waitForIdle();
  }

  async abort(): Promise<void> {
    await this.#runs.abort();
  }

  get isRetrying(): boolean {
    return this.#activity.kind === "retrying";
  }

  get retryAttempt(): number {
    return this.#recovery.retryCount;
  }

  abortRetry(): void {
    this.#activity.abort("retrying");
  }

  get autoRetryEnabled(): boolean {
    return this.settingsManager.getRetrySettings().enabled;
  }

  setAutoRetryEnabled(enabled: boolean): void {
    this.settingsManager.setRetryEnabled?.(enabled);
  }

  /** Aborts the run in progress and compacts the context. Rejects if there is nothing to compact. */
  async compact(customInstructions?: string): Promise<CompactionResult> {
    return await this.#runs.compact(customInstructions);
  }

  get isCompacting(): boolean {
    return this.#activity.kind === "compacting" || this.#activity.kind === "summarizing";
  }

  abortCompaction(): void {
    this.#activity.abort("compacting");
  }

  get autoCompactionEnabled(): boolean {
    return this.settingsManager.getCompactionSettings().enabled;
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    this.settingsManager.setCompactionEnabled?.(enabled);
  }

  // Commands of the user.

  get isBashRunning(): boolean {
    return this.#bash.isRunning;
  }

  get hasPendingBashMessages(): boolean {
    return this.#bash.hasPending;
  }

  abortBash(): void {
    this.#bash.abort();
  }

  async executeBash(
    command: string,
    onChunk?: (chunk: string) => void,
    options: RecordOptions & { operations?: BashOperations } = {},
  ): Promise<BashResult> {
    return await this.#bash.execute(command, onChunk, options);
  }

  recordBashResult(command: string, result: BashResult, options: RecordOptions = {}): void {
    this.#bash.record(command, result, options);
  }

  // The tree, and other sessions.

  async navigateTree(targetId: string, options: NavigateOptions = {}): Promise<NavigateResult> {
    return await this.#navigation.navigate(targetId, options);
  }

  abortBranchSummary(): void {
    this.#activity.abort("summarizing");
  }

  /** Continues before a message of the user, in a new session. */
  async fork(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    return await this.#switch.fork(entryId);
  }

  /** False if an extension cancelled it. */
  async newSession(options: NewSessionOptions = {}): Promise<boolean> {
    return await this.#switch.create(options);
  }

  /** False if an extension cancelled it. */
  async switchSession(sessionPath: string): Promise<boolean> {
    return await this.#switch.open(sessionPath);
  }

  // Extensions.

  /** The context of a command in this session, for whoever replaced another session by it. */
  createReplacedSessionContext(): ReplacedSessionContext {
    return Object.assign(this.extensionRunner.createCommandContext(), {
      sendMessage: (draft: CustomDraft, options?: CustomMessageOptions) => this.sendCustomMessage(draft, options),
      sendUserMessage: (content: Content, options?: { deliverAs?: "steer" | "followUp" }) =>
        this.sendUserMessage(content, options),
    }) as ReplacedSessionContext;
  }

  get extensionRunner(): ExtensionRunner {
    return this.#extensions.runner;
  }

  hasExtensionHandlers(name: string): boolean {
    return this.#extensions.runner.hasHandlers(name);
  }

  /** Starts the extensions. What an earlier call bound stays unless it is given again. */
  async bindExtensions(bindings: ExtensionBindings): Promise<void> {
    await this.#host.bind(bindings);
  }

  async reload(): Promise<void> {
    await this.#host.reload();
  }
}

function getModelRegistry({ modelRegistry, modelRuntime }: AgentSessionConfig): ModelRegistry {
  const registry = modelRegistry ?? modelRuntime?.registry;
  if (!registry) throw new Error("A session needs a modelRuntime or a modelRegistry.");
  return registry;
}

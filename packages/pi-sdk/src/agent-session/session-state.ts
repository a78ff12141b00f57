/** What a session is: its agent, its log, its model, its tools and its prompt. */
import type { Agent, AgentMessage, AgentState, AgentTool, ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, getSupportedThinkingLevels, type Model, modelsAreEqual } from "@tau/ai";
import { Listeners } from "@tau/ai/internal";
import { contentText, type SessionManager, supportsXhigh } from "@tau/pi/internal";
import type { ToolDefinition } from "@tau/harness/extensions";
import type { ExtensionRunner } from "../extensions/runner.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { ResourceSource } from "./resource-source.ts";
import { countMessages, getContextUsage, type SessionStats } from "./stats.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { ToolSet } from "./tool-set.ts";
import type { Activity, AgentSessionConfig, AgentSessionEvent, ScopedModel } from "./types.ts";

export abstract class SessionState {
  readonly agent: Agent;
  readonly sessionManager: SessionManager;
  readonly settingsManager: SettingsManager;
  protected readonly config: AgentSessionConfig;
  protected readonly listeners = new Listeners<AgentSessionEvent>(() => {});
  protected readonly tools: ToolSet;
  protected activity: Activity = { kind: "idle" };
  protected retryCount = 0;
  /** Created by `AgentSession`, whose actions it offers to extensions. */
  protected abstract runner: ExtensionRunner;

  constructor(config: AgentSessionConfig) {
    this.config = config;
    this.agent = config.agent;
    this.sessionManager = config.sessionManager;
    this.settingsManager = config.settingsManager;
    this.tools = new ToolSet({
      cwd: config.cwd,
      customTools: config.customTools ?? [],
      baseToolsOverride: config.baseToolsOverride,
      getToolsOptions: () => this.getToolsOptions(),
    });
  }

  get modelRegistry(): ModelRegistry {
    return this.config.modelRegistry;
  }

  get resourceLoader(): ResourceSource {
    return this.config.resourceLoader;
  }

  get extensionRunner(): ExtensionRunner {
    return this.runner;
  }

  get state(): AgentState {
    return this.agent.state;
  }

  get model(): Model | undefined {
    return this.agent.state.model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.agent.state.thinkingLevel;
  }

  get systemPrompt(): string {
    return this.agent.state.systemPrompt;
  }

  get messages(): AgentMessage[] {
    return this.agent.state.messages;
  }

  get isStreaming(): boolean {
    return this.agent.state.isStreaming;
  }

  get isCompacting(): boolean {
    return this.activity.kind === "compacting" || this.activity.kind === "summarizing";
  }

  get isRetrying(): boolean {
    return this.activity.kind === "retrying";
  }

  get retryAttempt(): number {
    return this.retryCount;
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

  get scopedModels(): readonly ScopedModel[] {
    return this.config.scopedModels ?? [];
  }

  setScopedModels(models: ScopedModel[]): void {
    this.config.scopedModels = models;
  }

  get promptTemplates() {
    return this.resourceLoader.getPrompts().prompts;
  }

  get steeringMode() {
    return this.agent.steeringMode;
  }

  get followUpMode() {
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

  subscribe(listener: (event: AgentSessionEvent) => void): () => void {
    return this.listeners.add(listener);
  }

  getActiveToolNames(): string[] {
    return this.agent.state.tools.map(({ name }) => name);
  }

  getAllTools(): Pick<AgentTool, "name" | "description" | "parameters">[] {
    return this.tools.list().map(({ name, description, parameters }) => ({ name, description, parameters }));
  }

  /** Those that the model can call. */
  getCallableToolNames(): string[] {
    return this.getActiveToolNames();
  }

  getToolDefinition(name: string): ToolDefinition | undefined {
    return this.tools.getDefinition(name);
  }

  setActiveToolsByName(names: string[]): void {
    const tools = this.tools.select(names);
    this.agent.setTools(tools);
    this.agent.setSystemPrompt(this.buildPrompt(tools.map(({ name }) => name)));
  }

  async setModel(model: Model): Promise<void> {
    await this.#switchModel({ model }, "set");
  }

  async cycleModel(
    direction: "forward" | "backward" = "forward",
  ): Promise<{ model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | undefined> {
    const isScoped = this.scopedModels.length > 0;
    const keys = await Promise.all(this.scopedModels.map(({ model }) => this.modelRegistry.getApiKey(model)));
    const models: readonly ScopedModel[] = isScoped
      ? this.scopedModels.filter((_scoped, index) => keys[index])
      : this.modelRegistry.getAvailable().map((model) => ({ model }));
    if (models.length <= 1) return undefined;
    const currentIndex = models.findIndex(({ model }) => modelsAreEqual(model, this.model));
    const index = Math.max(0, currentIndex);
    const step = direction === "forward" ? 1 : -1;
    const next = models[(index + step + models.length) % models.length]!;
    await this.#switchModel(next, "cycle");
    return { model: next.model, thinkingLevel: this.thinkingLevel, isScoped };
  }

  /** Without a level of its own, a model gets the one in use; after a model that cannot think, the one of the settings. */
  async #switchModel({ model, thinkingLevel }: ScopedModel, source: "set" | "cycle"): Promise<void> {
    const key = await this.modelRegistry.getApiKey(model);
    if (!key) throw new Error(`No API key for ${model.provider}/${model.id}`);
    const previousModel = this.model;
    const current = this.supportsThinking() ? this.thinkingLevel : this.#getDefaultLevel();
    this.agent.setModel(model);
    this.sessionManager.appendModelChange(model.provider, model.id);
    this.settingsManager.setDefaultModelAndProvider(model.provider, model.id);
    this.setThinkingLevel(thinkingLevel ?? current);
    if (modelsAreEqual(model, previousModel)) return;
    await this.runner.emit({ type: "model_select", model, previousModel, source });
  }

  /** Takes the model and the thinking level of the session, or the level of the settings if it has none. */
  protected async restoreModel(): Promise<void> {
    const { model: stored, thinkingLevel } = this.sessionManager.buildSessionContext();
    const previousModel = this.model;
    const found = stored && this.modelRegistry.find(stored.provider, stored.modelId);
    const model = found && this.modelRegistry.hasConfiguredAuth(found) ? found : undefined;
    if (model) this.agent.setModel(model);
    const hasLevel = this.sessionManager.getBranch().some(({ type }) => type === "thinking_level_change");
    const level = this.#toSupportedLevel(hasLevel ? (thinkingLevel as ThinkingLevel) : this.#getDefaultLevel());
    this.agent.setThinkingLevel(level);
    if (!hasLevel || level !== thinkingLevel) this.sessionManager.appendThinkingLevelChange(level);
    if (!model || modelsAreEqual(model, previousModel)) return;
    await this.runner.emit({ type: "model_select", model, previousModel, source: "restore" });
  }

  #getDefaultLevel(): ThinkingLevel {
    return (this.settingsManager.getDefaultThinkingLevel?.() as ThinkingLevel | undefined) ?? "medium";
  }

  #toSupportedLevel(level: ThinkingLevel): ThinkingLevel {
    return this.model ? (clampThinkingLevel(this.model, level) as ThinkingLevel) : "off";
  }

  /** Takes what extensions have changed in the provider of the model. */
  protected refreshModel(): void {
    const found = this.model && this.modelRegistry.find(this.model.provider, this.model.id);
    if (found) this.agent.setModel(found);
  }

  /** Throws without a key. */
  protected async requireApiKey(model: Model): Promise<string> {
    const key = await this.modelRegistry.getApiKey(model);
    if (!key) throw new Error(`No API key found for ${model.provider}. Use /login, or set its variable.`);
    return key;
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return (this.model ? getSupportedThinkingLevels(this.model) : ["off"]) as ThinkingLevel[];
  }

  supportsXhighThinking(): boolean {
    return this.model !== undefined && supportsXhigh(this.model);
  }

  supportsThinking(): boolean {
    return this.model?.reasoning === true;
  }

  /** The nearest level that the model has. A model that cannot think leaves the settings as they are. */
  setThinkingLevel(level: ThinkingLevel): void {
    const next = this.#toSupportedLevel(level);
    if (next === this.thinkingLevel) return;
    this.agent.setThinkingLevel(next);
    this.sessionManager.appendThinkingLevelChange(next);
    if (this.supportsThinking()) this.settingsManager.setDefaultThinkingLevel?.(next);
  }

  cycleThinkingLevel(): ThinkingLevel | undefined {
    if (!this.supportsThinking()) return undefined;
    const levels = this.getAvailableThinkingLevels();
    const next = levels[(levels.indexOf(this.thinkingLevel) + 1) % levels.length]!;
    this.setThinkingLevel(next);
    return next;
  }

  get autoCompactionEnabled(): boolean {
    return this.settingsManager.getCompactionSettings().enabled;
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    this.settingsManager.setCompactionEnabled?.(enabled);
  }

  get autoRetryEnabled(): boolean {
    return this.settingsManager.getRetrySettings().enabled;
  }

  setAutoRetryEnabled(enabled: boolean): void {
    this.settingsManager.setRetryEnabled?.(enabled);
  }

  setSessionName(name: string): void {
    this.sessionManager.appendSessionInfo(name);
  }

  getUserMessagesForForking(): { entryId: string; text: string }[] {
    return this.sessionManager.getEntries().flatMap((entry) => {
      if (entry.type !== "message" || entry.message.role !== "user") return [];
      const text = contentText(entry.message.content);
      return text === "" ? [] : [{ entryId: entry.id, text }];
    });
  }

  getSessionStats(): SessionStats {
    const { sessionFile, sessionId } = this;
    return {
      sessionFile,
      sessionId,
      ...countMessages(this.messages, this.sessionManager.getEntries()),
      contextUsage: this.getContextUsage(),
    };
  }

  getContextUsage() {
    const contextWindow = this.model?.contextWindow ?? 0;
    if (contextWindow <= 0) return undefined;
    return getContextUsage(this.sessionManager.getBranch(), this.messages, contextWindow);
  }

  getLastAssistantText(): string | undefined {
    const last = this.messages.findLast(
      (message) => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
    );
    return (last?.role === "assistant" && contentText(last.content, "").trim()) || undefined;
  }

  hasExtensionHandlers(name: string): boolean {
    return this.runner.hasHandlers(name);
  }

  /** Takes the messages of the session as they are now. */
  refreshContext(): void {
    this.reloadMessages();
  }

  protected reloadMessages(): void {
    this.agent.replaceMessages(this.sessionManager.buildSessionContext().messages);
  }

  /** How the settings change the tools. */
  protected getToolsOptions() {
    const settings = this.settingsManager;
    const commandPrefix = settings.getShellCommandPrefix?.() as string | undefined;
    const shellPath = settings.getShellPath?.() as string | undefined;
    return {
      bash: { ...(commandPrefix !== undefined && { commandPrefix }), ...(shellPath !== undefined && { shellPath }) },
      read: { autoResizeImages: settings.getImageAutoResize?.() !== false },
    };
  }

  protected buildPrompt(names: readonly string[]): string {
    return buildSystemPrompt({
      cwd: this.config.cwd,
      customPrompt: this.resourceLoader.getSystemPrompt(),
      appended: this.resourceLoader.getAppendSystemPrompt(),
      tools: this.tools.getLines(names),
      contextFiles: this.resourceLoader.getAgentsFiles().agentsFiles,
      skills: this.resourceLoader.getSkills().skills,
    });
  }
}

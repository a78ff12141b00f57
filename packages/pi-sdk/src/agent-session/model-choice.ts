import type { Agent, ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, getSupportedThinkingLevels, type Model, modelsAreEqual } from "@tau/ai";
import type { SessionManager } from "@tau/pi/internal";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { CurrentRunner } from "./current-runner.ts";
import type { ScopedModel } from "./types.ts";

interface ModelParts {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  modelRegistry: ModelRegistry;
  extensions: CurrentRunner;
  scopedModels: readonly ScopedModel[];
}

/** Chooses the model and the thinking level, and records both in the session and in the settings. */
export class ModelChoice {
  readonly #parts: ModelParts;
  #scopedModels: readonly ScopedModel[];

  constructor(parts: ModelParts) {
    this.#parts = parts;
    this.#scopedModels = parts.scopedModels;
  }

  get model(): Model | undefined {
    return this.#parts.agent.state.model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#parts.agent.state.thinkingLevel;
  }

  get scopedModels(): readonly ScopedModel[] {
    return this.#scopedModels;
  }

  setScopedModels(models: readonly ScopedModel[]): void {
    this.#scopedModels = models;
  }

  get supportsThinking(): boolean {
    return this.model?.reasoning === true;
  }

  get thinkingLevels(): ThinkingLevel[] {
    return (this.model ? getSupportedThinkingLevels(this.model) : ["off"]) as ThinkingLevel[];
  }

  async set(model: Model): Promise<void> {
    await this.#switch({ model }, "set");
  }

  async cycle(
    direction: "forward" | "backward",
  ): Promise<{ model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | undefined> {
    const { modelRegistry } = this.#parts;
    const scoped = this.#scopedModels;
    const isScoped = scoped.length > 0;
    const keys = await Promise.all(scoped.map(({ model }) => modelRegistry.getApiKey(model)));
    const models: readonly ScopedModel[] = isScoped
      ? scoped.filter((_scoped, index) => keys[index])
      : modelRegistry.getAvailable().map((model) => ({ model }));
    if (models.length <= 1) return undefined;
    const currentIndex = models.findIndex(({ model }) => modelsAreEqual(model, this.model));
    const index = Math.max(0, currentIndex);
    const step = direction === "forward" ? 1 : -1;
    const next = models[(index + step + models.length) % models.length]!;
    await this.#switch(next, "cycle");
    return { model: next.model, thinkingLevel: this.thinkingLevel, isScoped };
  }

  /** Without a level of its own, a model gets the one in use; after a model that cannot think, the one of the settings. */
  async #switch({ model, thinkingLevel }: ScopedModel, source: "set" | "cycle"): Promise<void> {
    const { agent, sessionManager, settingsManager, modelRegistry, extensions } = this.#parts;
    const key = await modelRegistry.getApiKey(model);
    if (!key) throw new Error(`No API key for ${model.provider}/${model.id}`);
    const previousModel = this.model;
    const current = this.supportsThinking ? this.thinkingLevel : this.#getDefaultLevel();
    agent.setModel(model);
    sessionManager.appendModelChange(model.provider, model.id);
    settingsManager.setDefaultModelAndProvider(model.provider, model.id);
    this.setThinkingLevel(thinkingLevel ?? current);
    if (modelsAreEqual(model, previousModel)) return;
    await extensions.runner.emit({ type: "model_select", model, previousModel, source });
  }

  /** Takes the model and the thinking level of the session, or the level of the settings if it has none. */
  async restore(): Promise<void> {
    const { agent, sessionManager, modelRegistry, extensions } = this.#parts;
    const { model: stored, thinkingLevel } = sessionManager.buildSessionContext();
    const previousModel = this.model;
    const registered = stored && modelRegistry.find(stored.provider, stored.modelId);
    const model = registered && modelRegistry.hasConfiguredAuth(registered) ? registered : undefined;
    if (model) agent.setModel(model);
    const hasLevel = sessionManager.getBranch().some(({ type }) => type === "thinking_level_change");
    const level = this.#toSupportedLevel(hasLevel ? (thinkingLevel as ThinkingLevel) : this.#getDefaultLevel());
    agent.setThinkingLevel(level);
    if (!hasLevel || level !== thinkingLevel) sessionManager.appendThinkingLevelChange(level);
    if (!model || modelsAreEqual(model, previousModel)) return;
    await extensions.runner.emit({ type: "model_select", model, previousModel, source: "restore" });
  }

  /** Takes what extensions have changed in the provider of the model. */
  refresh(): void {
    const { agent, modelRegistry } = this.#parts;
    const registered = this.model && modelRegistry.find(this.model.provider, this.model.id);
    if (registered) agent.setModel(registered);
  }

  /** Throws without a model. */
  require(): Model {
    if (!this.model) throw new Error("No model selected");
    return this.model;
  }

  /** Throws without a key. */
  async requireApiKey(model: Model): Promise<string> {
    const key = await this.#parts.modelRegistry.getApiKey(model);
    if (!key) throw new Error(`No API key found for ${model.provider}. Use /login, or set its variable.`);
    return key;
  }

  /** Sets the nearest level that the model has. A model that cannot think leaves the settings as they are. */
  setThinkingLevel(level: ThinkingLevel): void {
    const { agent, sessionManager, settingsManager } = this.#parts;
    const next = this.#toSupportedLevel(level);
    if (next === this.thinkingLevel) return;
    agent.setThinkingLevel(next);
    sessionManager.appendThinkingLevelChange(next);
    if (this.supportsThinking) settingsManager.setDefaultThinkingLevel?.(next);
  }

  cycleThinkingLevel(): ThinkingLevel | undefined {
    if (!this.supportsThinking) return undefined;
    const levels = this.thinkingLevels;
    const next = levels[(levels.indexOf(this.thinkingLevel) + 1) % levels.length]!;
    this.setThinkingLevel(next);
    return next;
  }

  #getDefaultLevel(): ThinkingLevel {
    return (this.#parts.settingsManager.getDefaultThinkingLevel?.() as ThinkingLevel | undefined) ?? "medium";
  }

  #toSupportedLevel(level: ThinkingLevel): ThinkingLevel {
    return this.model ? (clampThinkingLevel(this.model, level) as ThinkingLevel) : "off";
  }
}

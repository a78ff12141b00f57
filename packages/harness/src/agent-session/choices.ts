/** What counts for the next request: the model, how it thinks, its tools, its prompt, and what the settings say. */
import type { QueueMode, ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, type Clock, type Model, parseThinkingLevel } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ChannelBinding, GivenTool, HarnessActions, PipelineInput } from "../pipeline/layer.ts";
import { formatDate } from "../prompt/system-prompt.ts";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import type { SessionContext } from "../session/context.ts";
import type { Session } from "../session/session.ts";
import type { Settings } from "../settings/schema.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { BudgetLimits } from "../budget/budget.ts";
import { buildOutfit, type Outfit } from "./outfit.ts";
import type { CurrentChoices } from "../run/run-host.ts";

/** What one session does otherwise than the settings say, until it ends. */
export interface SessionOverrides {
  autoCompaction?: boolean;
  autoRetry?: boolean;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** What a run may use up, where it is less than the settings say. */
  budgets?: BudgetLimits;
}

/** What a session was given to choose from. */
export interface ChoicesParts {
  cwd: string;
  sessionManager: Session;
  settingsManager: SettingsManager;
  modelRegistry: ModelRegistry;
  resourceLoader: ResourceLoader;
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
  createCallContext: PipelineInput["createCallContext"];
  clock: Clock;
}

export class Choices {
  readonly #parts: ChoicesParts;
  readonly #actions: HarnessActions;
  /** Of the session: aborts when it ends. */
  readonly #signal: AbortSignal;
  #model: Model | undefined;
  #thinkingLevel: ThinkingLevel;
  #tools: readonly GivenTool[];
  #date: string;
  #outfit: Outfit;
  #overrides: SessionOverrides = {};
  /** What the log says, so that it is said again only when it is another. */
  #logged: Pick<SessionContext, "model" | "thinkingLevel"> = { model: null, thinkingLevel: "off" };

  constructor(parts: ChoicesParts, actions: HarnessActions, signal: AbortSignal) {
    this.#parts = parts;
    this.#actions = actions;
    this.#signal = signal;
    this.#model = parts.model;
    this.#thinkingLevel = parts.thinkingLevel;
    this.#tools = parts.tools;
    this.#date = formatDate(parts.clock.now());
    this.#outfit = this.#build();
  }

  get model(): Model | undefined {
    return this.#model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#thinkingLevel;
  }

  get outfit(): Outfit {
    return this.#outfit;
  }

  get overrides(): SessionOverrides {
    return this.#overrides;
  }

  /** Throws while there is no model. */
  current(): CurrentChoices {
    const { systemPrompt, tools } = this.#outfit;
    return { model: this.mustHaveModel(), thinkingLevel: this.#thinkingLevel, systemPrompt, tools };
  }

  mustHaveModel(): Model {
    if (this.#model) return this.#model;
    throw new HarnessError("no_model", this.#parts.noModelReason);
  }

  settings(): Settings {
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

  override(changes: SessionOverrides): void {
    this.#overrides = { ...this.#overrides, ...changes };
  }

  setModel(model: Model | string): void {
    const { model: chosen, thinkingLevel } = typeof model === "string" ? this.#resolve(model) : { model };
    this.#model = chosen;
    this.#thinkingLevel = clampThinkingLevel(chosen, thinkingLevel ?? this.#thinkingLevel);
    this.refit();
  }

  setThinkingLevel(level: string): void {
    const parsed = parseThinkingLevel(level);
    if (!parsed) throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
    this.#thinkingLevel = this.#model ? clampThinkingLevel(this.#model, parsed) : parsed;
  }

  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#tools = tools.map((tool) => (typeof tool === "string" ? this.#parts.builtIn(tool) : tool));
    this.refit();
  }

  /** Builds tools and prompt again, because something that they are made of has changed. */
  refit(): void {
    this.#outfit = this.#build(this.#outfit);
  }

  /** The prompt names the date: over midnight it is another one. */
  refitForToday(): void {
    const today = formatDate(this.#parts.clock.now());
    if (today === this.#date) return;
    this.#date = today;
    this.refit();
  }

  /** Takes what the log says, after it was read. */
  takeLogged({ model, thinkingLevel }: SessionContext): void {
    this.#logged = { model, thinkingLevel };
  }

  /** The log says which model and which thinking level answers come from. A session that was never used says nothing. */
  async remember(): Promise<void> {
    const { sessionManager: session } = this.#parts;
    const model = this.#model;
    if (!model || session.readOnly) return;
    const { model: said, thinkingLevel } = this.#logged;
    if (said?.provider !== model.provider || said.modelId !== model.id) {
      await session.appendModelChange(model.provider, model.id);
      this.#logged = { ...this.#logged, model: { provider: model.provider, modelId: model.id } };
    }
    if (thinkingLevel !== this.#thinkingLevel) {
      await session.appendThinkingLevelChange(this.#thinkingLevel);
      this.#logged = { ...this.#logged, thinkingLevel: this.#thinkingLevel };
    }
  }

  #resolve(spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
    const found = this.#parts.modelRegistry.resolve(spec);
    if (found.kind !== "resolved") throw new HarnessError("unknown_model", found.message);
    return found;
  }

  #build(before?: Outfit): Outfit {
    const { customTools, binding, scopes, resourceLoader, cwd, settingsManager, ...parts } = this.#parts;
    const { tools } = settingsManager.get();
    return buildOutfit(
      {
        base: this.#tools,
        custom: customTools,
        binding,
        scopes,
        allowed: parts.allowedTools ?? tools.allowed,
        excluded: [...tools.excluded, ...parts.excludedTools],
        model: this.#model ?? { api: "", provider: "", id: "" },
        signal: this.#signal,
        createCallContext: parts.createCallContext,
        actions: this.#actions,
        resources: resourceLoader.resources,
        cwd,
        date: this.#date,
        systemPrompt: parts.systemPrompt,
        appendSystemPrompt: parts.appendSystemPrompt,
      },
      before,
    );
  }
}

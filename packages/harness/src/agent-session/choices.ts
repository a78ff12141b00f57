/** What counts for the next request: the model, its thinking level, its tools, its prompt, and the settings. */
import type { QueueMode, ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, type Clock, type Model, parseThinkingLevel } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import type { ExtensionEvent, ExtensionHooks } from "@tau/extensions";
import {
  type GivenTool,
  type HarnessActions,
  type PipelineInput,
  getProblem,
  type ToolLifecycles,
  harnessToolNames,
  type TouchesParts,
} from "@tau/extensions/internal";
import { createNameMatcher, resolveDefaultTools } from "@tau/policy/internal";
import { formatDate, type SystemPrompt } from "../prompt/system-prompt.ts";
import { listChangedFiles } from "@tau/config/internal";
import type { Resources } from "@tau/config/resources";
import type { SessionContext } from "../session/context.ts";
import type { SessionSandbox } from "@tau/sandbox";
import type { Session } from "../session/session.ts";
import type { Settings } from "@tau/config/settings";
import type { BudgetLimits } from "../budget/budget.ts";
import { formatUnlisted } from "./choose-model.ts";
import { buildToolsAndPrompt, type ToolsAndPrompt } from "./tools-and-prompt.ts";
import type { Services } from "./services.ts";
import type { CurrentChoices } from "../run/run-host.ts";

/** Where one session departs from the settings, until it ends. */
export interface SessionOverrides {
  autoCompaction?: boolean;
  autoRetry?: boolean;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** Limits for each run, besides those of the settings. */
  budgets?: BudgetLimits;
}

/** How a model was chosen, as extensions are told. */
export type ModelSource = ExtensionEvent<"model_select">["source"];

/** The model that a session begins with. */
export interface ModelChoice {
  model: Model | undefined;
  /** What is wanted, also if the model does not support it. */
  thinkingLevel: ThinkingLevel;
  /** Why there is no model. */
  noModelReason: string;
  /** Why the model that the settings ask for cannot be used; undefined when it can, or none was asked for. */
  modelProblem: string | undefined;
}

/** Where the tools of a session come from, and which of them are left out. */
export interface ToolSources extends Pick<
  PipelineInput,
  "custom" | "binding" | "allowed" | "excluded" | "scopes" | "createCallContext"
> {
  /** Where tools start processes. Undefined: where they are told to. */
  sandbox: SessionSandbox | undefined;
  /** A name is that of a tool of the session itself. Undefined: the defaults. */
  base: readonly (GivenTool | string)[] | undefined;
  /** The default tools, by how files are edited. */
  defaults: Readonly<Record<Settings["tools"]["edit"], readonly GivenTool[]>>;
  /** The tools of extensions: those that are shown without being asked for, and those of `names`. */
  getExtensionTools: (names: readonly string[]) => readonly GivenTool[];
  /** Finds built-in tools by name, and throws for an unknown one. */
  getBuiltIn: (name: string) => GivenTool;
  /** All built-in tools, by name. */
  builtIn: TouchesParts["builtIn"];
  /** Where commands run, for the model. */
  commands: string | undefined;
  /** Departs from the setting. */
  execution: Settings["tools"]["execution"] | undefined;
  /** Takes the place of the default system prompt. */
  systemPrompt: string | undefined;
  appendSystemPrompt: readonly string[];
  docsDir: string | undefined;
}

export interface ChoicesParts {
  cwd: string;
  session: Session;
  services: Services;
  model: ModelChoice;
  tools: ToolSources;
  clock: Clock;
  actions: HarnessActions;
  lifecycles: ToolLifecycles;
  sandbox: PipelineInput["sandbox"];
  /** Tells the user something. */
  notice: (code: string, message: string) => void;
  getExtensions: () => (ExtensionHooks & { readonly isStarted: boolean }) | undefined;
  /** Aborts when the session ends. */
  signal: AbortSignal;
}

export class Choices {
  readonly #parts: ChoicesParts;
  #model: Model | undefined;
  /** Whether the model is one of the registry, not one that a program described itself. */
  #isListed: boolean;
  /** What was asked for last. A model that does not support it uses the nearest level, and the next one may support it. */
  #wantedLevel: ThinkingLevel;
  /** Undefined: the defaults, which depend on the settings and the model. */
  #tools: ToolSources["base"];
  /** Set by `setActiveTools`: only these are shown. */
  #activeNames: readonly string[] | undefined;
  #date: string;
  /** As of the last prompt or, if nothing was in progress, of the last change. */
  #resources: Resources;
  #shown: ToolsAndPrompt;
  #overrides: SessionOverrides = {};
  /** What extensions made of the prompt, for one run. */
  #runPrompt: SystemPrompt | undefined;
  /** What the log says already, so that only changes are written. */
  #logged: { model: SessionContext["model"]; thinkingLevel: string | undefined } = {
    model: null,
    thinkingLevel: undefined,
  };

  constructor(parts: ChoicesParts) {
    this.#parts = parts;
    this.#model = parts.model.model;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = parts.model.thinkingLevel;
    this.#tools = parts.tools.base;
    this.#date = formatDate(parts.clock.now());
    this.#resources = parts.services.resources.resources;
    this.#shown = this.#build();
  }

  get model(): Model | undefined {
    return this.#model;
  }

  /** What the model uses. */
  get thinkingLevel(): ThinkingLevel {
    return this.#model ? clampThinkingLevel(this.#model, this.#wantedLevel) : this.#wantedLevel;
  }

  get shown(): ToolsAndPrompt {
    return this.#shown;
  }

  get overrides(): SessionOverrides {
    return this.#overrides;
  }

  /** Throws while there is no model. */
  current(): CurrentChoices {
    const { systemPrompt, tools } = this.#shown;
    const prompt = this.#runPrompt ?? systemPrompt;
    return { model: this.mustHaveModel(), thinkingLevel: this.thinkingLevel, systemPrompt: prompt, tools };
  }

  /** The system prompt of the run in progress, else of the next one. */
  get promptText(): string {
    return (this.#runPrompt ?? this.#shown.systemPrompt).text;
  }

  /** Replaces the prompt until it is called again; undefined: the prompt of the session. `by` are the extensions that did it. */
  setRunPrompt(prompt: { text: string; by: readonly string[] } | undefined): void {
    const { text = "", by = [] } = prompt ?? {};
    this.#runPrompt = prompt && { sections: [{ name: `extension ${by.join(", ")}`, text }], text };
  }

  mustHaveModel(): Model {
    if (this.#model) return this.#model;
    throw new HarnessError("no_model", this.#parts.model.noModelReason);
  }

  settings(): Settings {
    const settings = this.#parts.services.settings.get();
    const { autoCompaction, autoRetry, steeringMode, followUpMode } = this.#overrides;
    const { execution } = this.#parts.tools;
    return {
      ...settings,
      ...(autoCompaction !== undefined && { compaction: { ...settings.compaction, enabled: autoCompaction } }),
      ...(autoRetry !== undefined && { retry: { ...settings.retry, enabled: autoRetry } }),
      ...(steeringMode !== undefined && { steeringMode }),
      ...(followUpMode !== undefined && { followUpMode }),
      ...(execution !== undefined && { tools: { ...settings.tools, execution } }),
    };
  }

  override(changes: SessionOverrides): void {
    this.#overrides = { ...this.#overrides, ...changes };
  }

  async setModel(model: Model | string, source: ModelSource): Promise<void> {
    const { notice } = this.#parts;
    const previousModel = this.#model;
    const { thinkingLevel: previousLevel } = this;
    const { model: chosen, thinkingLevel } = typeof model === "string" ? this.#resolve(model) : { model };
    this.#model = chosen;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = thinkingLevel ?? this.#wantedLevel;
    this.rebuild();
    const unlisted = formatUnlisted(chosen);
    if (unlisted !== undefined) notice("model", unlisted);
    await this.remember();
    await this.#tellThinkingLevel(previousLevel);
    await this.#tell({ type: "model_select", model: chosen, previousModel, source });
  }

  /** Takes what the registry says of the model now: a login or another version of an extension may change its address. */
  followRegistry(): void {
    if (!this.#isListed || this.#isInRegistry()) return;
    const { provider, id } = this.#model!;
    const current = this.#parts.services.registry.find(provider, id);
    // An extension that is loaded again takes its models away for a moment.
    if (!current) return;
    this.#model = current;
    this.rebuild();
  }

  #isInRegistry(): boolean {
    const model = this.#model;
    return model !== undefined && this.#parts.services.registry.find(model.provider, model.id) === model;
  }

  async setThinkingLevel(level: string): Promise<void> {
    const parsed = parseThinkingLevel(level);
    if (!parsed) throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
    const { thinkingLevel: previousLevel } = this;
    this.#wantedLevel = parsed;
    await this.remember();
    await this.#tellThinkingLevel(previousLevel);
  }

  async #tellThinkingLevel(previousLevel: ThinkingLevel): Promise<void> {
    const { thinkingLevel: level } = this;
    if (level === previousLevel) return;
    await this.#tell({ type: "thinking_level_select", level, previousLevel });
  }

  /** `session_start` is the first event of a session: what is chosen before is the model that the session starts with. */
  async #tell(event: ExtensionEvent<"model_select"> | ExtensionEvent<"thinking_level_select">): Promise<void> {
    const extensions = this.#parts.getExtensions();
    if (extensions?.isStarted) await extensions.emit(event);
  }

  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#tools = tools.map((tool) =>
      typeof tool !== "string" || isHarnessTool(tool) ? tool : this.#parts.tools.getBuiltIn(tool),
    );
    this.rebuild();
  }

  /** Shows exactly these tools. Built-in tools that the session was not given are added. */
  setActiveTools(names: readonly string[]): void {
    const { tools, dropped } = this.#shown;
    const { custom, getExtensionTools } = this.#parts.tools;
    const known = new Set([...tools, ...dropped, ...custom, ...getExtensionTools(names)].map(({ name }) => name));
    const added = names.filter((name) => !known.has(name)).map((name) => this.#parts.tools.getBuiltIn(name));
    this.#tools = [...this.#getBase(), ...added];
    this.#activeNames = names;
    this.rebuild();
  }

  /** Builds tools and prompt again after a change of what they are made of. */
  rebuild(): void {
    this.#shown = this.#build(this.#shown);
    void this.loadTools();
  }

  /** Resolves when the tools that are shown are loaded, without those that cannot be. Never rejects. */
  async loadTools(): Promise<void> {
    const { lifecycles, tools, signal } = this.#parts;
    if (signal.aborted) return;
    if (await lifecycles.load(this.#shown.tools)) this.#shown = this.#build(this.#shown);
    await lifecycles.unloadOthers(
      [
        ...this.#getBase().filter(isGiven),
        ...tools.custom,
        ...tools.getExtensionTools(this.#activeNames ?? []),
        ...(tools.binding?.tools ?? []),
      ].filter(isTool),
    );
  }

  /** Uses the resources as they are now. Answers with the files that changed. Not during a run: it keeps its prompt and tools. */
  takeResources(): string[] {
    const before = this.#resources;
    this.#resources = this.#parts.services.resources.resources;
    if (this.#resources === before) return [];
    this.rebuild();
    return listChangedFiles(before, this.#resources);
  }

  /** The prompt names the date, which changes at midnight. */
  rebuildForToday(): void {
    const today = formatDate(this.#parts.clock.now());
    if (today === this.#date) return;
    this.#date = today;
    this.rebuild();
  }

  /** Takes what the log says after it was read. */
  takeLogged({ model, thinkingLevel, hasThinkingLevel }: SessionContext): void {
    this.#logged = { model, thinkingLevel: hasThinkingLevel ? thinkingLevel : undefined };
  }

  /** Writes model and thinking level into the log where they changed. */
  async remember(): Promise<void> {
    const { session } = this.#parts;
    const model = this.#model;
    if (!model || session.readOnly) return;
    const { model: logged, thinkingLevel } = this.#logged;
    if (logged?.provider !== model.provider || logged.modelId !== model.id) {
      await session.appendModelChange(model.provider, model.id);
      this.#logged = { ...this.#logged, model: { provider: model.provider, modelId: model.id } };
    }
    if (thinkingLevel !== this.#wantedLevel) {
      await session.appendThinkingLevelChange(this.#wantedLevel);
      this.#logged = { ...this.#logged, thinkingLevel: this.#wantedLevel };
    }
  }

  #resolve(spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
    const resolution = this.#parts.services.registry.resolve(spec);
    if (resolution.kind !== "resolved") throw new HarnessError("unknown_model", resolution.message);
    return resolution;
  }

  #getBase(): readonly (GivenTool | string)[] {
    const { services, tools } = this.#parts;
    const { edit, models } = services.settings.get().tools;
    const own = this.#model && models[`${this.#model.provider}/${this.#model.id}`];
    if (this.#tools) return this.#tools;
    const defaults = tools.defaults[own?.edit ?? edit];
    const lists = [services.settings.getGlobal().defaultTools, services.settings.getProject().defaultTools];
    const names = resolveDefaultTools(
      lists,
      defaults.map(({ name }) => name),
    );
    // A notice names those that do not exist.
    return names.flatMap((name): (GivenTool | string)[] =>
      Object.hasOwn(tools.builtIn, name) ? [tools.getBuiltIn(name)] : isHarnessTool(name) ? [name] : [],
    );
  }

  #build(before?: ToolsAndPrompt): ToolsAndPrompt {
    const { tools, services, cwd, actions, lifecycles, signal, sandbox } = this.#parts;
    const { allowed, excluded } = services.settings.get().tools;
    const base = this.#getBase();
    return buildToolsAndPrompt(
      {
        base: base.filter(isGiven),
        requested: base.filter((tool) => typeof tool === "string"),
        custom: [...tools.custom, ...tools.getExtensionTools(this.#activeNames ?? tools.allowed ?? allowed ?? [])],
        binding: tools.binding,
        scopes: tools.scopes,
        allowed: this.#activeNames ?? tools.allowed ?? allowed,
        excluded: [...excluded, ...tools.excluded],
        model: this.#model ?? { api: "", provider: "", id: "" },
        signal,
        createCallContext: tools.createCallContext,
        sandbox,
        commands: tools.commands,
        actions,
        lifecycles,
        resources: this.#resources,
        cwd,
        date: this.#date,
        systemPrompt: tools.systemPrompt,
        appendSystemPrompt: tools.appendSystemPrompt,
        docsDir: tools.docsDir,
      },
      before,
    );
  }
}

const isHarnessTool = createNameMatcher(harnessToolNames);
const isGiven = (tool: GivenTool | string): tool is GivenTool => typeof tool !== "string";
const isTool = (tool: GivenTool): boolean => getProblem(tool) === undefined;

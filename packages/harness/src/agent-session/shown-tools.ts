/** The tools and the system prompt that a model is shown. */
import type { AgentTool } from "@tau/agent";
import type { Clock } from "@tau/ai";
import type { Settings, SettingsManager } from "@tau/config/settings";
import type { Resources, ResourceLoader } from "@tau/config/resources";
import { listChangedFiles } from "@tau/config/internal";
import {
  type GivenTool,
  type HarnessActions,
  type PipelineInput,
  type PipelineTool,
  getName,
  getProblem,
  type ToolLifecycles,
  harnessToolNames,
  type SessionTools,
  type TouchesParts,
} from "@tau/extensions/internal";
import { HarnessError } from "@tau/protocol";
import { createNameMatcher, resolveDefaultTools } from "@tau/policy/internal";
import type { SessionSandbox } from "@tau/sandbox";
import { formatDate, type SystemPrompt } from "../prompt/system-prompt.ts";
import type { ModelChoice } from "./model-choice.ts";
import { chooseTools, FoundTools } from "./found-tools.ts";
import { buildToolsAndPrompt, type ToolsAndPrompt } from "./tools-and-prompt.ts";

/** Where the tools of a session come from, and which of them are left out. */
export interface ToolSources extends Pick<
  PipelineInput,
  "custom" | "binding" | "allowed" | "excluded" | "scopes" | "createCallContext"
> {
  /** Where tools start processes. Undefined: without a sandbox. */
  sandbox: SessionSandbox | undefined;
  /** Whether nothing may run outside of the sandbox, whoever allows it. */
  isTenant: boolean;
  /** A name is that of a tool of the session itself. Undefined: the defaults. */
  base: readonly (GivenTool | string)[] | undefined;
  /** The default tools, by how files are edited. */
  defaults: Readonly<Record<Settings["tools"]["edit"], readonly GivenTool[]>>;
  /** Changes them, after the settings. */
  changedDefaults: readonly string[] | undefined;
  /** The tools of extensions, and those of features that are not among the defaults. */
  others: SessionTools;
  /** Finds built-in tools by name, and throws for an unknown one. */
  getBuiltIn: (name: string) => GivenTool;
  /** All built-in tools, by name. */
  builtIn: TouchesParts["builtIn"];
  /** Built-in tools that only the tools of features can call. No model is shown them, and nobody can name them. */
  internal: readonly PipelineTool[];
  /** Where commands run, for the model. */
  commands: string | undefined;
  /** Departs from the setting. */
  execution: Settings["tools"]["execution"] | undefined;
  /** Takes the place of the default system prompt. */
  systemPrompt: string | undefined;
  appendSystemPrompt: readonly string[];
  docsDir: string | undefined;
}

interface ShownToolsParts {
  cwd: string;
  sources: ToolSources;
  model: ModelChoice;
  settings: SettingsManager;
  resources: ResourceLoader;
  clock: Clock;
  actions: HarnessActions;
  lifecycles: ToolLifecycles;
  sandbox: PipelineInput["sandbox"];
  /** Aborts when the session ends. */
  signal: AbortSignal;
}

export class ShownTools {
  readonly #parts: ShownToolsParts;
  /** The tools that requests do not list. */
  readonly found: FoundTools;
  /** Undefined: the defaults, which depend on the settings and the model. */
  #base: ToolSources["base"];
  /** Set by `setActiveTools`: only these are shown. */
  #activeNames: readonly string[] | undefined;
  #date: string;
  /** From the last prompt or, if nothing was in progress, from the last change. */
  #resources: Resources;
  #shown: ToolsAndPrompt;
  /** The prompt that extensions made for one run. */
  #runPrompt: SystemPrompt | undefined;

  constructor(parts: ShownToolsParts) {
    this.#parts = parts;
    this.found = new FoundTools(parts.sources.others);
    this.#base = parts.sources.base;
    this.#date = formatDate(parts.clock.now());
    this.#resources = parts.resources.resources;
    this.#shown = this.#build();
    parts.model.onChange(() => this.rebuild());
  }

  get shown(): ToolsAndPrompt {
    return this.#shown;
  }

  /** The system prompt of the run in progress, else of the next one. */
  get prompt(): SystemPrompt {
    return this.#runPrompt ?? this.#shown.systemPrompt;
  }

  /** Replaces the prompt until it is called again; undefined: the prompt of the session. `by` are the extensions that did it. */
  setRunPrompt(prompt: { text: string; by: readonly string[] } | undefined): void {
    const { text = "", by = [] } = prompt ?? {};
    this.#runPrompt = prompt && { sections: [{ name: `extension ${by.join(", ")}`, text }], text };
  }

  setTools(tools: readonly (GivenTool | string)[]): void {
    this.#base = tools.map((tool) =>
      typeof tool !== "string" || isHarnessTool(tool) ? tool : this.#parts.sources.getBuiltIn(tool),
    );
    this.rebuild();
  }

  /** Shows exactly these tools. Built-in tools that the session was not given are added. */
  setActiveTools(names: readonly string[]): void {
    const { tools, unlisted, dropped } = this.#shown;
    const { custom, others, getBuiltIn } = this.#parts.sources;
    const { listed } = others.list({ names, canSearch: false });
    const known = new Set([...tools, ...unlisted, ...dropped, ...custom, ...listed].map(({ name }) => name));
    const added = names.filter((name) => !known.has(name)).map((name) => getBuiltIn(name));
    this.#base = [...this.#getBase(), ...added];
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
    const { lifecycles, sources, signal } = this.#parts;
    if (signal.aborted) return;
    const { tools, unlisted } = this.#shown;
    if (await lifecycles.load([...tools, ...unlisted])) this.#shown = this.#build(this.#shown);
    const { listed, found } = sources.others.list({ names: this.#getNames(), canSearch: true });
    await lifecycles.unloadOthers(
      [
        ...this.#getBase().filter(isGiven),
        ...sources.custom,
        ...listed,
        ...found.map(({ tool }) => tool),
        ...(sources.binding?.tools ?? []),
      ].filter(isTool),
    );
  }

  /** Resolves when the tools are there that requests list although they have to be found. */
  async findListed(): Promise<void> {
    await this.#parts.sources.others.findListed(this.#getNames());
  }

  /** The tools that only those of features can call, whatever a session lists. */
  listInternal(): readonly AgentTool[] {
    return this.found.build(this.#parts.sources.internal);
  }

  /** Uses the resources as they are now. Answers with the files that changed. Not during a run: it keeps its prompt and tools. */
  takeResources(): string[] {
    const before = this.#resources;
    this.#resources = this.#parts.resources.resources;
    if (this.#resources === before) return [];
    this.rebuild();
    return listChangedFiles(before, this.#resources);
  }

  /** Rebuilds the prompt after midnight, because it names the date. */
  rebuildForToday(): void {
    const today = formatDate(this.#parts.clock.now());
    if (today === this.#date) return;
    this.#date = today;
    this.rebuild();
  }

  #getBase(): readonly (GivenTool | string)[] {
    if (this.#base) return this.#base;
    const { settings, sources, model: choice } = this.#parts;
    const { edit, models, enabled } = settings.get().tools;
    const { model } = choice;
    const own = model && models[`${model.provider}/${model.id}`];
    const defaults = sources.defaults[own?.edit ?? edit];
    const lists = [
      settings.getGlobal().defaultTools,
      settings.getProject().defaultTools,
      settings.getRun().defaultTools,
      enabled.length > 0 ? enabled.map((name) => `+${name}`) : undefined,
      sources.changedDefaults,
    ];
    const names = resolveDefaultTools(
      lists,
      defaults.map(({ name }) => name),
    );
    // A notice names those that do not exist.
    return names.flatMap((name): (GivenTool | string)[] =>
      Object.hasOwn(sources.builtIn, name) ? [sources.getBuiltIn(name)] : isHarnessTool(name) ? [name] : [],
    );
  }

  /** The tools that a person, an agent file or an extension names. */
  #getNames(): readonly string[] {
    const { only = [], tools = [] } = this.#resources.agent?.tools ?? {};
    const chosen = tools.filter(({ enabled }) => enabled !== false).map(({ name }) => name);
    return [...(this.#activeNames ?? this.#allowed ?? []), ...only, ...chosen];
  }

  /** The tools that the flags or the settings allow; undefined for all. */
  get #allowed(): readonly string[] | undefined {
    return this.#parts.sources.allowed ?? this.#parts.settings.get().tools.allowed;
  }

  #build(before?: ToolsAndPrompt): ToolsAndPrompt {
    const { sources, settings, model, cwd, actions, lifecycles, signal, sandbox } = this.#parts;
    const base = this.#getBase();
    const { custom, others } = sources;
    const foundInput = {
      binding: sources.binding,
      scopes: sources.scopes,
      allowed: this.#allowed,
      excluded: [...settings.get().tools.excluded, ...sources.excluded],
      model: model.model ?? { api: "", provider: "", id: "" },
      signal,
      createCallContext: sources.createCallContext,
      sandbox,
      actions,
      lifecycles,
      resources: this.#resources,
    };
    const input = { ...foundInput, allowed: this.#activeNames ?? this.#allowed };
    const names = this.#getNames();
    const chosen = chooseTools({ base: base.filter(isGiven), custom, names, others, input, foundInput });
    const built = buildToolsAndPrompt(
      {
        ...input,
        settings: settings.get(),
        base: chosen.base,
        requested: base.filter((tool) => typeof tool === "string"),
        custom: [...custom, ...chosen.listed],
        commands: sources.commands,
        cwd,
        date: this.#date,
        systemPrompt: sources.systemPrompt,
        appendSystemPrompt: sources.appendSystemPrompt,
        docsDir: sources.docsDir,
        listFound: (active) => {
          this.found.update(foundInput, active, chosen.getFound);
          return this.found.listNow();
        },
      },
      before,
    );
    this.found.update(foundInput, [...built.tools, ...built.unlisted], chosen.getFound);
    return built;
  }
}

/** Throws `invalid_input` for two tools with the same name, of which the session could show only one. */
export function refuseSameNames(param: string, tools: readonly (GivenTool | string)[] = []): void {
  const names = tools.filter((tool) => getProblem(tool) === undefined).map((tool) => getName(tool));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new HarnessError("invalid_input", `"${param}" has two tools with the name ${JSON.stringify(twice)}.`);
}

const isHarnessTool = createNameMatcher(harnessToolNames);
const isGiven = (tool: GivenTool | string): tool is GivenTool => typeof tool !== "string";
const isTool = (tool: GivenTool): boolean => getProblem(tool) === undefined;

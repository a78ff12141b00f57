/** The features of one session: their tools and commands before their code is loaded, and what loads it. */
import type { AgentMessage } from "@tau/agent";
import { getErrorMessage } from "@tau/ai/internal";
import type { PermissionMode, SlashCommandData } from "@tau/protocol";
import { parseSlashCommand } from "@tau/protocol/surface";
import type { SourceInfo } from "../api/api.ts";
import type { ExtensionProblem } from "../api/extension.ts";
import type { Feature, FeaturePlace, FeatureTool, SessionPlace } from "../api/feature.ts";
import { ExtensionError } from "../errors.ts";
import type { PipelineTool } from "../pipeline/layer.ts";
import type { ExtensionSlot } from "./extension-slot.ts";
import { isListed } from "./extension-tools.ts";
import { type FoundTool, toFoundTool } from "./found-tool.ts";
import type { createReach } from "./tool-reach.ts";

interface SessionFeaturesParts {
  features: readonly Feature[];
  slot: ExtensionSlot;
  place: FeaturePlace;
  /** See `SessionPlace`. */
  hasRole: SessionPlace["hasRole"];
  /** The permission mode; undefined in a child, whose mode is that of its parent. */
  getMode: () => PermissionMode | undefined;
  /** See `FeatureNames.isTemplate`. */
  isTemplate: (name: string) => boolean;
  /** Reports to the user what cannot be loaded although nobody waits for it. */
  report: (problem: ExtensionProblem) => void;
}

interface OwnTool {
  readonly feature: Feature;
  readonly definition: FeatureTool;
  readonly tool: PipelineTool;
}

export class SessionFeatures {
  readonly #features: readonly Feature[];
  readonly #slot: ExtensionSlot;
  readonly #place: SessionPlace;
  readonly #getMode: SessionFeaturesParts["getMode"];
  readonly #isTemplate: SessionFeaturesParts["isTemplate"];
  readonly #report: SessionFeaturesParts["report"];
  readonly #loading = new Map<string, Promise<void>>();
  readonly #tools: readonly OwnTool[];
  /** Tools that find or call others, as they were described last. */
  readonly #described = new Map<string, { description: string; tool: PipelineTool }>();

  constructor({ features, slot, place, hasRole, getMode, isTemplate, report }: SessionFeaturesParts) {
    this.#features = features;
    this.#slot = slot;
    this.#place = { ...place, hasRole, listMcpServers: () => listMcpServers(slot) };
    this.#getMode = getMode;
    this.#isTemplate = isTemplate;
    this.#report = report;
    this.#tools = features.flatMap((feature) =>
      (feature.tools ?? []).map(({ describeAt, ...general }) => {
        const definition = { ...general, ...describeAt?.(place) };
        return { feature, definition, tool: this.#createTool(feature, definition) };
      }),
    );
  }

  /** The tools that a session is given. Calling one loads the code of its feature; the tool itself stays the same. */
  get defaults(): readonly PipelineTool[] {
    return this.#tools.filter(({ definition }) => this.#isDefault(definition)).map(({ tool }) => tool);
  }

  /** The tools that settings and flags can name. */
  get namedTools(): readonly PipelineTool[] {
    const isNamed = ({ exposure, listedIn }: FeatureTool) => exposure !== "hidden" || listedIn !== undefined;
    return this.#tools.filter(({ definition }) => isNamed(definition)).map(({ tool }) => tool);
  }

  /** Lists the tools beyond the defaults, by how a model reaches them. Extensions may have replaced some. */
  listTools(reach: ReturnType<typeof createReach>): { listed: PipelineTool[]; found: FoundTool[] } {
    const others = this.#tools.filter(({ definition }) => {
      return !this.#isDefault(definition) && !this.#slot.current?.isReplaced(definition.name);
    });
    const mode = this.#getMode();
    const getReach = ({ definition }: OwnTool) =>
      mode !== undefined && definition.listedIn?.includes(mode)
        ? "listed"
        : reach(this.#isActive(definition) ? definition : { ...definition, ...onlyByName }, "feature");
    const listed = others.filter((tool) => getReach(tool) === "listed");
    const found = others.filter((tool) => getReach(tool) === "found");
    return {
      listed: listed.map(({ tool }) => tool),
      found: found.map(({ feature, definition, tool }) => ({
        ...toFoundTool(definition, tool, { name: feature.name, origin: "feature", info: getInfo(feature) }),
        ...(definition.isFoundBeside && { isFoundBeside: true }),
      })),
    };
  }

  #isDefault(definition: FeatureTool): boolean {
    return isListed(definition) && this.#isActive(definition);
  }

  #isActive({ isActive }: FeatureTool): boolean {
    return isActive?.(this.#place) ?? true;
  }

  isFeature(name: string): boolean {
    return this.#features.some((feature) => feature.name === name);
  }

  /** Says what features that have not been loaded may find. Pure, and from the configuration alone. */
  listFinds(): { feature: string; kind: string }[] {
    const place = this.#place;
    return this.#features.flatMap((feature) => {
      const kind = feature.finds?.(place);
      return kind === undefined ? [] : [{ feature: feature.name, kind }];
    });
  }

  /** Loads the features that may find tools. Never rejects: what fails is reported, and the others are loaded. */
  async loadFinders(starts: boolean): Promise<void> {
    const names = new Set(this.listFinds().map(({ feature }) => feature));
    const finders = this.#features.filter(({ name }) => names.has(name));
    await Promise.all(finders.map((feature) => this.#loadOrReport(feature, starts)));
  }

  /** Lists the names of mentions that features read. From the configuration alone. */
  listMentions(): string[] {
    return this.#features.flatMap((feature) => feature.mentions?.(this.#place) ?? []);
  }

  /** Loads the feature that reads mentions of this name. Never rejects: a failure is reported. */
  async loadForMention(name: string): Promise<void> {
    const feature = this.#features.find((each) => each.mentions?.(this.#place).includes(name));
    if (feature) await this.#loadOrReport(feature, true);
  }

  /** The tool with its description for the kinds of tools that can be found. Equal descriptions give the identical tool. */
  describeForFound(tool: PipelineTool, kinds: readonly string[]): PipelineTool {
    const own = this.#tools.find(({ definition }) => definition.name === tool.name);
    const description = own?.definition.describeForFound?.(kinds) ?? tool.description;
    const known = this.#described.get(tool.name);
    if (known?.description === description) return known.tool;
    const described = { ...tool, description };
    this.#described.set(tool.name, { description, tool: described });
    return described;
  }

  /** Lists the commands of features that neither an extension nor a template has. */
  describeCommands(): SlashCommandData[] {
    return this.#features.flatMap((feature) =>
      (feature.commands ?? [])
        .filter(({ name }) => !this.#hasCommand(name))
        .map(({ name, description }) => ({ name, description, source: "extension", sourceInfo: getInfo(feature) })),
    );
  }

  /** Whether a text begins with a command of a feature whose code is not loaded. */
  isCommand(text: string): boolean {
    return this.#findByCommand(text) !== undefined;
  }

  /** Loads the feature whose command a text begins with. Resolves at once if it begins with none. */
  async loadForCommand(text: string): Promise<void> {
    const feature = this.#findByCommand(text);
    if (feature) await this.#load(feature, true);
  }

  /** Whether a prompt loads features whose code is not loaded. */
  isForPrompt(text: string): boolean {
    return this.#listForPrompt(text).length > 0;
  }

  /** Loads the features that a prompt needs. Never rejects: a failure is reported. */
  async loadForPrompt(text: string): Promise<void> {
    for (const feature of this.#listForPrompt(text)) await this.#loadOrReport(feature, true);
  }

  #listForPrompt(text: string): Feature[] {
    return this.#features.filter(
      (feature) => !this.#loading.has(feature.name) && feature.loadsForPrompt?.(text, this.#place),
    );
  }

  /** Loads the features that work before files are changed. Never rejects: a failure is reported. */
  async loadBeforeChanges(): Promise<void> {
    for (const feature of this.#features) {
      if (!this.#loading.has(feature.name) && feature.loadsBeforeChanges?.(this.#place))
        await this.#loadOrReport(feature, true);
    }
  }

  /** Loads the features that a session needs when it opens: those that say so, and those of its conversation. */
  async loadAtStart(messages: readonly AgentMessage[]): Promise<void> {
    for (const feature of this.#features) {
      if (feature.opensWithSession?.(this.#place)) await this.#loadOrReport(feature, false);
    }
    await this.loadForMode(false);
    await this.loadForMessages(messages);
  }

  /** Loads the features of the permission mode. `starts`: see `ExtensionSlot.add`. Never rejects. */
  async loadForMode(starts: boolean): Promise<void> {
    const mode = this.#getMode();
    if (mode === undefined) return;
    for (const feature of this.#features.filter(({ loadsIn }) => loadsIn?.includes(mode)))
      await this.#loadOrReport(feature, starts);
  }

  /** Loads the features whose results or messages are in a conversation, so that they can continue with it. */
  async loadForMessages(messages: readonly AgentMessage[]): Promise<void> {
    if (this.#features.length === 0) return;
    const tools = new Set<string>();
    const types = new Set<string>();
    for (const message of messages) {
      if (message.role === "toolResult") tools.add(message.toolName);
      const type = getCustomType(message);
      if (type !== undefined) types.add(type);
    }
    const { current } = this.#slot;
    for (const feature of this.#features) {
      const isUsed = types.has(feature.name) || feature.tools?.some(({ name }) => tools.has(name));
      const { tools: own = [] } = feature;
      const isReplaced = own.length > 0 && own.every(({ name }) => current?.isReplaced(name));
      if (!isUsed || isReplaced) continue;
      await this.#loadOrReport(feature, false);
    }
  }

  /** The conversation can be read and continued without it. */
  async #loadOrReport(feature: Feature, starts: boolean): Promise<void> {
    await this.#load(feature, starts).catch((error: unknown) =>
      this.#report({ extension: feature.name, message: getErrorMessage(error) }),
    );
  }

  #hasCommand(name: string): boolean {
    return this.#isTemplate(name) || (this.#slot.current?.registrations.commands.has(name) ?? false);
  }

  #findByCommand(text: string): Feature | undefined {
    const called = parseSlashCommand(text);
    if (!called || this.#hasCommand(called.name)) return undefined;
    return this.#features.find(({ commands }) => commands?.some(({ name }) => name === called.name));
  }

  #createTool(feature: Feature, definition: FeatureTool): PipelineTool {
    const {
      describeForFound,
      exposure,
      listedIn: _listedIn,
      isFoundBeside: _isFoundBeside,
      isActive: _isActive,
      ...tool
    } = definition;
    return {
      ...tool,
      ...(describeForFound && { isForFound: true }),
      ...(exposure === "model-only" && { isModelOnly: true }),
      execute: async (...call) => {
        await this.#load(feature, true);
        const loaded = this.#slot.current?.getFeatureTool(feature.name, tool.name);
        if (!loaded) throw new ExtensionError("unavailable", `The feature ${feature.name} has no tool ${tool.name}.`);
        return await loaded.execute(...call);
      },
    };
  }

  /** Loads a feature once. If that fails, the next use tries again. */
  #load(feature: Feature, starts: boolean): Promise<void> {
    const loading =
      this.#loading.get(feature.name) ??
      this.#add(feature, starts).catch((error: unknown) => {
        this.#loading.delete(feature.name);
        throw error;
      });
    this.#loading.set(feature.name, loading);
    return loading;
  }

  async #add(feature: Feature, starts: boolean): Promise<void> {
    await this.#slot.add({ name: feature.name, factory: await feature.load(this.#place) }, starts);
  }
}

/** How a tool is reached that sessions here do not have unless something names it. */
const onlyByName = { exposure: "direct", defaultActive: false } as const;

const listMcpServers = ({ current }: ExtensionSlot): ReturnType<SessionPlace["listMcpServers"]> =>
  (current?.list ?? []).flatMap(({ mcpServers }) => [...mcpServers].map(([name, config]) => ({ name, config })));

/** The type of a message that an extension added; undefined for any other. Sessions add this role to those of the engine. */
const getCustomType = (message: { role: string; customType?: string }): string | undefined =>
  message.role === "custom" ? message.customType : undefined;

const getInfo = ({ name }: Feature): SourceInfo & SlashCommandData["sourceInfo"] => ({
  path: `<feature:${name}>`,
  source: "feature",
  scope: "user",
  origin: "top-level",
});

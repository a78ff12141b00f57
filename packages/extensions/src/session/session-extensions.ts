/**
 * The extensions of one session: what they registered, as the session uses it, and the hooks that the session calls. They
 * are loaded before the session exists, because they may bring its model; `bind` connects them with it.
 */
import { resolve } from "node:path";
import type { AgentMessage, BeforeToolCallContext, BeforeToolCallResult } from "@tau/agent";
import type { Clock, ImageContent } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { CustomMessage, SlashCommandData } from "@tau/protocol";
import { parseSlashCommand } from "@tau/protocol/surface";
import type { PipelineTool } from "../pipeline/layer.ts";
import type { RunExtensions } from "./run-extensions.ts";
import type { EventBus, ToolDefinition, ToolInfo } from "../api/api.ts";
import type { CombinedResult } from "../runner/combine-results.ts";
import type { ReplacedSessionContext } from "../api/context.ts";
import {
  createCommandContext,
  createContext,
  createReplacedContext,
  createToolContext,
  type Lifetime,
} from "../runner/create-context.ts";
import type { ExtensionEvent, ExtensionEventName, SessionEnd } from "../api/events.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import type { LoadedFeature } from "../api/feature.ts";
import { describeKilled, type IdleExtension } from "../load/idle-extensions.ts";
import {
  addFeatures,
  normaliseKey,
  type Owned,
  resolveConflicts,
  type ResolvedRegistrations,
} from "../load/conflicts.ts";
import type { ProviderPort } from "../providers/providers.ts";
import type { ModelRouteRequest } from "../api/virtual-model.ts";
import { ExtensionError } from "../errors.ts";
import { getVirtualName } from "../providers/virtual-models.ts";
import { ExtensionRunner } from "../runner/runner.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";
import { createWaits, type Waits } from "../runner/waits.ts";
import type { ChangedInputs } from "./changed-inputs.ts";
import { createToolAdapter, isActiveByDefault } from "./extension-tools.ts";
import { type FeatureNames, listReplaced, type Replaced } from "./list-replaced.ts";
import { describeTool, type FoundTool, type ReachedTools, toFoundTool } from "./found-tool.ts";
import { type LeftMessages, MessageQueue } from "./message-queue.ts";
import { createReach, isMany, type ReachRules } from "./tool-reach.ts";
import { createSessionUi, type SessionUi } from "./session-ui.ts";
import type { ExtensionHost, ExtensionSurface } from "./surface.ts";

/** Extensions whose factories have run, without a session yet. */
export interface LoadedExtensions {
  readonly extensions: readonly Extension[];
  /** The extensions that were found and do not run. */
  readonly idle: readonly IdleExtension[];
  readonly problems: readonly ExtensionProblem[];
  readonly lifetime: Lifetime;
  readonly providers: ProviderPort;
  readonly changed: ChangedInputs;
  readonly events: EventBus & { clear(): void };
  /** From now on the APIs of the extensions work. */
  bind(session: ExtensionSessionPort, onMcpServersChange: (servers: readonly unknown[]) => void): void;
  /** Runs the factory of a feature and adds it to `extensions`. Rejects if it fails. */
  add(feature: LoadedFeature): Promise<Extension>;
  /** Writes down what was decided about isolated extensions before there was a session. */
  writeEarlyDecisions(): Promise<void>;
}

export interface SessionExtensionsParts {
  loaded: LoadedExtensions;
  clock: Clock;
  report: (problem: ExtensionProblem) => void;
  /** Why the session begins. */
  start: Omit<ExtensionEvent<"session_start">, "type">;
  /** Uses these skills and prompts of extensions from now on, and no others of theirs. */
  setResources: (paths: CombinedResult<"resources_discover">) => Promise<void>;
  features: FeatureNames;
  /** See `ExtensionRunner`. */
  getAnswerMs: () => number;
}

export class SessionExtensions implements RunExtensions {
  readonly #parts: SessionExtensionsParts;
  /** Dialogs that a person has not answered. */
  readonly dialogs: Waits;
  readonly #ui: SessionUi;
  readonly queue: MessageQueue;
  /** Prompts of extensions that are on their way to the queue. */
  readonly sending: Waits;
  #bound:
    | {
        port: ExtensionSessionPort;
        runner: ExtensionRunner;
        adapt: ReturnType<typeof createToolAdapter>;
        onClose: () => void;
      }
    | undefined;
  #surface: ExtensionSurface | undefined;
  #started: Promise<void> | undefined;
  #isClosing = false;
  #host: ExtensionHost | undefined;
  /** Tools of features that a person lets an extension replace which they have not installed themselves. */
  readonly #allowedReplacements = new Set<string>();
  /** Decided when they have started, so that tools that are registered later do not change the list of the others. */
  #hasManyTools: boolean | undefined;

  constructor(parts: SessionExtensionsParts) {
    this.#parts = parts;
    this.queue = new MessageQueue(parts.clock);
    this.sending = createWaits(parts.clock);
    this.dialogs = createWaits(parts.clock);
    this.#ui = createSessionUi({
      emit: (event) => void (this.has(event.type) && this.emit(event)),
      waits: this.dialogs,
    });
  }

  get list(): readonly Extension[] {
    return this.#parts.loaded.extensions;
  }

  /** The extensions that do not run, also those that were turned off meanwhile. */
  get idle(): readonly IdleExtension[] {
    const killed = this.list.filter(({ state }) => state === "killed");
    return [
      ...this.#parts.loaded.idle,
      ...killed.map(({ source }) => ({ source, state: "killed", message: describeKilled(source) }) as const),
    ];
  }

  /** The problems of loading them. */
  get problems(): readonly ExtensionProblem[] {
    return this.#parts.loaded.problems;
  }

  /** Why the session begins. */
  get startReason(): ExtensionEvent<"session_start">["reason"] {
    return this.#parts.start.reason;
  }

  get ui(): SessionUi["ui"] {
    return this.#ui.ui;
  }

  get providers(): ProviderPort {
    return this.#parts.loaded.providers;
  }

  get surface(): ExtensionSurface | undefined {
    return this.#surface;
  }

  get host(): ExtensionHost | undefined {
    return this.#host;
  }

  setHost(host: ExtensionHost): void {
    this.#host = host;
  }

  /**
   * From now on dialogs and widgets go to this surface. Starts the extensions if they were not started. Resolves with how
   * to detach it.
   */
  async attach(surface: ExtensionSurface): Promise<() => void> {
    const detach = this.#ui.attach(surface.ui);
    this.#surface = surface;
    await this.start();
    return () => {
      detach();
      if (this.#surface === surface) this.#surface = undefined;
    };
  }

  /** `onClose` ends what was made for the port. */
  bind(port: ExtensionSessionPort, onClose: () => void): void {
    const { loaded, clock, report, getAnswerMs } = this.#parts;
    const { extensions, lifetime } = loaded;
    const onWaiting = (names: readonly string[]) =>
      this.ui.setStatus("tau.waiting", names.length === 0 ? undefined : `waiting for ${names.join(", ")}`);
    const runner = new ExtensionRunner({
      extensions,
      session: port,
      clock,
      report,
      lifetime,
      getAnswerMs,
      onWaiting,
    });
    const adapt = createToolAdapter((extension, { ports, ...call }) => {
      const isOfFeature = isFeature(extension.source);
      return createToolContext(runner.getSession(extension), lifetime, {
        ...call,
        isOfFeature,
        ...(isOfFeature && ports && { ports }),
      });
    });
    this.#bound = { port, runner, adapt, onClose };
    loaded.bind(port, (servers) => void this.emit({ type: "mcp_servers_change", servers }));
    for (const problem of loaded.problems) report(problem);
  }

  /** Adds a feature, and starts it if the others are started. */
  async add(feature: LoadedFeature): Promise<void> {
    const extension = await this.#parts.loaded.add(feature);
    this.#bound?.runner.follow(extension);
    if (!this.#started) return;
    await this.#started;
    await this.#bound?.runner.emitTo(extension, { type: "session_start", ...this.#parts.start });
  }

  async route(request: ModelRouteRequest): Promise<unknown> {
    const name = getVirtualName(request.model);
    const extension = this.list.findLast(({ virtualModels }) => virtualModels.has(name));
    const definition = extension?.virtualModels.get(name);
    if (!extension || !definition || !this.#bound)
      throw new ExtensionError("invalid_input", `there is no virtual model ${name}`);
    return await this.#bound.runner.ask(extension, (context) => definition.route(request, context), request.signal);
  }

  /** A tool that the code of a feature registered; undefined if it did not. */
  getFeatureTool(feature: string, name: string): PipelineTool | undefined {
    const extension = this.list.find(({ source }) => isFeature(source) && source.name === feature);
    const definition = extension?.tools.get(name);
    return this.#bound && extension && definition && this.#bound.adapt({ extension, definition });
  }

  /** Whether an extension has a tool that is used instead of a feature's. */
  isReplaced(name: string): boolean {
    const tool = this.registrations.tools.get(name);
    return tool !== undefined && this.#mayReplace(tool);
  }

  /** Everything that tau has itself and an extension's of the same name is used instead of. */
  get replaced(): Replaced[] {
    const loadedFeatures = this.list.filter(({ source }) => isFeature(source));
    const registrations = this.#resolveExtensions();
    const tools = new Map([...registrations.tools].filter(([, tool]) => this.#mayReplace(tool)));
    return listReplaced({ registrations: { ...registrations, tools }, features: this.#parts.features, loadedFeatures });
  }

  #mayReplace({ definition: { name }, extension }: Owned<ToolDefinition>): boolean {
    if (!this.#parts.features.tools.includes(name) || isInstalledByUser(extension)) return true;
    return this.#allowedReplacements.has(name);
  }

  /** Asks whether extensions of a project, and isolated ones, may replace tools of features. */
  async #askReplacements(): Promise<void> {
    for (const tool of this.registrations.tools.values()) {
      if (this.#mayReplace(tool)) continue;
      const { definition, extension } = tool;
      const { name } = extension.source;
      const isAllowed = await this.ui.confirm(
        `Replace the tool ${definition.name}?`,
        `The extension ${name} has a tool of the same name. It would get the calls instead of tau's own.`,
      );
      if (isAllowed) {
        this.#allowedReplacements.add(definition.name);
        this.#bound?.port.refreshTools();
      } else {
        const message = `Its tool ${definition.name} is not used: tau has one of that name.`;
        this.#parts.report({ extension: name, message });
      }
    }
  }

  get isStarted(): boolean {
    return this.#started !== undefined;
  }

  /**
   * Notifies the extensions that the session begins, once: when a surface shows it, or before the first prompt. Rejects if what
   * was decided before cannot be written down; the next call then tries again.
   */
  start(): Promise<void> {
    if (this.#started) return this.#started;
    let settle = (_work: Promise<void>): void => {};
    // Known before a handler runs: it may send a prompt, which asks for the start again.
    const started = new Promise<void>((resolve) => (settle = resolve));
    this.#started = started;
    settle(this.#start());
    started.catch(() => (this.#started = undefined));
    return started;
  }

  async #start(): Promise<void> {
    await this.#parts.loaded.writeEarlyDecisions();
    // Not before: the surface has commands and keys too.
    for (const problem of this.registrations.problems) this.#parts.report(problem);
    for (const extension of this.list) await this.#run(extension, "Its start", () => extension.begin?.());
    await this.#askReplacements();
    await this.emit({ type: "session_start", ...this.#parts.start });
    this.#hasManyTools = isMany(countActive([...this.registrations.tools.values()]));
    const reason = this.#parts.start.reason === "reload" ? "reload" : "startup";
    const { cwd } = this.#bound!.port;
    const found = await this.emit({ type: "resources_discover", cwd, reason });
    try {
      await this.#useResources(found, cwd);
    } catch (error) {
      const extension = this.listHandlers("resources_discover").join(", ");
      this.#parts.report({ extension, message: `Its resources cannot be used: ${getErrorMessage(error)}` });
    }
  }

  async #useResources(found: CombinedResult<"resources_discover"> | undefined, cwd: string): Promise<void> {
    const toAbsolute = (paths: readonly string[] = []) => paths.map((path) => resolve(cwd, path));
    const themePaths = toAbsolute(found?.themePaths);
    // Also without any: those of before a reload are gone then.
    await this.#parts.setResources({
      skillPaths: toAbsolute(found?.skillPaths),
      promptPaths: toAbsolute(found?.promptPaths),
      themePaths,
    });
    if (themePaths.length > 0) await this.#surface?.addThemes?.(themePaths);
  }

  has(name: ExtensionEventName): boolean {
    return this.#bound?.runner.has(name) ?? false;
  }

  listHandlers(name: ExtensionEventName): string[] {
    return this.#bound?.runner.listHandlers(name) ?? [];
  }

  notify(event: ExtensionEvent): void | Promise<void> {
    return this.#bound?.runner.notify(event);
  }

  async emit<Name extends ExtensionEventName>(event: ExtensionEvent<Name>): Promise<CombinedResult<Name> | undefined> {
    if (event.type === "tool_call") this.#forgetChanges(event as ExtensionEvent<"tool_call">);
    return await this.#bound?.runner.emit(event);
  }

  /** The id of a nested call is unique, and who made it is known before extensions are asked about it. */
  #forgetChanges({ toolCallId, parentToolCallId }: ExtensionEvent<"tool_call">): void {
    if (parentToolCallId === undefined) this.#parts.loaded.changed.forget(toolCallId);
  }

  judgeChanged(call: BeforeToolCallContext, signal?: AbortSignal): Promise<BeforeToolCallResult | undefined> {
    return this.#parts.loaded.changed.judge(call, signal);
  }

  take(kind: "steer" | "followUp"): CustomMessage[] {
    return this.queue.take(kind);
  }

  /** Takes the messages that extensions sent too late for a run. Waits for those on their way. */
  async takeLeft(): Promise<LeftMessages> {
    await this.sending.whenOver();
    return this.queue.takeLeft();
  }

  get isQueueEmpty(): boolean {
    return this.queue.isEmpty;
  }

  /** Tools of extensions, and tools that the code of features registered beyond their descriptions. */
  listTools(rules: Omit<ReachRules, "hasManyTools">): ReachedTools {
    const bound = this.#bound;
    const listed: PipelineTool[] = [];
    const found: FoundTool[] = [];
    if (!bound) return { listed, found };
    const extensionTools = [...this.registrations.tools.values()].filter((tool) => this.#mayReplace(tool));
    const hasManyTools = this.#hasManyTools ?? isMany(countActive(extensionTools));
    const reach = createReach({ ...rules, hasManyTools });
    for (const tool of [...extensionTools, ...this.#addedTools]) {
      const { definition, extension } = tool;
      const reached = reach(definition, isFeature(extension.source) ? "feature" : "extension");
      if (reached === "listed") listed.push(bound.adapt(tool));
      if (reached === "found") found.push(toFoundTool(definition, bound.adapt(tool), extension.source));
    }
    return { listed, found };
  }

  /** Describes all tools that were registered, whether a model reaches them or not. */
  describeTools(): ToolInfo[] {
    return [...this.registrations.tools.values(), ...this.#addedTools].map(({ definition, extension }) =>
      describeTool(definition, extension.source.info),
    );
  }

  /** Tools that features registered and did not describe before, unless an extension has the name. */
  get #addedTools(): Owned<ToolDefinition>[] {
    const { tools } = this.registrations;
    const featureTools = new Set(this.#parts.features.tools);
    return this.list
      .filter(({ source }) => isFeature(source))
      .flatMap((extension) =>
        [...extension.tools.values()]
          .filter(({ name }) => !featureTools.has(name) && !tools.has(name))
          .map((definition) => ({ extension, definition })),
      );
  }

  /** The registrations that are in effect now. */
  get registrations(): ResolvedRegistrations {
    const features = this.list.filter(({ source }) => isFeature(source));
    return addFeatures(this.#resolveExtensions(), features, this.#parts.features.isTemplate);
  }

  /** Resolves the registrations without those of features. */
  #resolveExtensions(): ResolvedRegistrations {
    const extensions = this.list.filter(({ source }) => !isFeature(source));
    return resolveConflicts(extensions, this.#surface?.builtIns ?? noBuiltIns);
  }

  /** For lists of commands. */
  describeCommands(): SlashCommandData[] {
    return [...this.registrations.commands].map(
      ([
        name,
        {
          definition: { description },
          extension: { source },
        },
      ]) => ({
        name,
        ...(description !== undefined && { description }),
        source: "extension",
        sourceInfo: { ...source.info, scope: source.info.scope === "project" ? "project" : "user" },
      }),
    );
  }

  /** Whether a text begins with a command. */
  isCommand(text: string): boolean {
    const called = parseSlashCommand(text);
    return called !== undefined && this.registrations.commands.has(called.name);
  }

  /** Runs the command that a text begins with. False if it begins with none. Its failure is reported to the user. */
  async runCommand(text: string): Promise<boolean> {
    const called = parseSlashCommand(text);
    const command = called && this.registrations.commands.get(called.name);
    if (!this.#bound || !command) return false;
    const { name, argument } = called;
    const session = this.#bound.runner.getSession(command.extension);
    const context = createCommandContext(session, this.#parts.loaded.lifetime);
    await this.#run(command.extension, `Its command /${name}`, () => command.definition.handler(argument, context));
    return true;
  }

  /** Runs what is registered for a key. False if nothing is. */
  async runShortcut(key: string): Promise<boolean> {
    const shortcut = this.registrations.shortcuts.get(normaliseKey(key));
    if (!this.#bound || !shortcut) return false;
    const session = this.#bound.runner.getSession(shortcut.extension);
    const context = createContext(session, this.#parts.loaded.lifetime);
    await this.#run(shortcut.extension, `Its shortcut ${key}`, () => shortcut.definition.handler(context));
    return true;
  }

  /** Returns the text as handlers of `input` changed it. Undefined: an extension has dealt with it. */
  async transformInput(
    text: string,
    images: ImageContent[] | undefined,
    options: Pick<ExtensionEvent<"input">, "source" | "streamingBehavior">,
  ): Promise<{ text: string; images?: ImageContent[] } | undefined> {
    const unchanged = { text, ...(images && { images }) };
    if (!this.has("input")) return unchanged;
    const result = await this.emit({ type: "input", ...unchanged, ...options });
    if (result?.action === "handled") return undefined;
    return result?.action === "transform"
      ? { text: result.text, ...(result.images && { images: result.images }) }
      : unchanged;
  }

  /** For `withSession`. */
  createReplacedContext(): ReplacedSessionContext | undefined {
    return this.#bound && createReplacedContext(this.#bound.port, this.#parts.loaded.lifetime);
  }

  async close(event: SessionEnd, why: string): Promise<void> {
    // An extension that reloads while it handles the end must not wait for itself.
    if (this.#isClosing) return;
    this.#isClosing = true;
    // A session that nobody has shown or prompted has not begun for them, such as a branch that is only kept.
    if (this.isStarted && this.has("session_shutdown")) await this.emit({ type: "session_shutdown", ...event });
    this.#parts.loaded.events.clear();
    await this.#bound?.runner.close(why);
    this.#bound?.onClose();
    this.#parts.loaded.providers.close();
  }

  /** Ends extensions whose session could not be opened. Those of a session end with `close`. */
  async abandon(): Promise<void> {
    if (this.#bound) return;
    // Each is closed, also when another fails: its process would stay.
    const closed = await Promise.allSettled(this.list.map((extension) => extension.close()));
    this.#parts.loaded.providers.close();
    const failed = closed.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  /** Reports to the user what is wrong with extensions, by their names. */
  report(extension: string, message: string): void {
    this.#parts.report({ extension, message });
  }

  async #run({ source }: Extension, what: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.report({ extension: source.name, message: `${what} failed: ${getErrorMessage(error)}` });
    }
  }
}

const countActive = (tools: readonly Owned<ToolDefinition>[]): number =>
  tools.filter(({ definition }) => isActiveByDefault(definition)).length;

const isFeature = ({ origin }: ExtensionSource): boolean => origin === "feature";

/** Whether the user chose the extension themselves, so that it may replace what it likes. */
const isInstalledByUser = ({ source, host }: Extension): boolean => source.origin !== "project" && host === "process";

const noBuiltIns = { commands: [], keys: new Map<string, string>() };

/** The text and the images of prompts, as `before_agent_start` shows them. */
export function describePrompts(prompts: readonly AgentMessage[]): { prompt: string; images?: ImageContent[] } {
  const blocks = prompts.flatMap((message) =>
    message.role !== "user"
      ? []
      : typeof message.content === "string"
        ? [{ type: "text" as const, text: message.content }]
        : message.content,
  );
  const images = blocks.filter((block) => block.type === "image");
  const prompt = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { prompt, ...(images.length > 0 && { images }) };
}

/** pi's `ExtensionRunner`: calls the handlers of extensions, in the order in which they were loaded. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import {
  type EntryRenderer,
  type ExtensionCommandContext,
  type ExtensionContext,
  type ExtensionToolContext,
  type ExtensionUi,
  type MarkdownTransformer,
  type MessageRenderer,
  noUi,
  type ToolDefinition,
} from "@tau/extensions";
import type { ModelRegistry, ProviderConfigInput } from "../models/model-registry.ts";
import { type ResourceDiagnostic, type SessionManager, toError } from "@tau/pi/internal";
import {
  type ContextParts,
  createCommandContext,
  createContext,
  createToolContext,
  defaultCommandActions,
  defaultContextActions,
} from "./context.ts";
import type {
  CommandActions,
  ContextActions,
  ExtensionActions,
  ExtensionRuntime,
  Handler,
  PiExtension,
  RegisteredCommand,
  RegisteredFlag,
  RegisteredShortcut,
  RegisteredTool,
} from "./extension.ts";
import { refuseActions } from "./runtime.ts";
import { type EffectiveKeybindings, resolveShortcuts } from "./shortcuts.ts";

export interface ExtensionError {
  extensionPath: string;
  event: string;
  error: string;
  stack?: string;
}

type ErrorListener = (error: ExtensionError) => void;
type Event = { type: string } & Record<string, unknown>;
type Result = Record<string, unknown>;
type Paths = { path: string; extensionPath: string }[];
export type DiscoveredPaths = Record<"skillPaths" | "promptPaths" | "themePaths", Paths>;

export class ExtensionRunner {
  readonly #extensions: readonly PiExtension[];
  readonly #parts: ContextParts;
  readonly #errorListeners = new Set<ErrorListener>();
  #shortcutDiagnostics: ResourceDiagnostic[] = [];
  #commandDiagnostics: ResourceDiagnostic[] = [];

  constructor(
    extensions: readonly PiExtension[],
    runtime: ExtensionRuntime,
    cwd: string,
    sessionManager: SessionManager,
    modelRegistry: ModelRegistry,
  ) {
    this.#extensions = extensions;
    const actions = { context: defaultContextActions, commands: defaultCommandActions };
    this.#parts = { cwd, sessionManager, modelRegistry, runtime, ui: noUi, mode: undefined, ...actions };
  }

  /** Gives the actions of extensions something to act on, and registers the providers that waited for it. */
  bindCore(actions: ExtensionActions, context: ContextActions, onProviderChange = () => {}): void {
    const { runtime, modelRegistry } = this.#parts;
    Object.assign(runtime, actions);
    this.#parts.context = context;
    runtime.registerProvider = (name, config) => {
      modelRegistry.registerProvider(name, config as unknown as ProviderConfigInput);
      onProviderChange();
    };
    runtime.unregisterProvider = (name) => {
      modelRegistry.unregisterProvider(name);
      onProviderChange();
    };
    for (const { name, config } of runtime.pendingProviderRegistrations.splice(0)) {
      runtime.registerProvider(name, config);
    }
  }

  bindCommandContext(actions: CommandActions = defaultCommandActions): void {
    this.#parts.commands = actions;
  }

  setUIContext(ui: ExtensionUi = noUi, mode?: ExtensionContext["mode"]): void {
    this.#parts.ui = ui;
    this.#parts.mode = mode;
  }

  getUIContext(): ExtensionUi {
    return this.#parts.ui;
  }

  hasUI(): boolean {
    return this.#parts.ui !== noUi;
  }

  /** Contexts and actions that an extension kept throw from now on. */
  invalidate(
    message = "This extension context is stale: the session was reloaded or replaced. Use the context of the new handler.",
  ): void {
    this.#parts.staleMessage ??= message;
    Object.assign(this.#parts.runtime, refuseActions(message));
  }

  getExtensionPaths(): string[] {
    return this.#extensions.map(({ path }) => path);
  }

  /** Lists the tools; the first of a name is used. */
  getAllRegisteredTools(): RegisteredTool[] {
    return [...this.#collect(({ tools }) => tools).values()];
  }

  getToolDefinition(name: string): ToolDefinition | undefined {
    return this.#collect(({ tools }) => tools).get(name)?.definition;
  }

  getFlags(): Map<string, RegisteredFlag> {
    return this.#collect(({ flags }) => flags);
  }

  setFlagValue(name: string, value: boolean | string): void {
    this.#parts.runtime.flagValues.set(name, value);
  }

  getFlagValues(): Map<string, boolean | string> {
    return new Map(this.#parts.runtime.flagValues);
  }

  getShortcuts(keybindings: EffectiveKeybindings = {}): Map<string, RegisteredShortcut> {
    const { shortcuts, diagnostics } = resolveShortcuts(this.#extensions, keybindings);
    this.#shortcutDiagnostics = diagnostics;
    this.#warn(diagnostics);
    return shortcuts;
  }

  getShortcutDiagnostics(): ResourceDiagnostic[] {
    return this.#shortcutDiagnostics;
  }

  getMessageRenderer(customType: string): MessageRenderer | undefined {
    return this.#collect(({ messageRenderers }) => messageRenderers).get(customType);
  }

  getEntryRenderer(customType: string): EntryRenderer | undefined {
    return this.#collect(({ entryRenderers }) => entryRenderers).get(customType);
  }

  getMarkdownTransformers(): MarkdownTransformer[] {
    return this.#extensions.flatMap(({ markdownTransformers }) => markdownTransformers);
  }

  getModelRegistry(): ModelRegistry {
    return this.#parts.modelRegistry;
  }

  getActiveTools(): string[] {
    return this.#parts.runtime.getActiveTools();
  }

  /** Lists the commands: the first of each name, without those whose name the program has for a command of its own. */
  getRegisteredCommands(reserved: ReadonlySet<string> = new Set()): RegisteredCommand[] {
    this.#commandDiagnostics = [];
    const owners = new Map<string, string>();
    const commands = this.getRegisteredCommandsWithPaths().flatMap(({ command, extensionPath: path }) => {
      const other = reserved.has(command.name) ? "built-in commands" : owners.get(command.name);
      if (other === undefined) {
        owners.set(command.name, path);
        return [command];
      }
      const message = `Extension command '${command.name}' from ${path} conflicts with ${other}. Skipping.`;
      this.#commandDiagnostics.push({ type: "warning", message, path });
      return [];
    });
    this.#warn(this.#commandDiagnostics);
    return commands;
  }

  getRegisteredCommandsWithPaths(): { command: RegisteredCommand; extensionPath: string }[] {
    return this.#extensions.flatMap(({ path, commands }) =>
      [...commands.values()].map((command) => ({ command, extensionPath: path })),
    );
  }

  getCommandDiagnostics(): ResourceDiagnostic[] {
    return this.#commandDiagnostics;
  }

  getCommand(name: string): RegisteredCommand | undefined {
    return this.#collect(({ commands }) => commands).get(name);
  }

  onError(listener: ErrorListener): () => void {
    this.#errorListeners.add(listener);
    return () => void this.#errorListeners.delete(listener);
  }

  emitError(error: ExtensionError): void {
    for (const listener of this.#errorListeners) listener(error);
  }

  hasHandlers(name: string): boolean {
    return this.#extensions.some(({ handlers }) => (handlers.get(name)?.length ?? 0) > 0);
  }

  shutdown(): void {
    this.#parts.context.shutdown();
  }

  createContext(): ExtensionContext {
    return createContext(this.#parts);
  }

  /** Creates the context of a call of a tool, with the id of that call. */
  createToolContext(toolCallId: string): ExtensionToolContext {
    return createToolContext(this.#parts, toolCallId);
  }

  createCommandContext(): ExtensionCommandContext {
    return createCommandContext(this.#parts);
  }

  /** Calls the handlers of an event. For `session_before_…` it returns the last answer, or the first that cancels. */
  async emit(event: Event): Promise<Result | undefined> {
    let result: Result | undefined;
    for (const call of this.#listCalls(event.type)) {
      const answer = await this.#tryCall(call, event);
      if (!event.type.startsWith("session_before_") || !isRecord(answer)) continue;
      result = answer;
      if (answer["cancel"]) return result;
    }
    return result;
  }

  /** A handler that throws blocks the call. */
  async emitToolCall(event: Event): Promise<Result | undefined> {
    let result: Result | undefined;
    for (const { handler } of this.#listCalls("tool_call")) {
      const answer = await handler(event, this.createContext());
      if (!isRecord(answer)) continue;
      result = answer;
      if (answer["block"]) return result;
    }
    return result;
  }

  /** Each handler sees what those before it changed. */
  async emitToolResult(event: Event): Promise<Result | undefined> {
    let current = { ...event };
    let isChanged = false;
    for (const call of this.#listCalls("tool_result")) {
      const answer = await this.#tryCall(call, current);
      if (!isRecord(answer)) continue;
      for (const name of ["content", "details", "isError"]) {
        if (answer[name] === undefined) continue;
        current = { ...current, [name]: answer[name] };
        isChanged = true;
      }
    }
    const { content, details, isError } = current;
    return isChanged ? { content, details, isError } : undefined;
  }

  /** Each handler may replace the message by another of the same role. Undefined if none did. */
  async emitMessageEnd(event: { type: "message_end"; message: AgentMessage }): Promise<AgentMessage | undefined> {
    let changed: AgentMessage | undefined;
    for (const call of this.#listCalls("message_end")) {
      const current = changed ?? event.message;
      const answer = await this.#tryCall(call, { ...event, message: current });
      const message = isRecord(answer) ? (answer["message"] as AgentMessage | undefined) : undefined;
      if (message && message.role !== current.role) {
        const error = `message_end handlers must return a message with the same role (${current.role})`;
        this.emitError({ extensionPath: call.extension.path, event: "message_end", error });
      } else changed = message ?? changed;
    }
    return changed;
  }

  /** Handlers change the headers in place; null removes one. */
  async emitBeforeProviderHeaders(headers: Record<string, string | null>): Promise<Record<string, string | null>> {
    await this.emit({ type: "before_provider_headers", headers });
    return headers;
  }

  async emitUserBash(event: Event): Promise<Result | undefined> {
    for (const call of this.#listCalls("user_bash")) {
      const answer = await this.#tryCall(call, event);
      if (isRecord(answer)) return answer;
    }
    return undefined;
  }

  async emitContext(messages: AgentMessage[]): Promise<AgentMessage[]> {
    let current = structuredClone(messages);
    for (const call of this.#listCalls("context")) {
      const answer = await this.#tryCall(call, { type: "context", messages: current });
      if (isRecord(answer) && Array.isArray(answer["messages"])) current = answer["messages"] as AgentMessage[];
    }
    return current;
  }

  async emitBeforeProviderRequest(payload: unknown): Promise<unknown> {
    let current = payload;
    for (const call of this.#listCalls("before_provider_request")) {
      const answer = await this.#tryCall(call, { type: "before_provider_request", payload: current });
      if (answer !== undefined) current = answer;
    }
    return current;
  }

  /** Messages are collected; each handler sees the system prompt of those before it. */
  async emitBeforeAgentStart(
    prompt: string,
    images: ImageContent[] | undefined,
    systemPrompt: string,
  ): Promise<{ messages?: unknown[]; systemPrompt?: string } | undefined> {
    const messages: unknown[] = [];
    let changed: string | undefined;
    for (const call of this.#listCalls("before_agent_start")) {
      const event = { type: "before_agent_start", prompt, images, systemPrompt: changed ?? systemPrompt };
      const answer = await this.#tryCall(call, event);
      if (!isRecord(answer)) continue;
      if (answer["message"] !== undefined) messages.push(answer["message"]);
      if (typeof answer["systemPrompt"] === "string") changed = answer["systemPrompt"];
    }
    if (messages.length === 0 && changed === undefined) return undefined;
    return { ...(messages.length > 0 && { messages }), ...(changed !== undefined && { systemPrompt: changed }) };
  }

  async emitResourcesDiscover(cwd: string, reason: string): Promise<DiscoveredPaths> {
    const discovered: DiscoveredPaths = { skillPaths: [], promptPaths: [], themePaths: [] };
    for (const call of this.#listCalls("resources_discover")) {
      const answer = await this.#tryCall(call, { type: "resources_discover", cwd, reason });
      if (!isRecord(answer)) continue;
      for (const name of ["skillPaths", "promptPaths", "themePaths"] as const) {
        const paths = (answer[name] ?? []) as string[];
        discovered[name].push(...paths.map((path) => ({ path, extensionPath: call.extension.path })));
      }
    }
    return discovered;
  }

  /** A handler that handles the input ends it; others may change it for the next. */
  async emitInput(text: string, images: ImageContent[] | undefined, source: string): Promise<Result> {
    let current: { text: string; images: unknown } = { text, images };
    for (const call of this.#listCalls("input")) {
      const answer = await this.#tryCall(call, { type: "input", ...current, source });
      if (!isRecord(answer)) continue;
      if (answer["action"] === "handled") return answer;
      if (answer["action"] === "transform") {
        current = { text: String(answer["text"]), images: answer["images"] ?? current.images };
      }
    }
    const isSame = current.text === text && current.images === images;
    return isSame ? { action: "continue" } : { action: "transform", ...current };
  }

  /** With a terminal the program shows the diagnostics itself. */
  #warn(diagnostics: readonly ResourceDiagnostic[]): void {
    if (this.hasUI()) return;
    // oxlint-disable-next-line no-console -- programs on pi's runner read conflicts there
    for (const { message } of diagnostics) console.warn(message);
  }

  #listCalls(name: string): { extension: PiExtension; handler: Handler }[] {
    return this.#extensions.flatMap((extension) =>
      (extension.handlers.get(name) ?? []).map((handler) => ({ extension, handler })),
    );
  }

  /** Undefined for a handler that failed, which is reported. */
  async #tryCall({ extension, handler }: { extension: PiExtension; handler: Handler }, event: Event): Promise<unknown> {
    try {
      return await handler(event, this.createContext());
    } catch (error) {
      const { message, stack } = toError(error);
      this.emitError({
        extensionPath: extension.path,
        event: event.type,
        error: message,
        ...(stack !== undefined && { stack }),
      });
      return undefined;
    }
  }

  #collect<T>(list: (extension: PiExtension) => ReadonlyMap<string, T>): Map<string, T> {
    const all = new Map<string, T>();
    for (const [name, value] of this.#extensions.flatMap((extension) => [...list(extension)])) {
      if (!all.has(name)) all.set(name, value);
    }
    return all;
  }
}

/**
 * The argument of an extension's factory: everything that an extension can register and do. Names are pi's, so that its
 * extensions run here.
 */
import type { ChannelType } from "./channel.ts";
import type { VirtualModel } from "./virtual-model.ts";
import type { AgentToolResult, AgentToolUpdateCallback, ThinkingLevel, ToolExecutionMode } from "@tau/agent";
import type { ImageContent, Model, TextContent, ToolArguments, ToolParameters } from "@tau/ai";
import type { PermissionMode, SlashCommandData } from "@tau/protocol";
import type { AccessRequest, Program, ToolDescription, ToolLifecycle, ToolLogLevel } from "@tau/tools";
import type { ProgramHosts, SandboxNetwork } from "@tau/sandbox";
import type { Settings } from "@tau/config/settings";
import type {
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  SendMessageOptions,
  SendUserMessageOptions,
} from "./context.ts";
import type { AgentInfo, ChildOptions, ChildSession } from "./child.ts";
import type { CustomMessageDraft, ExtensionEvent, ExtensionEventName, ExtensionResult } from "./events.ts";
import type { PrepareLoadout, ToolExposure, ToolNamespace } from "./loadout.ts";
import type { NativeProvider, ProviderConfig } from "../providers/provider-config.ts";
import type { UiComponent, UiFactory } from "./ui.ts";

export type { ProviderConfig } from "../providers/provider-config.ts";

/** The function that an extension module exports. */
export type ExtensionFactory = (tau: ExtensionAPI) => void | Promise<void>;

export type ExtensionHandler<Name extends ExtensionEventName> = (
  event: ExtensionEvent<Name>,
  context: ExtensionContext,
) => ExtensionResult<Name> | void | Promise<ExtensionResult<Name> | void>;

/**
 * A tool of an extension. It may also describe its calls as built-in tools do; one that does not is judged by its name.
 * `execute` throws on failure, or answers with `isError`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes parameters and details of all kinds
export interface ToolDefinition<TParameters extends ToolParameters = any, TDetails = any>
  extends Omit<ToolDescription<ToolArguments<TParameters>>, "promptGuidelines">, ToolLifecycle {
  name: string;
  label: string;
  description: string;
  parameters: TParameters;
  promptGuidelines?: string[];
  executionMode?: Exclude<ToolExecutionMode, "ordered">;
  /** Default `direct`. */
  exposure?: ToolExposure;
  /** Whether the model is shown it without being asked to. Default true for `direct` and `model-only`. */
  defaultActive?: boolean;
  namespace?: ToolNamespace;
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
  constrainedSampling?: unknown;
  outputSchema?: unknown;
  /** Returns which tools a call may reach: all, or words of the input, each for every tool or namespace whose name has it. */
  reachesTools?: (input: Record<string, unknown>) => "all" | readonly string[];
  /** Changes how the model is shown other tools, and this one. Not available to isolated extensions. */
  prepareLoadout?: PrepareLoadout;
  prepareArguments?: (args: unknown) => ToolArguments<TParameters>;
  execute(
    toolCallId: string,
    params: ToolArguments<TParameters>,
    signal: AbortSignal | undefined,
    onUpdate: AgentToolUpdateCallback<TDetails> | undefined,
    context: ExtensionToolContext,
  ): Promise<AgentToolResult<TDetails> & { isError?: boolean }>;
  /** `self`: the tool draws its own frame. */
  renderShell?: "default" | "self";
  /** Called by a terminal with the arguments, the theme and more. Undefined: as if there were no renderer. */
  renderCall?: UiFactory<UiComponent | undefined>;
  renderResult?: UiFactory<UiComponent | undefined>;
}

export interface Completion {
  value: string;
  label: string;
  description?: string;
}

export interface CommandDefinition {
  description?: string;
  getArgumentCompletions?: (prefix: string) => Completion[] | null | Promise<Completion[] | null>;
  handler: (args: string, context: ExtensionCommandContext) => void | Promise<void>;
}

export interface ShortcutDefinition {
  description?: string;
  handler: (context: ExtensionContext) => void | Promise<void>;
}

export type FlagDefinition = { description?: string } & (
  | { type: "boolean"; default?: boolean }
  | { type: "string"; default?: string }
);

export interface ExecOptions {
  /** Its abort ends the program and all that it has started. */
  signal?: AbortSignal;
  /** Milliseconds, after which they are ended likewise. */
  timeout?: number;
  cwd?: string;
  /** Bytes of both outputs together, after which they are ended likewise. Default: 16 MB for each. */
  maxBuffer?: number;
  /** Written to its standard input. Only beside `sandbox`. */
  input?: string;
  /** Variables besides those that it inherits. Only beside `sandbox`. */
  env?: Readonly<Record<string, string>>;
  /**
   * Starts it as `spawn` does, with the variables and limits of commands, and ends all that it leaves running. Rejects if the
   * sandbox refuses it, and in an isolated extension. Default: it runs outside, with the rights of the user.
   */
  sandbox?: SpawnOptions["sandbox"];
}

export interface ExecResult {
  /** The output up to its limit, like `stderr`. A program that writes more is ended. */
  stdout: string;
  stderr: string;
  /** 1 for a program that a signal ended, or that could not be started. */
  code: number;
  /** Whether it was ended for its time limit, its signal or its output. */
  killed: boolean;
  /** Whether it was ended for its output, which is not whole then. */
  truncated: boolean;
}

export interface SpawnOptions {
  /** Relative to the directory of the session. */
  cwd?: string;
  /** Variables besides those that it inherits. */
  env?: Readonly<Record<string, string>>;
  /** Megabytes of all its processes together, after which it is ended. Default: the limit of commands. */
  maxMemoryMb?: number;
  /** The variables of ours that it gets: those that commands of the model get, or these alone. Default `commands`. */
  inherits?: "commands" | readonly string[];
  /**
   * `false` runs it outside of the sandbox, where it has the rights of the user. An object says where it differs from the
   * sandbox of the model's commands; `readablePaths` are absolute paths that it can read although those cannot, in tau's own
   * directory or among temporary files. Credentials stay hidden. `session` runs it beside the model's commands, with their
   * loopback and temporary files; it ends with the session, so that it cannot be shared. `"session"` is where a command of the
   * model would run now, with its network and, in plan mode, without the right to write. Default: as theirs, apart from them.
   */
  sandbox?:
    | false
    | "session"
    | { network?: SandboxNetwork; allowedPaths?: readonly string[]; readablePaths?: readonly string[] }
    | { session: ProgramHosts };
}

export interface SessionNameOptions {
  /** Does nothing if the session was ever named, also while this call waits, or if its name was removed. Default false. */
  ifUnnamed?: boolean;
}

export interface AccessOptions {
  /** The tool or command that it is done for. Recorded with the decision. */
  name: string;
  /** Says in one sentence what would be done, for the person. */
  summary: string;
  /** Whether what is done shows in the access, or stays in a sandbox: plan mode then does not ask about it. Default false. */
  isContained?: boolean;
  /** Its abort withdraws the question, which denies. */
  signal?: AbortSignal | undefined;
}

/** Describes something that happened without a question and without a call of the model. `name` says by what, such as `hook`. */
export type AuditEntry = { readonly name: string } & (
  | { readonly kind: "command"; readonly command: string; readonly isSandboxed: boolean }
  | { readonly kind: "denied"; readonly toolCallId: string; readonly toolName: string; readonly reason: string }
);

export type AccessVerdict = { kind: "allowed" } | { kind: "denied"; reason: string };

export interface ToolInfo extends Pick<ToolDefinition, "name" | "description" | "parameters" | "promptGuidelines"> {
  label?: string;
  exposure: ToolExposure;
  namespace?: ToolDefinition["namespace"];
  annotations?: ToolDefinition["annotations"];
  /** Missing for isolated extensions, which cannot be given functions. */
  reachesTools?: ToolDefinition["reachesTools"];
  sourceInfo: SourceInfo;
}

/** Where something comes from. */
export interface SourceInfo {
  path: string;
  source: string;
  scope: "user" | "project" | "temporary";
  origin: "package" | "top-level";
  baseDir?: string;
}

export type MessageRenderer = UiFactory<UiComponent | undefined>;
export type EntryRenderer = UiFactory<UiComponent | undefined>;
export type MarkdownTransformer = (markdown: string, context: Record<string, unknown>) => string;

export interface ToolRenderers {
  renderShell?: "default" | "self";
  renderCall?: UiFactory<UiComponent | undefined>;
  renderResult?: UiFactory<UiComponent | undefined>;
}
export type ToolRendererResolver = (
  toolName: string,
  next: () => ToolRenderers | undefined,
) => ToolRenderers | undefined;

/** Lets extensions of one session talk to each other. */
export interface EventBus {
  on(channel: string, handler: (data: unknown) => void): () => void;
  emit(channel: string, data: unknown): void;
}

/** The functions that `open` of `shared` can use. */
export interface SharedHost {
  /** Like `ExtensionAPI.spawn`. The program belongs to the resource, whose `close` has to end it. */
  spawn: ExtensionAPI["spawn"];
}

/** A resource that `shared` opens. */
export interface SharedResource {
  /** Called once, when nobody uses the resource any more. At most 5 seconds are waited for it. */
  close(): void | Promise<void>;
}

/** Declares a signature for each event: a generic one would not know the literals that a handler answers with. */
type On = Signatures extends Record<string, infer Signature> ? Intersect<Signature> : never;
type Signatures = {
  [Name in ExtensionEventName]: (name: Name, handler: ExtensionHandler<Name>) => () => void;
};
type Intersect<Union> = (Union extends unknown ? (value: Union) => void : never) extends (value: infer All) => void
  ? All
  : never;

export interface ExtensionAPI {
  /** Returns how to stop. An unknown name is reported once; its handler is never called. */
  on: On;

  registerTool(tool: ToolDefinition): void;
  registerCommand(name: string, command: CommandDefinition): void;
  /** A key as in `keybindings.json`, such as `ctrl+shift+p`. */
  registerShortcut(key: string, shortcut: ShortcutDefinition): void;
  /** `--name` on the command line. */
  registerFlag(name: string, flag: FlagDefinition): void;
  getFlag(name: string): boolean | string | undefined;
  registerMessageRenderer(customType: string, renderer: MessageRenderer): void;
  registerEntryRenderer(customType: string, renderer: EntryRenderer): void;
  registerMarkdownTransformer(transformer: MarkdownTransformer): void;
  registerToolRenderer(resolver: ToolRendererResolver): void;
  registerProvider(name: string | ({ id: string } & ProviderConfig) | NativeProvider, config?: ProviderConfig): void;
  unregisterProvider(name: string): void;
  /**
   * Adds a server of MCP, with the keys of an entry in `mcp.json`. A server of a file with the same name is used instead. The user
   * is asked before it is first used, as about a server of a project.
   */
  registerMcpServer(name: string, config: Record<string, unknown>): void;
  unregisterMcpServer(name: string): void;
  getMcpServers(): readonly { name: string; config: Record<string, unknown>; extensionPath: string }[];
  /**
   * Brings a platform: accounts of the setting `gateway.channels` can have this type. A gateway uses what extensions of the user
   * register while they load, for as long as the account is open. Has no effect in an isolated extension.
   */
  registerChannel(type: string, channel: ChannelType): void;
  /** Adds a model that can be selected and chooses another model for every request. The same provider and id replaces it. */
  registerVirtualModel<TState = unknown>(model: VirtualModel<TState>): void;
  unregisterVirtualModel(provider: string, id: string): void;

  sendMessage(message: CustomMessageDraft, options?: SendMessageOptions): void;
  sendUserMessage(content: string | (TextContent | ImageContent)[], options?: SendUserMessageOptions): void;
  /** State of the extension in the log. The model never sees it. */
  appendEntry(customType: string, data?: unknown): void;
  setSessionName(name: string, options?: SessionNameOptions): void;
  getSessionName(): string | undefined;
  setLabel(entryId: string, label: string | undefined): void;
  exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
  /**
   * Starts a program that keeps running and is talked to over pipes, in a sandbox of its own. It is ended with everything
   * that it started when the extension ends, also if tau is killed. Whether it may be started is decided before: by `access`
   * of the tool that needs it, or by a question. Rejects in an isolated extension.
   */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<Program>;
  /**
   * Opens a session that works for this one: with at most its authority, from its budget, and listed as its child. Questions of
   * the child are asked where this session is shown. Rejects in an isolated extension.
   */
  openChild(options: ChildOptions): Promise<ChildSession>;
  /**
   * Returns a signal that aborts when an abort or the end of this session ends its children, for work that prepares some. Each
   * abort has a signal of its own: get it before the work begins.
   */
  getChildrenSignal(): AbortSignal;
  /**
   * Does work during which the run of this session only waits for others, such as its children. If runs wait for each other
   * here, as in a gateway, others may run meanwhile; it resolves when this run may continue.
   */
  whileWaiting<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Writes a text that is too long for a result to a file that the model may read. Resolves with its path; undefined if it
   * could not be written. Rejects in an isolated extension.
   */
  keepText(text: string): Promise<string | undefined>;
  /** Writes an image to a file that the model may read. See `keepText`. */
  keepImage(image: Pick<ImageContent, "data" | "mimeType">): Promise<string | undefined>;
  /**
   * Returns for how many milliseconds this session has waited for answers of a person, all in all: to questions of the policy and to
   * dialogs. Time limits leave them out. Always 0 in an isolated extension.
   */
  getPersonWaitMs(): number;
  /** Resolves with the agents that children can be opened with, sorted by name, as their files are now. */
  getAgents(): Promise<AgentInfo[]>;
  /**
   * Asks the policy of the session, and the person where it says so, whether all of this may be done, as before a call of the model.
   * An extension runs with the rights of the user; it calls this before it does something for a model. Rejects in an isolated
   * extension.
   */
  requestAccess(access: readonly AccessRequest[], options: AccessOptions): Promise<AccessVerdict>;
  /**
   * Writes into the log of the session and into the audit that a command was run which nobody was asked about, or that a call of
   * the model was denied by something else than the policy. Rejects if that is not possible, and in an isolated extension.
   */
  audit(entry: AuditEntry): Promise<void>;
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  /**
   * Resolves with the tools that this session may use and that requests do not list: a model calls them by name. Features and
   * extensions that handle `tools_discover` register theirs first, for which at most 5 seconds are waited. Empty if the
   * session has no tool that calls them.
   */
  findTools(): Promise<ToolInfo[]>;
  /** Unknown and hidden tools are ignored. */
  setActiveTools(names: string[]): void;
  /** The directory of the session. */
  getCwd(): string;
  getSettings(): Settings;
  getCommands(): SlashCommandData[];
  /** False without a key for the model's provider. */
  setModel(model: Model): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  /** Writes into the debug log, if the session has one. Also works after the session has ended. */
  log(level: ToolLogLevel, message: string): void;
  getPermissionMode(): PermissionMode;
  /**
   * Turns plan mode on, in which nothing can be written, or off again. Turning it off is for when a person said so. Rejects where
   * the project or the session that started this one wants it, and in an isolated extension.
   */
  setPlanMode(isOn: boolean): Promise<void>;
  readonly events: EventBus;
  /**
   * Resolves with the resource of this key, which all sessions of the process share: `open` is called for the first of them,
   * and others that ask meanwhile wait for the same one. It is closed when the last session that asked for it ends or reloads
   * its extensions. If `open` fails, nothing is kept and the next call tries again. Keys belong to the extension: another one
   * with the same key has a resource of its own. Rejects in an isolated extension, whose process has one session.
   */
  shared<T extends SharedResource>(key: string, open: (host: SharedHost) => T | Promise<T>): Promise<T>;
}

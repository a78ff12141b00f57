/** The static description of a feature. Its code is loaded when something of it is first used. */
import type { AuthStorage } from "@tau/config/auth";
import type { AgentTool } from "@tau/agent";
import {
  type SettingFields,
  type Settings,
  resolveFields,
  type ResolvedFields,
  type SettingsManager,
} from "@tau/config/settings";
import type { PermissionMode } from "@tau/protocol";
import type { Syntax } from "@tau/tools";
import type { ExtensionContext } from "./context.ts";
import type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "./api.ts";

/** The kinds of tools, by which documents list them. */
export type ToolCategory = "files" | "runtime" | "code" | "coordination" | "external" | "memory";

/** The description of a tool of a feature. Its `execute` is in the code that `Feature.load` gives. */
export interface FeatureTool extends DescribedFeatureTool {
  readonly category: ToolCategory;
  /** Describes it for a session there, where that differs. Called when the session opens, so that it must be quick. */
  readonly describeAt?: (place: FeaturePlace) => Partial<Pick<ToolDefinition, "description" | "parameters">>;
  /** Other names that a call of it may have. No request lists them. */
  readonly aliases?: readonly string[];
  /** See `DescribedTool.isContained`. */
  readonly isContained?: boolean;
  /** Permission modes in which the requests of a session list it, unless that is a child; others depend on `exposure`. */
  readonly listedIn?: readonly PermissionMode[];
  /** Whether it is found only where others can be found: it alone is no reason for a search. Default false. */
  readonly isFoundBeside?: boolean;
  /** See `AgentTool.callsNamedTool`. */
  readonly callsNamedTool?: boolean;
  /**
   * Whether sessions here have it, listed or found, although nothing names it. Called when a session opens and with each new list,
   * so that it must be quick. Default: always.
   */
  readonly isActive?: (place: SessionPlace) => boolean;
  /**
   * Only for a tool whose calls make calls of the others: describes it beside the tools of the session, and says whether requests
   * list these too. Pure, and equal for equal tools and settings.
   */
  readonly describeBeside?: DescribeBeside;
  /**
   * Only for a tool that finds or calls tools which requests do not list: it is there in sessions that have such tools, and only
   * together with the other one. Returns its description; `kinds` says in a few words each what can be found.
   */
  readonly describeForFound?: (kinds: readonly string[]) => string;
}

/** See `FeatureTool.describeBeside`. `hides`: requests do not list the others, which can be called all the same. */
export type DescribeBeside = (
  tools: readonly Pick<AgentTool, "name" | "description" | "parameters">[],
  settings: Settings,
) => { readonly description: string; readonly hides: boolean };

type DescribedFeatureTool = Pick<
  ToolDefinition,
  | "name"
  | "label"
  | "description"
  | "parameters"
  | "access"
  | "touches"
  | "shows"
  | "readOnly"
  | "summarise"
  | "promptSnippet"
  | "promptGuidelines"
  | "executionMode"
  | "prepareArguments"
  | "exposure"
  | "reachesTools"
>;

export interface FeatureCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
}

/** The directories and settings that a session or a command of the program works with. */
export interface FeaturePlace {
  readonly cwd: string;
  readonly agentDir: string;
  readonly settings: SettingsManager;
  /** The environment of the session: that of the process, unless the session was given another one. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether programs can be started. False for a tenant where there is no sandbox. */
  readonly canStartPrograms: boolean;
  /** Whether `agentDir` is removed with the session, so that a feature can keep no files. Default false. */
  readonly isTemporary?: boolean;
  /** Opens the stored keys and logins. */
  openAuth(): Promise<AuthStorage>;
}

/** The place of a session whose extensions are loaded. */
export interface SessionPlace extends FeaturePlace {
  /** Lists the servers of MCP that extensions have registered. */
  listMcpServers(): readonly { name: string; config: Readonly<Record<string, unknown>> }[];
  /** Whether a role such as `smol` has a model of its own. Without one it stands for the default model. */
  hasRole(role: string): boolean;
}

/** A command of the program, such as `tau mcp`. */
export interface ProgramCommand {
  readonly name: string;
  /** For the list of commands, without a period. */
  readonly summary: string;
  /**
   * A line for each subcommand, or a single one: `tau mcp add NAME [--url URL] [COMMAND...]  Add a server`. Capitals stand for
   * arguments, brackets for what is optional, dots for one or more, and two spaces begin the summary.
   */
  readonly usage: readonly string[];
  /** `failed` gives the exit code 1, for a failure that was reported already. Throws an error with a message for people. */
  run(context: ProgramContext): Promise<"failed" | void>;
}

export interface ProgramContext extends FeaturePlace {
  /** The name of the subcommand; empty if there is none. */
  readonly subcommand: string;
  /** In the order of the usage line. */
  readonly positionals: readonly string[];
  has(flag: string): boolean;
  /** The value of a flag; of one that is repeated, the last. */
  value(flag: string): string | undefined;
  /** All values of a flag that may be repeated. */
  values(flag: string): readonly string[];
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  out(text: string): void;
  err(text: string): void;
  /** Asks for a line, which is not shown if it is `hidden`. Undefined where nobody can answer. */
  readonly ask:
    | ((question: string, options?: { hidden?: boolean; signal?: AbortSignal }) => Promise<string | undefined>)
    | undefined;
  /**
   * Runs work with the API of extensions, in a session without a log, which ends with the work. Its dialogs are questions on the
   * terminal.
   */
  withSession<T>(
    work: (tau: ExtensionAPI, context: ExtensionContext) => Promise<T>,
    options?: ProgramSessionOptions,
  ): Promise<T>;
}

/** The parameters of a session that a command of the program works with. */
interface ProgramSessionOptions {
  /**
   * A model as users write it; `true`: that of a new session of the user. The session then has the tools, the resources and the
   * policy of print mode, and `withSession` rejects if there is no such model. Default: no model.
   */
  readonly model?: true | string;
}

/** How a feature gives the tools of a session the syntax of source files. */
export interface FeatureSyntax {
  /** See `Syntax.knows`. */
  knows(path: string, place: FeaturePlace): boolean;
  /** See `Syntax.isShownByRead`. */
  isShownByRead(place: FeaturePlace): boolean;
  /** Loads its code, when a file is first parsed. It is closed with the session. */
  open(
    place: FeaturePlace,
    ports: Pick<ExtensionAPI, "spawn">,
  ): Promise<Pick<Syntax, "getOutline"> & { close(): Promise<void> }>;
}

/** A row of `tau doctor`. */
export interface DoctorCheck {
  readonly name: string;
  check(place: FeaturePlace): Promise<DoctorResult>;
}

export interface DoctorResult {
  readonly status: "ok" | "warn" | "fail";
  readonly says: string;
  /** Says what to do, unless the status is `ok`. */
  readonly fix?: string;
}

/**
 * A capability beyond the core, written against the API of extensions. Its names give way: a tool or a slash command of an
 * extension with the same name is used instead.
 */
export interface Feature {
  /** For the setting `features.NAME`, and for people. */
  readonly name: string;
  /** A sentence for people. */
  readonly summary: string;
  readonly tools?: readonly FeatureTool[];
  readonly commands?: readonly FeatureCommand[];
  /** Settings by their first names. They are in the reference, the schema and `/settings` like all others. */
  readonly settings?: SettingFields;
  readonly programCommands?: readonly ProgramCommand[];
  readonly doctor?: readonly DoctorCheck[];
  readonly syntax?: FeatureSyntax;
  /** Whether a session here has the feature. Called when it opens, so that it must be quick. Default: always. */
  isOffered?(place: FeaturePlace): boolean;
  /** Whether its code is loaded when a session opens, because something of it must be known by then. Default: never. */
  opensWithSession?(place: SessionPlace): boolean;
  /** Whether a prompt loads its code, before handlers of `input` get it. Called with each prompt, so that it must be quick. Default: never. */
  loadsForPrompt?(prompt: string, place: SessionPlace): boolean;
  /** Whether its code is loaded by the first call that may write or execute; see `before_files_change`. Default: never. */
  loadsBeforeChanges?(place: SessionPlace): boolean;
  /** Permission modes in which its code is loaded, when the session opens in one or changes to it. Default: none. */
  readonly loadsIn?: readonly PermissionMode[];
  /**
   * Says in a few words which tools it may have besides those of its description; undefined: none. Synchronous and cheap. Its
   * code is loaded by the first search for tools, and registers them when it handles `tools_discover`.
   */
  finds?(place: SessionPlace): string | undefined;
  /**
   * Lists the names before the colon of mentions (`@NAME:REST`) that it reads. Synchronous and cheap. Its code is loaded by the
   * first of them, and handles `mention_read` and `mention_complete`.
   */
  mentions?(place: SessionPlace): readonly string[];
  /** Loads the code for a session there. It must register the tools and the commands of the description. */
  load(place: FeaturePlace): Promise<ExtensionFactory>;
}

/** The current settings of a feature, which its description has as `settings`. */
export const getFeatureSettings = <F extends SettingFields>(
  tau: Pick<ExtensionAPI, "getSettings">,
  settings: F,
): ResolvedFields<F> => resolveFields(settings, tau.getSettings());

/** A feature whose code was loaded. */
export interface LoadedFeature {
  readonly name: string;
  readonly factory: ExtensionFactory;
}

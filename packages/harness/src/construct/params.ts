/** The parameters of `createAgentSession`. */
import type { StreamFn, ThinkingLevel } from "@tau/agent";
import type { Clock, Ids, Model, ToolChoice } from "@tau/ai";
import type { LifecycleEvent, PermissionMode } from "@tau/protocol";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { DebugLog } from "../observe/debug-log.ts";
import type { ExtensionsParams, Feature } from "@tau/extensions";
import type { ChannelBinding, GivenTool } from "@tau/extensions/internal";
import type { Audit, Decide, PolicyExtension } from "@tau/policy";
import type { ResourceLoader, ResourceLoaderOptions } from "@tau/config/resources";
import type { AdmitRun } from "../agent-session/agent-session.ts";
import type { AskChoice } from "../agent-session/approvals.ts";
import type { FileAuthority } from "../agent-session/named-files.ts";
import type { AfterCrash } from "../agent-session/after-crash.ts";
import type { LiveSessions } from "../agent-session/live-sessions.ts";
import type { BudgetLimits } from "../budget/budget.ts";
import type { SandboxSettings } from "@tau/sandbox";
import type { CommandTerminal, Files } from "@tau/tools";
import type { Storage } from "@tau/tools/storage";
import type { SessionManager } from "../session/session-manager.ts";
import type { Settings, SettingsManager } from "@tau/config/settings";

export interface AgentSessionParams {
  /** Where commands run and relative paths begin. Default: the working directory of the process. */
  cwd?: string;
  /** The project whose settings, trust, remembered permissions, resources and extensions apply. Default: `cwd`. */
  projectDirectory?: string;
  /** The project whose remembered permissions apply, if another one: that of which `cwd` is a worktree. Default: `projectDirectory`. */
  permissionsDirectory?: string;
  /** Absolute paths outside that tools and commands may read without a question. Default: none. */
  readablePaths?: readonly string[];
  /**
   * Names whose files the session reads: with `user`, the settings, credentials, models, resources and remembered permissions
   * in `agentDir`, where its log is then kept too; with `project`, the settings and resources of `projectDirectory`, such as
   * AGENTS.md. Default: nothing, but the user's in an `agentDir` that is given.
   */
  use?: readonly ("user" | "project")[];
  /**
   * `tenant`: a session for somebody else, which shares nothing with the other sessions of the process. Its tools work below `cwd`
   * only, its commands in a sandbox that shows nothing else of the machine (without one, no tool that starts programs is offered), its
   * keys are those of the parameters, and its temporary files are its own. Its children are part of it. Throws `invalid_input` for a
   * parameter that contradicts it. Default: as one of the user's own.
   */
  isolation?: "tenant";
  /**
   * The environment: variables of commands, keys of providers and of tools. Default: that of the process; of a tenant, a `PATH` and a
   * temporary `HOME`.
   */
  env?: Readonly<Record<string, string>>;
  /**
   * Where settings, credentials, models and sessions of the user are. Default: `TAU_DIR`, else `~/.tau`, with `user` in `use`, and
   * to find a `sessionId`.
   */
  agentDir?: string;
  /**
   * An agent of `agentDir` with its own prompt, tools and resources. Default: that of the session, else `agentDir` itself.
   * Throws `invalid_input` for a session that has another one.
   */
  agentName?: string;
  authStorage?: AuthStorage;
  modelRegistry?: ModelRegistry;
  /** A model, or what stands for one: `provider/id:thinking`, any part of it, or `@role`. Default: the session's, else the settings'. */
  model?: Model | string;
  /** Models of roles for this session and its children, by name: instead of those of the settings. Default: none. */
  roles?: Readonly<Record<string, string>>;
  /** Only models of this provider: `model` is one of them; without `model`, the provider's default. Default: of any. */
  provider?: string;
  /**
   * Patterns of the models to choose from, such as `anthropic/*`: those of `cycle_model`, and the model of a new session.
   * Default: the setting `enabledModels`.
   */
  models?: readonly string[];
  /** `none` is read as `off`. Default: the session's, else the settings'. */
  thinkingLevel?: ThinkingLevel | "none";
  /** Built-in tools by name or by a pattern such as `*grep*`, or tools. Default: those of a coding agent. */
  tools?: readonly (GivenTool | string)[];
  /** Tools besides; one with the name of a built-in tool takes its place. */
  customTools?: readonly GivenTool[];
  /**
   * Where the conversation is kept. A promise is waited for. Default: in memory; a new file for this directory if the user's files
   * are used, or if the settings have a `sessionDir`.
   */
  sessionManager?: SessionManager | Promise<SessionManager>;
  /**
   * Where the conversation, the audit and remembered permissions are kept, in place of files: a session of its own
   * for each agent. Not with `sessionManager`. Default: as `sessionManager` says.
   */
  storage?: Storage;
  /** The id of a session of `storage`, which is continued, or begun if there is none. Default: a new id. */
  session?: string;
  settingsManager?: SettingsManager;
  resourceLoader?: ResourceLoader;
  /** Which resources are loaded, without `resourceLoader`. */
  resources?: Pick<
    ResourceLoaderOptions,
    "contextFiles" | "lists" | "skillPaths" | "discoverSkills" | "promptPaths" | "discoverPrompts"
  >;
  /** Default: messages that were queued when a process was killed are refused with a notice. */
  afterCrash?: AfterCrash;
  /** Called before each run. Default: runs begin at once. */
  admitRun?: AdmitRun;
  /**
   * Whether a request that the provider refuses because it is busy (`overloaded`, `rate_limited`) is repeated for ten
   * minutes, unless `retry.maxRetries` is set. Default false: three times, as after other failures.
   */
  waitsForBusyProvider?: boolean;
  /** The session that started this one. If it is open in this process, this one ends and spends with it. */
  parentSessionId?: string;
  /** The id of a session to continue, of those of the user for `cwd`. Throws `session_not_found` when there is none. */
  sessionId?: string;
  /** Ends the session's runs; its reason `gateway_disconnected` says that nobody is there any more. */
  abortSignal?: AbortSignal;
  onEvent?: (event: LifecycleEvent) => void;

  /** The sandbox of commands, over the settings. A trusted project can make it stricter. */
  sandbox?: Partial<SandboxSettings>;

  /** Which extensions the session has. Default: none. */
  extensions?: ExtensionsParams;
  /** The features of the session, such as `todo()` of `@tau/features`. The setting `features` turns them off. Default: none. */
  features?: readonly Feature[];

  /** The channel that the session serves: its tools, and where its conversation is. Tools find that in their context. */
  binding?: ChannelBinding;
  /** Only these tools are shown, by name or pattern. Default: what the settings say. */
  allowedTools?: readonly string[];
  /** Changes the default tools after the setting `defaultTools`, in the same form: `+name` adds one, `-name` leaves one out. */
  defaultTools?: readonly string[];
  /** Not these tools, besides what the settings say. */
  excludedTools?: readonly string[];
  /** Whether the first request of each run may, must or must not call tools, or which one it must call. Default: it may. */
  toolChoice?: ToolChoice;
  /** How the calls of one answer are executed. Default: the setting `tools.execution`. */
  toolExecution?: Settings["tools"]["execution"];
  /** Scopes that tools with a `requiredScope` need. Default: scopes are not checked. */
  scopes?: readonly string[];
  /** Directories besides `cwd` that tools may work in. */
  additionalDirectories?: readonly string[];
  /**
   * Comes between the tools and the disk, for a surface that knows newer content than the disk, such as an editor. It gets files that
   * ask the policy, and must ask them before it gives any content. Default: tools use these files.
   */
  wrapFiles?: (files: Files) => Files;
  /**
   * Where commands run if the sandbox is off, such as a terminal of an editor: nothing contains them there. In the sandbox, in the
   * background, and outside by permission they run here. Default: all run here.
   */
  commandTerminal?: CommandTerminal;
  /**
   * Whom to ask where the policy asks. With `{ later: store }` the run ends with the question, and is resumed with the answer.
   * Default: nobody is there, and what asks is denied.
   */
  ask?: AskChoice;
  /**
   * Whose rights apply to files that prompts and commands name: `person` may show everything but credentials, `model` what its
   * tools may open. Use `model` wherever prompts come from somebody who is not at this machine. Default `person`.
   */
  fileAuthority?: FileAuthority;
  /**
   * Default: the workspace is free, reading and writing outside asks, credentials are denied, and commands are judged by
   * what they do. `extendPolicy` of `@tau/policy` adds a rule to that.
   */
  decide?: Decide | PolicyExtension;
  /** The profile of the policy, over that of the settings: `safe`, `balanced` or `permissive`. */
  policyProfile?: string;
  /** How much the session does without a question. Default: the session's if it is stricter than the settings', else theirs. */
  permissionMode?: PermissionMode;
  /** Whether the session begins in plan mode, on top of `permissionMode`: nothing can be written. Default: as it was left. */
  planMode?: boolean;
  /** Default: what was asked for or denied is written into the session. */
  audit?: Audit;
  /** For this session and all that it starts, as long as it lives. What a run may use is in the settings. */
  budgets?: BudgetLimits;
  /** Takes the place of the default prompt. */
  systemPrompt?: string;
  appendSystemPrompt?: readonly string[];
  /**
   * tau's documents and examples. The default prompt names the directory of the documents to models that can read files, and
   * tools may read both without a question. Default: none.
   */
  documents?: { directory: string; examples?: string };
  /**
   * Whether the project's settings may execute and redirect, and its system prompt, skills and templates are used. Default:
   * the setting `defaultProjectTrust`, and what the user stored with `writeTrust`, if the project has not changed since.
   */
  projectTrusted?: boolean;
  /** Follow changes of settings, models and resources while the session is open. Default: if any of them are read. */
  watch?: boolean;
  /**
   * Asks a model instead of `streamSimple`. Keys are then its own business. Its options have the run's limits (no
   * retries, the setting `httpIdleTimeoutMs`), the session's id, and the transport and thinking budgets of the settings.
   */
  streamFn?: StreamFn;
  /** Called by the tool `gateway_reload` besides: the gateway reads its settings again, and answers with what changed. */
  reloadGateway?: () => Promise<readonly string[]>;
  /** Gets everything that happens but the deltas, without secrets. */
  debugLog?: DebugLog;
  /** The open sessions among which a parent is found. Default: those that were created without a host. */
  sessions?: LiveSessions;
  clock?: Clock;
  ids?: Ids;
}

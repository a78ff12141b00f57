/** The parts that `createAgentSession` makes a session of. */
import type { StreamFn } from "@tau/agent";
import type { Clock, Ids, ToolChoice } from "@tau/ai";
import type { Availability } from "@tau/config/internal";
import type { ExtensionSessionPort } from "@tau/extensions";
import type { ExtensionSlot, SessionFeatures } from "@tau/extensions/internal";
import type { Permissions, WorkspaceRoots } from "@tau/policy/internal";
import type { Files, Jobs, ToolLogLevel } from "@tau/tools";
import type { Budget } from "../budget/budget.ts";
import type { PolicyLimits } from "./session-agent.ts";
import type { Tracer } from "../observe/trace.ts";
import type { SessionKeys } from "../request/session-keys.ts";
import type { ResourcePort } from "../prompt/expand-port.ts";
import type { Publisher } from "../run/publisher.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AfterCrash } from "./after-crash.ts";
import type { PolicyParts } from "./call-judge.ts";
import type { LiveSession, LiveSessions } from "./live-sessions.ts";
import type { FirstModel } from "./model-choice.ts";
import type { FileAuthority } from "./named-files.ts";
import type { Notice, Notices } from "./notices.ts";
import type { PromptsParts } from "./prompts.ts";
import type { Services } from "./services.ts";
import type { ToolSources } from "./shown-tools.ts";

export interface SessionParts {
  cwd: string;
  roots: WorkspaceRoots;
  /** Whether the user trusts the instructions of a directory that was added. */
  isTrustedDirectory: (directory: string) => Promise<boolean>;
  sessionManager: SessionManager;
  services: Services;
  model: FirstModel;
  /** Over the setting `enabledModels`. */
  modelPatterns: readonly string[] | undefined;
  tools: ToolSources;
  /** Starts the programs of extensions. */
  spawn: ExtensionSessionPort["spawn"];
  policy: PolicyParts;
  permissions: Permissions;
  getPolicyLimits: () => PolicyLimits;
  extensions: ExtensionSlot;
  features: SessionFeatures;
  expandPort: ResourcePort;
  createMentionReader: PromptsParts["createMentionReader"];
  /** The rights with which files are read that prompts and commands name. */
  fileAuthority: FileAuthority;
  /** Everything but credentials. */
  personFiles: Files;
  /** Which models and keys are not used for a while. */
  availability: Availability;
  /** The keys of the settings. */
  keys: SessionKeys;
  /** Asks a model, with keys and headers. */
  request: StreamFn;
  /** See `AgentSessionParams.toolChoice`. */
  toolChoice: ToolChoice | undefined;
  /** See `AgentSessionParams.waitsForBusyProvider`. */
  waitsForBusyProvider: boolean;
  /** Keeps what is too long for the model in a file, and answers with its path. */
  keep: (text: string) => Promise<string | undefined>;
  /** Keeps bytes in a file with this extension, and answers with its path. */
  keepBytes: (bytes: Uint8Array, extension: string) => Promise<string>;
  restoreResults: (args: Record<string, unknown>) => Promise<void>;
  budget: Budget;
  parent: LiveSession | undefined;
  sessions: LiveSessions;
  abortSignal: AbortSignal | undefined;
  afterCrash: AfterCrash | undefined;
  /** Problems of the files that the session is made of. */
  problems: readonly Notice[];
  publisher: Publisher;
  notices: Notices;
  trace: { tracer: Tracer | undefined; agentName: string | undefined };
  clock: Clock;
  ids: Ids;
  /** Writes what a tool logs into the debug log. */
  logTool: ((tool: string, level: ToolLogLevel, message: string) => void) | undefined;
  /** The commands of the model that run in the background. */
  jobs: Jobs;
  /** Reads again what the session does not read itself; answers with what changed. */
  reloadGateway: (() => Promise<readonly string[]>) | undefined;
  /** Ends what was made for this session, and releases the log. */
  close: () => Promise<void>;
}

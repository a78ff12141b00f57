/** The answers to commands, where they have a name. */
import type { Model, Usage } from "@tau/ai";
import type { SessionEntry, SessionHeader } from "./entry.ts";
import type { JobSummary } from "./job.ts";
import type { ModelUse } from "./model-use.ts";
import type { PermissionData } from "./permission-mode.ts";
import type { RunEnd, TerminationReason } from "./run-end.ts";
import type { UsageLimit } from "./usage-report.ts";

export type ThinkingLevelName = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
export type QueueModeName = "all" | "one-at-a-time";

/** A role, which is chosen as `@NAME`. */
export interface RoleData {
  name: string;
  /** Its model as `provider/id`. Absent if it has none: then it is the default model. */
  model?: string;
  /** Absent if the role has none. */
  thinkingLevel?: ThinkingLevelName;
  /** Why its model cannot be used. */
  problem?: string;
}

/** Without headers, which may hold secrets. */
export type ModelData = Omit<Model, "headers">;
export interface StateData {
  model?: ModelData;
  /** Why the model that the settings ask for cannot be used, where there is none. */
  modelProblem?: string;
  /** The model and key that requests use, if those have changed since the model was selected. */
  used?: ModelUse;
  /** The role that the model was chosen by. Absent if a model was named. */
  role?: string;
  thinkingLevel: ThinkingLevelName;
  isStreaming: boolean;
  isCompacting: boolean;
  steeringMode: QueueModeName;
  followUpMode: QueueModeName;
  sessionFile?: string;
  sessionId: string;
  sessionName?: string;
  /** The first line of the log. */
  header: SessionHeader;
  cwd: string;
  /** The directories besides `cwd` in which tools may read and write without a question. */
  directories: string[];
  autoCompactionEnabled: boolean;
  autoRetryEnabled: boolean;
  messageCount: number;
  pendingMessageCount: number;
  /** The paths of the context files that are sent to the model, such as `AGENTS.md`. The last has precedence. */
  contextFiles: string[];
  /** The sandbox as far as it is known: nothing is tried for this. */
  sandbox: SandboxData;
  permissions: PermissionData;
  /** The commands that run in the background, oldest first. */
  jobs: JobSummary[];
}

/** Where the model's commands run. */
export interface SandboxData {
  /** The mode in the settings. `auto`: in the sandbox where it works. `required`: in the sandbox, or not at all. */
  mode: "off" | "auto" | "required";
  /** `untried`: no command has run yet. */
  state: "off" | "untried" | "works" | "unavailable";
  /** Why it is unavailable, if that is known. */
  reason?: string;
  /** Describes how to make it available. */
  fix?: string;
}

/** The policy in effect, after the settings of the user, of a trusted project and the flags. */
export interface PolicyData {
  /** Such as `balanced`. */
  profile: string;
  /** All profiles by name, each with what it allows. */
  profiles: { name: string; description: string }[];
  permissions: PermissionData;
  /** Decides about a capability of an extension that no list names: it is denied, asked for or allowed. */
  mode: "strict" | "prompt" | "permissive";
  /** How commands are judged. */
  exec: {
    /** Commands of this tier and above are denied. */
    denyThreshold: "low" | "medium" | "high" | "critical";
    denyPatterns: string[];
    allowPatterns: string[];
  };
  sandbox: SandboxData;
  /** Rules that the user allowed for longer than a session and that apply here. `always`: in every directory. */
  rules: { rule: string; scope: "project" | "always" }[];
}

export interface StatsData {
  sessionFile?: string;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  /** US dollars. */
  cost: number;
  /** 0 to 1. */
  cacheHitRate: number;
  contextUsage?: { tokens: number; contextWindow: number; percent: number };
  /** The amounts that the run, or else the next one, may still spend. Amounts without a limit are missing. */
  budgetLeft?: BudgetLeftData;
  /** The limits of today and of this month, which all sessions share, if there are any. For clients with the scope `admin`. */
  costLimits?: readonly UsageLimit[];
}

export interface BudgetLeftData {
  /** Input and output together. */
  tokens?: number;
  /** US dollars. */
  cost?: number;
  turns?: number;
  timeMs?: number;
}

export interface CompactionData {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  estimatedTokensAfter: number;
  usage: Usage;
  details: unknown;
}

/** A directory that a person has added to the workspace. */
export interface AddedDirectoryData {
  /** Its real path. */
  path: string;
  /** All directories of the workspace besides the working directory. */
  directories: string[];
  /** Its context file, if it has one. The model gets it with the first call there once the directory is trusted. */
  instructions?: { path: string; trusted: boolean };
}

export interface BashData {
  output: string;
  /** Absent when the command was cancelled. */
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
}

export interface SlashCommandData {
  /** Without the slash. */
  name: string;
  description?: string;
  /** The arguments that a template takes, for people. */
  argumentHint?: string;
  source: "prompt" | "skill" | "extension";
  sourceInfo: { path: string; source: string; scope: "user" | "project"; origin: string; baseDir?: string };
}

export interface TreeNodeData {
  entry: SessionEntry;
  children: TreeNodeData[];
  label?: string;
}

/** How a prompt ended. */
export interface PromptEnd {
  /** Empty if the run has no answer: text before a tool call is none. */
  answer: string;
  end: RunEnd;
  /** There was nothing to say: the model chose silence, or an extension dealt with the prompt. */
  silent?: true;
}

export interface AnswerData extends PromptEnd {
  terminationReason: TerminationReason;
  /** Such as `length`, or the budget that ended the run. */
  detail?: string;
}

export interface SessionSummaryData {
  id: string;
  path: string;
  cwd: string;
  name?: string;
  firstMessage: string;
  messageCount: number;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  modifiedAt: string;
  parentSession?: string;
  /** The id of the session that started it for a task. */
  startedBy?: string;
}

/** A message that a search has found. */
export interface SearchHitData {
  session: SessionSummaryData;
  /** The entry to open; absent if a log of another program does not name it. */
  entryId?: string;
  /** A role, the name of a tool, or the kind of the entry. */
  author: string;
  /** ISO 8601. Absent if it is not known. */
  timestamp?: string;
  /** In one line; `marks` are pairs of positions in `text`, between which what was searched for is. */
  excerpt: { text: string; marks: [start: number, end: number][] };
}

export interface SearchData {
  /** Sessions that were used last come first, and of each its latest messages, three at most. */
  hits: SearchHitData[];
  /** Whether there may be more. */
  hasMore: boolean;
}

export interface SearchParams {
  /** Words, and phrases in quotes, that all have to be in one message. */
  text: string;
  /** Only messages from this time on, and before that. ISO 8601. */
  since?: string;
  until?: string;
  /** Only sessions in which a model answered whose `provider/id` contains this. */
  model?: string;
  /** Only sessions that cost as much, and no more. US dollars. */
  minCost?: number;
  maxCost?: number;
  /** Default 20; 100 at most. */
  limit?: number;
}

/**
 * How the result of a call is drawn. Of `file`, the argument `content` is what was written to `path`, and a `diff` in the
 * details takes its place where a file was replaced. Of `document`, the argument `content` is Markdown, which is shown whole and
 * before the call has ended. Of `places` and `step`, the details have what is drawn (`PlacesDetails` and `StepDetails` of
 * `@tau/protocol/surface`), and the text is for the model. Of `cell`, the arguments `code` and `language` are drawn as code while
 * they arrive, the text below it like that of `command`, and then the `result` in the details (`CellDetails`).
 */
export type ResultView =
  | "text"
  | "command"
  | "diff"
  | "file"
  | "document"
  | "excerpt"
  | "matches"
  | "list"
  | "image"
  | "places"
  | "step"
  | "cell";

export interface ToolData {
  name: string;
  label: string;
  description: string;
  /** How its results are drawn. */
  shows?: ResultView;
  /** Its calls change nothing. */
  readOnly: boolean;
  /** Whether the model is shown it. */
  active: boolean;
  /** Why it is not shown, where a layer left it out. */
  reason?: string;
}

export interface CompletionData {
  /** The completions replace `text` from here to the cursor. */
  from: number;
  items: { value: string; description?: string }[];
  /** Files are still being listed: asking again gives more or better completions. */
  incomplete?: true;
}

export interface TrustData {
  /** The project's directory. */
  path: string;
  trusted: boolean;
  /** The project's files that are used only when it is trusted. */
  files: string[];
  /** The content changed since the project was trusted. */
  changed: boolean;
  /** Identifies the content of the files, for `set_trust`. */
  digest: string;
  /** The changes, if they are known. */
  difference?: TrustDifference;
}

/** Files by their paths in the project. */
export interface TrustDifference {
  added: string[];
  changed: string[];
  removed: string[];
}

export interface ProviderData {
  name: string;
  /** Whether its models can be used now. */
  configured: boolean;
  modelCount: number;
  /** The name of its own login, if it has one. */
  login?: string;
  /** The id of the model that a session begins with. */
  defaultModel?: string;
}

export interface SettingData {
  /** Dotted, such as `retry.maxRetries`. */
  key: string;
  description: string;
  /** The type as TypeScript writes it. */
  type: string;
  /** All values that it can have, where they are few. */
  choices?: (string | number | boolean)[];
  /** The value in effect. Absent if there is neither a value nor a default. */
  value?: unknown;
  default?: unknown;
  /** The value in the user's own file. It applies if `origin` is `global`. */
  own?: unknown;
  /** Where the value comes from: a file, or the flags of this run. */
  origin: "default" | "global" | "project" | "run";
}

/** Describes what taking back, or doing again, writes into the files. */
export interface UndoData {
  /** The beginnings of the prompts that it is about. Empty: there is nothing to do. */
  prompts: string[];
  /** Relative to the directory of the session. */
  files: { path: string; kind: "created" | "changed" | "removed" }[];
  /** With any, nothing is written. The reason continues a sentence that begins with the path. */
  conflicts: { path: string; reason: string }[];
  /** Changed by the prompts, but not kept, so that it stays. */
  notKept: { path: string; reason: string }[];
  /** All of this for people. */
  summary: string;
  /** Unified, each file with a title. */
  diff: string;
  /** Equal for equal changes. */
  digest: string;
  /** Whether it was written. */
  done: boolean;
  /** The entry before the first of the prompts, for the conversation to go back to; null is before the first entry. */
  leafId?: string | null;
}

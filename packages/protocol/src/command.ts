/**
 * Everything that a surface may ask of a session or of its host, in one map: what a command takes and what it answers
 * with. RPC, the typed client, the terminal, the gateway and the page all use it.
 */
import type { ImageContent } from "@tau/ai";
import type { Approval, ApprovalAnswer } from "./approval.ts";
import type {
  ThinkingLevelName,
  QueueModeName,
  RoleData,
  ModelData,
  StateData,
  PolicyData,
  StatsData,
  CompactionData,
  AddedDirectoryData,
  BashData,
  SlashCommandData,
  TreeNodeData,
  AnswerData,
  SessionSummaryData,
  SearchData,
  SearchParams,
  ToolData,
  CompletionData,
  TrustData,
  ProviderData,
  SettingData,
  UndoData,
} from "./command-data.ts";
import type { SessionEntry } from "./entry.ts";
import type { JobData } from "./job.ts";
import type { SessionMessage } from "./message.ts";
import type { PermissionData } from "./permission-mode.ts";
import type { UsageReportData, UsageReportParams } from "./usage-report.ts";

/** The permission that a client needs to send a command. */
export type Scope = "read" | "write" | "approve" | "admin";

/**
 * `started`: the prompt is in the log and a run began with it. `queued`: it is in the log and waits for its turn.
 * `handled`: an extension dealt with it, and nothing is in the log.
 */
export type Disposition = "started" | "queued" | "handled";

interface Prompt {
  message: string;
  images?: ImageContent[];
}

type None = Record<never, never>;

/** The parts that may be left out of an exported page. `output` is what tools and commands have answered. */
export const exportParts = ["thinking", "images", "output"] as const;

export type ExportPart = (typeof exportParts)[number];

/** Where a file is written. */
interface ExportTarget {
  outputPath?: string;
  inExports?: boolean;
}

/**
 * `id`: of a message that is queued. Its entry has it as the `queueId` when the message is sent. `notices`: sentences
 * for whoever sent it, such as that a mentioned file was not read.
 */
type Accepted = { disposition: Disposition; id?: string; notices?: string[] };

/** A command that continues with another session, which the client shows from then on. */
type OtherSession = { sessionId: string; cancelled: boolean };

export interface Commands {
  /**
   * Reports the client's abilities. With `approvals` it answers questions of the policy; without, what needs an answer
   * is denied at once. With `ui` it answers dialogs of extensions; without, they are cancelled at once.
   */
  initialize: { params: { approvals?: boolean; ui?: boolean }; data: { approvals: boolean; ui: boolean } };
  /** While a run is in progress, `streamingBehavior` says where to queue the prompt; without it the prompt is refused. */
  prompt: { params: Prompt & { streamingBehavior?: "steer" | "followUp" }; data: Accepted };
  /** With `interrupt`, the current turn is aborted first. */
  steer: { params: Prompt & { interrupt?: boolean }; data: Accepted };
  /**
   * With `sender`, that is who wrote it: the model reads their name, nothing in it is expanded or executed, and the session has read
   * text of somebody else.
   */
  follow_up: { params: Prompt & { sender?: string }; data: Accepted };
  /**
   * Runs to the end and answers with the text of the answer. Only `prompt` is expanded. `input` is text that somebody else
   * wrote, such as standard input; `files` are paths of files that are attached, and must exist. A run that failed or was
   * ended fails the command, unless `outcome` is true.
   */
  execute: {
    params: { prompt: string; images?: ImageContent[]; input?: string; files?: string[]; outcome?: boolean };
    data: AnswerData;
  };
  abort: { params: None; data: null };
  clear_queue: { params: None; data: { steering: string[]; followUp: string[] } };
  edit_queued: { params: { id: string; message: string }; data: { id: string } };
  remove_queued: { params: { id: string }; data: { removed: boolean } };
  /** The answer to a question that outlives its run is kept until `resume`, or until the last answer if that has `resume`. */
  approve: { params: { approvalId: string; resume?: boolean } & ApprovalAnswer; data: null };
  /** The questions without an answer that calls wait for after their run. */
  get_questions: { params: None; data: { questions: Approval[] } };
  /** Begins a run with the calls that wait for an answer. They are judged again. */
  resume: { params: None; data: null };

  get_state: { params: None; data: StateData };
  get_messages: { params: None; data: { messages: SessionMessage[] } };
  get_session_stats: { params: None; data: StatsData };
  get_last_assistant_text: { params: None; data: { text: string | null } };
  get_commands: { params: None; data: { commands: SlashCommandData[] } };
  /**
   * With `since`: all entries after that one, in the order they were written. With `before`, `after` or `limit`: those of
   * the shown branch before or after an entry, else its last, at most `limit` and 1 MiB, oldest first. A page has one entry
   * at least, and is not the first if its first entry has a parent. Without any: all entries.
   */
  get_entries: {
    params: { since?: string; before?: string; after?: string; limit?: number };
    data: { entries: SessionEntry[]; leafId: string | null };
  };
  get_tree: { params: None; data: { tree: TreeNodeData[]; leafId: string | null } };
  get_fork_messages: { params: None; data: { messages: { entryId: string; text: string }[] } };
  /** With `paths`, a word that is neither a command nor a mention is completed as a path. */
  complete: { params: { text: string; cursor: number; paths?: boolean }; data: CompletionData };

  /**
   * Without `provider`, `modelId` is what people type, such as a part of a name, `provider/id:high`, with a thinking
   * level, or `@role`.
   */
  set_model: { params: { provider?: string; modelId: string }; data: ModelData };
  /** Null when there is no other. */
  cycle_model: {
    /** Default `forward`. */
    params: { direction?: "forward" | "backward" };
    data: { model: ModelData; thinkingLevel: ThinkingLevelName; isScoped: boolean } | null;
  };
  /**
   * `discover`: local servers are asked first. `scope`: those that `cycle_model` goes through, in their order; empty if
   * these are all of them.
   */
  get_available_models: {
    /** `last`: whether to find out which model the other sessions of the directory used last. */
    params: { discover?: boolean; last?: boolean };
    data: {
      models: ModelData[];
      scope: Pick<ModelData, "provider" | "id">[];
      /** All roles: the known ones first, then the others by name. */
      roles: RoleData[];
      last?: Pick<ModelData, "provider" | "id">;
    };
  };
  /** All providers, in order of preference. */
  get_providers: { params: None; data: { providers: ProviderData[] } };
  set_thinking_level: { params: { level: ThinkingLevelName }; data: null };
  /** Null when the model has only one. */
  cycle_thinking_level: { params: None; data: { level: ThinkingLevelName } | null };
  get_available_thinking_levels: { params: None; data: { levels: ThinkingLevelName[] } };
  set_steering_mode: { params: { mode: QueueModeName }; data: null };
  set_follow_up_mode: { params: { mode: QueueModeName }; data: null };
  set_auto_compaction: { params: { enabled: boolean }; data: null };
  set_auto_retry: { params: { enabled: boolean }; data: null };
  abort_retry: { params: None; data: null };
  compact: { params: { customInstructions?: string }; data: CompactionData };
  get_tools: { params: None; data: { tools: ToolData[] } };
  /** The tools that the model is shown from the next request on, by name. */
  set_tools: { params: { names: string[] }; data: { tools: ToolData[] } };

  bash: { params: { command: string; excludeFromContext?: boolean }; data: BashData };
  abort_bash: { params: None; data: null };

  /** The commands that the model started in the background: those that run, and the last that have ended. */
  list_jobs: { params: None; data: { jobs: JobData[] } };
  /** The end of what a job has written, or with `offset` the lines from there on, counted from 1. */
  read_job: { params: { id: string; offset?: number }; data: { job: JobData; output: string } };
  /** Ends a job. One that has ended stays as it is. */
  kill_job: { params: { id: string }; data: { job: JobData } };

  /**
   * Moves the leaf to an entry, or with null before the first. With `summarise`, the branch that is left is summarised
   * there.
   */
  navigate: {
    params: { entryId: string | null; summarise?: boolean; instructions?: string; label?: string };
    data: { leafId: string | null };
  };
  /**
   * Takes back what the last prompt did to the files, or with `entryId` all that does not belong to the branch that ends there
   * (null: all). Without `apply`, nothing is written. `digest` is that of such an answer: if it differs, nothing is written. With
   * `conversation`, the leaf moves to `leafId`.
   */
  undo: {
    params: { entryId?: string | null; apply?: boolean; digest?: string; conversation?: boolean };
    data: UndoData;
  };
  /** Does again what was taken back last. */
  redo: { params: { apply?: boolean; digest?: string }; data: UndoData };
  /** Without `label`, the label is removed. */
  set_label: { params: { entryId: string; label?: string }; data: null };
  /** A new session with a copy of the branch up to an entry. */
  branch: { params: { entryId: string }; data: OtherSession };
  /** A new session with a copy of the branch before a user message; answers with the text of that message. */
  fork: { params: { entryId: string }; data: OtherSession & { text: string } };
  clone: { params: None; data: OtherSession };
  /** `agent` is the name of an agent. Default: that of this session. */
  new_session: { params: { parentSession?: string; agent?: string }; data: OtherSession };
  /** A path, an id, or the beginning of an id. */
  switch_session: { params: { sessionPath: string }; data: OtherSession };
  set_session_name: { params: { name: string }; data: null };
  /**
   * With `redact`, what looks like a secret is left out. Without `outputPath`, the file is in the working directory, or
   * with `inExports` in the directory `exports` of the agent directory. The same for `export_jsonl`. `leaveOut` names what is
   * not in the page, besides the prompt and the tools, which are in no page that leaves anything out.
   */
  export_html: { params: ExportTarget & { redact?: boolean; leaveOut?: ExportPart[] }; data: { path: string } };
  export_jsonl: { params: ExportTarget & { redact?: boolean }; data: { path: string } };
  /** A file about this session for whoever looks into a problem, without secrets. `version` is that of the client. */
  write_bug_report: {
    params: ExportTarget & { description?: string; version?: string };
    data: { path: string };
  };
  /**
   * Copies a file to a new session of this directory, or with `keepsDirectory` of the one that the file names. If that is another
   * than this one, the session is not opened, and `elsewhere` tells where it is.
   */
  import_session: {
    params: { path: string; keepsDirectory?: boolean };
    data: OtherSession & { elsewhere?: { path: string; cwd: string } };
  };

  /**
   * The sessions of the working directory, or with `all` of every directory, or with `named` only those with a name. With
   * `children: false` without those that another session started for a task. Default order: the last used first.
   */
  list_sessions: {
    params: {
      query?: string;
      all?: boolean;
      named?: boolean;
      children?: boolean;
      sort?: "modified" | "created" | "name";
      cursor?: string;
      limit?: number;
    };
    data: { sessions: SessionSummaryData[]; cursor?: string };
  };
  /** Messages of the sessions of the working directory, or with `all` of every directory. */
  search_sessions: { params: SearchParams & { all?: boolean }; data: SearchData };
  /** Adds up what all sessions of the user have used, whatever their directory. */
  get_usage_report: { params: UsageReportParams; data: UsageReportData };
  /** `session` is a path, an id, or the beginning of an id. */
  rename_session: { params: { session: string; name: string }; data: null };
  /** Moves the session to the trash. */
  delete_session: { params: { session: string }; data: { id: string } };
  /** Takes a deleted session out of the trash again, by its id. */
  restore_session: { params: { session: string }; data: { id: string; path: string } };

  get_settings: { params: None; data: { settings: Record<string, unknown>; problems: string[] } };
  /** Every setting with its value and what it means. */
  list_settings: { params: None; data: { settings: SettingData[] } };
  /** `key` is dotted, such as `retry.maxRetries`; without `value` the setting is removed. Default scope `global`. */
  set_setting: { params: { key: string; value?: unknown; scope?: "global" | "project" }; data: null };
  /** Reads settings and resources again; answers with what changed. */
  reload: { params: None; data: { changed: string[] } };
  /** Tries whether the sandbox works, if that is not known yet. */
  get_policy: { params: None; data: PolicyData };
  /** `ask`, `edit` or `free`. `free` needs the scope `admin` besides. Tries whether the sandbox works, for the note. */
  set_permission_mode: { params: { mode: string }; data: PermissionData };
  /**
   * Adds a directory to the workspace until the session is closed. `path` is absolute, relative to the working directory, or with
   * `~`. Refused where nobody answers questions.
   */
  add_directory: { params: { path: string }; data: AddedDirectoryData };
  /** Default for `directory`: the working directory. Others must be in the workspace. The same for `set_trust`. */
  get_trust: { params: { directory?: string }; data: TrustData };
  /** With `digest`, the files must still be those that `get_trust` answered with. */
  set_trust: { params: { trusted: boolean; digest?: string; directory?: string }; data: TrustData };
  /** Stores a key. Without `apiKey`, starts the provider's own login; what the user has to do comes as notices. */
  login: {
    /** `paste`: whether the client can send `paste_login`. */
    params: { provider: string; apiKey?: string; paste?: boolean };
    data: { provider: string; kind: "api_key" | "oauth" };
  };
  /** The address or the code that the browser shows at the end of a login. `accepted`: whether a login waits for it. */
  paste_login: { params: { text: string }; data: { accepted: boolean } };
  /** Stops waiting for logins, which then fail. */
  abort_login: { params: None; data: null };
  logout: { params: { provider: string }; data: { removed: boolean } };
}

export type CommandName = keyof Commands;
export type CommandParams<Name extends CommandName> = Commands[Name]["params"];
export type CommandData<Name extends CommandName> = Commands[Name]["data"];

/** A command as a client sends it to a host. */
export type Command<Name extends CommandName = CommandName> = Name extends CommandName
  ? { type: Name } & CommandParams<Name>
  : never;

/** The scope that each command needs. */
export const commandScopes = {
  initialize: "read",
  prompt: "write",
  steer: "write",
  follow_up: "write",
  execute: "write",
  abort: "write",
  clear_queue: "write",
  edit_queued: "write",
  remove_queued: "write",
  approve: "approve",
  get_questions: "read",
  resume: "write",
  get_state: "read",
  get_messages: "read",
  get_session_stats: "read",
  get_last_assistant_text: "read",
  get_commands: "read",
  get_entries: "read",
  get_tree: "read",
  get_fork_messages: "read",
  complete: "read",
  set_model: "write",
  cycle_model: "write",
  get_available_models: "read",
  get_providers: "read",
  set_thinking_level: "write",
  cycle_thinking_level: "write",
  get_available_thinking_levels: "read",
  set_steering_mode: "write",
  set_follow_up_mode: "write",
  set_auto_compaction: "write",
  set_auto_retry: "write",
  abort_retry: "write",
  compact: "write",
  get_tools: "read",
  set_tools: "admin",
  bash: "admin",
  abort_bash: "admin",
  list_jobs: "read",
  read_job: "read",
  kill_job: "write",
  navigate: "write",
  undo: "write",
  redo: "write",
  set_label: "write",
  branch: "write",
  fork: "write",
  clone: "write",
  new_session: "write",
  switch_session: "write",
  set_session_name: "write",
  export_html: "admin",
  export_jsonl: "admin",
  write_bug_report: "admin",
  import_session: "admin",
  list_sessions: "read",
  search_sessions: "read",
  get_usage_report: "admin",
  rename_session: "write",
  delete_session: "write",
  restore_session: "write",
  get_settings: "read",
  list_settings: "read",
  set_setting: "admin",
  reload: "admin",
  get_policy: "read",
  set_permission_mode: "approve",
  add_directory: "admin",
  get_trust: "read",
  set_trust: "admin",
  login: "admin",
  paste_login: "admin",
  abort_login: "admin",
  logout: "admin",
} as const satisfies Record<CommandName, Scope>;

export const commandNames = Object.keys(commandScopes) as readonly CommandName[];

export const isCommandName = (name: string): name is CommandName => Object.hasOwn(commandScopes, name);

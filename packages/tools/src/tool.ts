/** A tool's description of itself, beyond what a model reads of it. */
import type { ResultView } from "@tau/protocol";
import type { AgentTool, AgentToolResult, AgentToolUpdateCallback } from "@tau/agent";
import type { ToolArguments, ToolParameters } from "@tau/ai";
import type { AccessRequest } from "./access.ts";
import type { CommandSandbox } from "./platform/command-sandbox.ts";
import type { CommandTerminal } from "./platform/command-terminal.ts";
import type { Files } from "./platform/files.ts";
import type { Spawn } from "./platform/spawn.ts";

/** The files that a call read and changed, as the call names them. */
export interface FileTouches {
  read: readonly string[];
  modified: readonly string[];
}

/** A sentence for the system prompt. One with `with` is said only when a tool of each of these names is there too. */
export type PromptGuideline = string | { text: string; with: readonly string[] };

/**
 * Every field is optional, for built-in tools and for all others alike. The functions must be pure and quick: they are
 * called before the tool itself is loaded.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes arguments of all kinds
export interface ToolDescription<TArguments = any> {
  /**
   * Everything that a call wants, at least one thing. Must name every path that the call may open. A call is denied when
   * this throws. Default: the capability `tool`, for the tool's name.
   */
  access?: (args: TArguments, cwd: string) => readonly AccessRequest[];
  /**
   * Whether a person has to allow a call, beside what the policy says of its access: for all calls, or for those of some arguments.
   * They are asked each time. A function that throws asks. Default false.
   */
  needsApproval?: boolean | ((args: TArguments) => boolean | Promise<boolean>);
  /** Says what a call would do, as one sentence for a person. Default, also for undefined: the name and the arguments. */
  summarise?: (args: TArguments) => string | undefined;
  /**
   * Which files a call touched. Calls come from logs too, so the arguments may be those of an earlier version of the
   * tool: nothing is noted when this throws. Default: none.
   */
  touches?: (args: TArguments) => FileTouches;
  /** Default `text`. */
  shows?: ResultView;
  /** The call changes nothing. Calls that only read may run together. */
  readOnly?: boolean;
  /** Parameters that a model is shown only if a tool of one of these names is there too. Default: all are shown. */
  parameterNeeds?: Readonly<Record<string, readonly string[]>>;
  /** Says what the tool is for, as its line in the system prompt. Default: the first sentence of its description. */
  promptSnippet?: string;
  /** Sentences that the system prompt says when the tool is there, each once. */
  promptGuidelines?: readonly PromptGuideline[];
}

/** The context of one call. Its files and processes have the permissions of this call and of no other. */
export interface ToolCallContext {
  readonly files: Files;
  readonly spawn: Spawn;
  /** Variables of the commands of this call, which other calls do not get. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the commands of this call run. Default: nowhere else than all other processes. */
  readonly sandbox?: CommandSandbox;
  /** Where commands run that are not in a sandbox and not in the background. Default: here. */
  readonly terminal?: CommandTerminal;
}

/** A tool that describes itself. Any `AgentTool` is one. */
// oxlint-disable-next-line typescript/no-explicit-any -- as `AgentTool`
export interface DescribedTool<TParameters extends ToolParameters = any, TDetails = any>
  extends AgentTool<TParameters, TDetails>, ToolDescription<ToolArguments<TParameters>> {
  /**
   * Whether everything that it changes goes through its files, its commands, calls and children of the session, which have the
   * permissions of the session. Default false: in plan mode a person is asked about it, unless it is `readOnly`.
   */
  isContained?: boolean;
  /** Executes a call like `AgentTool.execute`. Without a `context`, a tool works with what it was created with. */
  execute: (
    toolCallId: string,
    params: ToolArguments<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
    context?: ToolCallContext,
  ) => Promise<AgentToolResult<TDetails>>;
}

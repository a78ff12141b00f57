/** The types of a fan-out: its tasks and results, and the two parts that can be replaced. */
import type { OutputOf, OutputSchema } from "@tau/ai";

/** The type of the values that fit a schema. */
export type FanoutOutput<Schema> = OutputOf<Schema>;

export type FanoutSchema<T = unknown> = OutputSchema<T>;

/** Reads the value of an answer. Throws if the answer does not fit. */
export interface Validator {
  parse(text: string, schema: FanoutSchema): unknown;
}

export interface FanoutTask<T = unknown> {
  id: string;
  /** Says in a few words what the task is about. It is part of the child's system prompt. */
  description: string;
  prompt: string;
  /** Only these tools, as far as the agent itself may use them. Default: those of the agent. */
  tools?: readonly string[];
  /** The name of an agent that works on it, such as `explore`. Not for executors of your own. Default: as the agent itself. */
  agent?: string;
  /**
   * The directory to work in. Default, if the agent works in a git repository: an isolated copy of what is committed there,
   * whose changes become a branch. Otherwise: that of the agent.
   */
  worktree?: string;
  /** Default: that of the agent. */
  model?: string;
  /** How long the task may take, in milliseconds. Default: five minutes. */
  timeout?: number;
  /** The answer must contain JSON that fits it. Without a schema the result is the text of the answer. */
  schema?: FanoutSchema<T>;
}

export interface FanoutResult<T = unknown> {
  taskId: string;
  success: boolean;
  /** Undefined if the task failed. */
  result?: T;
  /** Undefined if the task succeeded. */
  error?: string;
  /** Milliseconds. 0 if the task threw, or was aborted. */
  duration: number;
  tokensUsed?: number;
  /** The branch with the changes of a task that worked in an isolated copy; undefined if it changed nothing. */
  branch?: string;
}

export interface FanoutOptions {
  /** How many tasks run at the same time. Default 4. */
  parallelism?: number;
  /**
   * Ends all tasks when one throws or takes too long, and rejects. An answer that does not fit its schema is not such an
   * error. Default false.
   */
  stopOnError?: boolean;
  /**
   * Which results are returned: those that succeeded, all, or only the first that succeeds, which ends the other tasks (if
   * none succeeds: the first failure). Default `successful`.
   */
  merge?: "all" | "successful" | "first";
  /** Ends all tasks. Those that had not ended give failed results. */
  signal?: AbortSignal;
  /** Called when a task is started and when it has ended. One that was never started only ends. Must not throw. */
  onTask?: (event: TaskEvent) => void;
}

export type TaskEvent =
  | { readonly kind: "started"; readonly taskId: string }
  | { readonly kind: "ended"; readonly result: FanoutResult };

export interface SubagentOptions {
  /** The directory to work in. Undefined: that of the agent. */
  worktree: string | undefined;
  tools: readonly string[] | undefined;
  model: string | undefined;
  /** Describes the task, and the form of the answer. */
  systemPrompt: string;
}

/** Creates what works on one task. */
export interface Executor {
  createSubagent(options: SubagentOptions): Subagent | Promise<Subagent>;
}

/** Pieces of a text. */
export type TextStream = AsyncIterable<string> | Iterable<string>;

export interface Subagent {
  /** Works on a prompt. The pieces together are the answer. */
  run(prompt: string): TextStream | Promise<TextStream>;
  readonly lastUsage?: { readonly total_tokens: number } | undefined;
  /** How often `run` may be called again because the answer does not fit its schema. Default 0. */
  readonly maxCorrections?: number;
  /** Ends what it does. Called once for each subagent, also after a success. It has five seconds. */
  close?(): void | Promise<void>;
}

/** Sessions that an extension starts for work of their own: sub-agents. */
import type { AgentMessage, ThinkingLevel } from "@tau/agent";
import type { Usage } from "@tau/ai";
import type { SessionEvent } from "@tau/protocol";

/** An agent that children can be opened with, by its name. */
export interface AgentInfo {
  readonly name: string;
  /** Says what it does and when to use it. */
  readonly description: string;
  readonly source: "project" | "user" | "package" | "built-in";
  /** Its file or directory. Undefined for one that comes with tau. */
  readonly path: string | undefined;
  /** A model as users write it, or a role such as `@smol`. Undefined: that of the session. */
  readonly model: string | undefined;
  /** Undefined: all tools of the session. */
  readonly tools: readonly string[] | undefined;
  /** Whether it works in a copy of the repository. */
  readonly isolated: boolean;
  /** Problems of its files with their lines, for people. */
  readonly problems: readonly string[];
}

export interface ChildOptions {
  /** Named to people with the questions of the child. */
  name: string;
  /**
   * The directory that it works in, for its tools and the sandbox of its commands; relative to that of the session. Settings,
   * trust, permissions, resources and extensions stay those of the session. Never take it from a model: the child may change
   * everything there. Default: that of the session.
   */
  cwd?: string;
  /** Absolute paths besides that its tools and commands may read without a question. Credentials stay closed. Default: none. */
  readablePaths?: readonly string[];
  /** A model, or what stands for one, such as `provider/id:thinking` or `@role`. Default: that of the session. */
  model?: string;
  /** Default: that of the session. */
  thinkingLevel?: ThinkingLevel;
  /** Only these tools, by name or pattern, as far as the session may use them. Default: those of the session. */
  tools?: readonly string[];
  /** Not these tools, by name or pattern, besides those that the session may not use. */
  excludedTools?: readonly string[];
  /**
   * An agent: its prompt, tools, model, thinking level, skills, policy and number of turns apply, within what the session may
   * do. Default: that of the session.
   */
  agentName?: string;
  /** Takes the place of the default prompt. */
  systemPrompt?: string;
  appendSystemPrompt?: readonly string[];
  /** The most that it may spend. What it spends is part of the budget of the session in any case. */
  budgets?: { tokens?: number; cost?: number; turns?: number; timeMs?: number };
  /** The id of a child to continue. */
  sessionId?: string;
}

/** A child. Its runs end with those of the session that started it. */
export interface ChildSession {
  readonly id: string;
  /** Undefined for a session in memory. */
  readonly file: string | undefined;
  /** Runs to the end. Never rejects for a run that fails. Rejects with `busy` during another run. */
  prompt(text: string, options?: { signal?: AbortSignal }): Promise<ChildOutcome>;
  /** Adds a message to the run in progress. */
  steer(text: string): Promise<void>;
  abort(): Promise<void>;
  /** The conversation so far, as its model is sent it. */
  getMessages(): readonly AgentMessage[];
  /** Returns how to stop. */
  onEvent(listener: (event: SessionEvent) => void): () => void;
  /** Ends its run and releases its log. Also called when the extension ends. */
  close(): Promise<void>;
}

export interface ChildOutcome {
  kind: "done" | "aborted" | "failed";
  /** The last answer; empty if there was none. */
  text: string;
  /** Why it failed or was aborted. */
  reason?: string;
  /** Everything that the run has used. */
  usage: Usage;
  /** The files that its tools have changed, as they were named. Commands may have changed others. */
  filesChanged: readonly string[];
}

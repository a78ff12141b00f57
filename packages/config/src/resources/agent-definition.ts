/** Agents as they are loaded: from a directory, from a file, or from tau itself. */
import type { ModelThinkingLevel } from "@tau/ai";
import type { TextFile } from "./context-files.ts";
import type { ResourceProblem } from "./resource-problem.ts";
import type { ToolChoices } from "./tools-yaml.ts";

/** Where an agent is defined, in the order of precedence. */
export type AgentSource = "project" | "user" | "package" | "built-in";

/** The front matter of `NAME.md`. */
export interface AgentDefinition {
  readonly source: AgentSource;
  /** Undefined for an agent that comes with tau. */
  readonly path: string | undefined;
  readonly description: string;
  /** A model as users write it, or a role such as `@smol`. */
  readonly model?: string;
  readonly thinkingLevel?: ModelThinkingLevel;
  /** Only these skills, by name. */
  readonly skills?: readonly string[];
  readonly policyProfile?: string;
  /** Requests of one run. */
  readonly maxTurns?: number;
  /** Whether tasks for it work in a copy of the repository. */
  readonly isolated: boolean;
  /** The line of each field in the file, from 1. */
  readonly lines: Readonly<Record<string, number>>;
}

export interface NamedAgent {
  /** Undefined for the agent directory itself. */
  name: string | undefined;
  /** The directory of the agent, or of its file. */
  directory: string;
  /** `system-prompt.md`, or the text of its file: replaces the default prompt and every `SYSTEM.md`. */
  systemPrompt: TextFile | undefined;
  /** `tools.yaml`, or `tools` of its file. */
  tools: ToolChoices;
  /** `resources/`, with `skills` and `prompts` of this agent. Undefined if it does not exist. */
  resourcesDir: string | undefined;
  /** Undefined for an agent that is a directory. */
  definition?: AgentDefinition;
  problems: readonly ResourceProblem[];
}

/** In any script: users name their agents in their own language. */
export const isAgentName = (text: string): boolean => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(text);

export const agentNameRule = "letters, digits, '-', '_' and '.', at most 64, beginning with a letter or digit";

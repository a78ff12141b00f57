/** Types for tools that decide how a model is shown the others. */
import type { AgentTool } from "@tau/agent";

/**
 * How a model reaches a tool. Requests list `direct` and `model-only` tools; other tools can call the former with
 * `ctx.executeTool`, but not the latter. A model finds `codemode` and `deferred` tools with a search and calls them by name,
 * and other tools can call them; a session whose settings or flags name them lists them. Nobody reaches `hidden` ones.
 */
export type ToolExposure = "direct" | "model-only" | "codemode" | "deferred" | "hidden";

/** Tools that belong together, such as those of a server. */
export interface ToolNamespace {
  name: string;
  aliases?: readonly string[];
  description?: string;
  instructions?: string;
}

/** The tools of a session, for `prepareLoadout`. */
export interface ToolLoadout {
  /** The active tools, in the order of requests, with their own descriptions. */
  readonly declared: readonly AgentTool[];
  /** The tools that `ctx.executeTool` can call. */
  readonly callable: readonly AgentTool[];
  /** All tools of the session. */
  readonly registered: readonly AgentTool[];
  /** `direct` for a tool that is not known. */
  getExposure(name: string): ToolExposure;
  getNamespace(name: string): ToolNamespace | undefined;
  getPromptGuidelines(name: string): readonly string[];
}

export interface ToolLoadoutChanges {
  /** The descriptions in requests, by the names of tools. */
  descriptions?: Readonly<Record<string, string>>;
  /** Active tools that requests and the system prompt leave out. They stay active, and other tools can call them. */
  hiddenDeclarations?: readonly string[];
}

/** Called with each change of the active tools, while the tool is active. It should return quickly. */
export type PrepareLoadout = (loadout: ToolLoadout) => ToolLoadoutChanges | undefined;

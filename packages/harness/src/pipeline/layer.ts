/** What the pipeline is made of: tools as people give them, tools as layers see them, and what a layer is. */
import type { AgentTool } from "@tau/agent";
import type { JsonSchema, Model } from "@tau/ai";
import type { ToolChoice } from "../resources/tools-yaml.ts";

/** A tool in the form of seeds 000 and 003. */
export interface InputSchemaTool {
  name: string;
  description: string;
  /** Of an object. Default: one without properties. */
  inputSchema?: JsonSchema;
  /** For people. Default: the name. */
  label?: string;
  /** A scope that the session must have; see `PipelineInput.scopes`. */
  requiredScope?: string;
  /** What it returns is what the model reads: a text as it is, a result with `content` as it is, all else as JSON. */
  execute: (input: Record<string, unknown>, context: { signal: AbortSignal; toolCallId: string }) => unknown;
}

/** A tool as a layer sees it. */
export interface PipelineTool extends AgentTool {
  requiredScope?: string;
}

/** A tool as somebody gives it. */
export type GivenTool = PipelineTool | InputSchemaTool;

/** What a channel lends to a session that serves it. */
export interface ChannelBinding {
  /** Such as `discord`. */
  channel: string;
  tools: readonly GivenTool[];
}

/** What the tools of layer 3 do. */
export interface HarnessActions {
  /** Makes a session that goes on from an entry, by default the last; answers with its id. */
  branch(entryId: string | undefined): Promise<string>;
  /** Goes to an entry of this session when the run is over. */
  navigate(entryId: string): Promise<void>;
  /** Reads settings and resources again; answers with what changed. */
  reload(): Promise<readonly string[]>;
  /** Ends the run after the calls of this answer. */
  interrupt(reason: string): void;
}

/** A tool that a layer took out, and why, for people. */
export interface DroppedTool {
  name: string;
  layer: number;
  reason: string;
}

/** Everything the layers decide on. */
export interface PipelineInput {
  /** Built in, or what the session was given instead. */
  base: readonly GivenTool[];
  /** What the session was given besides. */
  custom: readonly GivenTool[];
  /** What a named agent sets for single tools: whether it has them, and defaults of their arguments. */
  choices: readonly ToolChoice[];
  actions: HarnessActions;
  binding: ChannelBinding | undefined;
  /** Only these, by name; undefined means all. */
  allowed: readonly string[] | undefined;
  excluded: readonly string[];
  /** Undefined means that scopes are not asked for. */
  scopes: readonly string[] | undefined;
  /** Who is sent the tools. */
  model: Pick<Model, "api" | "provider" | "id" | "compat">;
  /** Of the session: aborts when it ends. */
  signal: AbortSignal;
  report: (dropped: DroppedTool) => void;
}

/** One step from what was given to what a model is shown. Called when the pipeline is built, never for a call. */
export type Layer = (tools: readonly PipelineTool[], input: PipelineInput) => PipelineTool[];

/** The seven layers, from the tools of a session to the tools that a model is shown. */
import type { AgentTool } from "@tau/agent";
import { abortableTools } from "./abort.ts";
import { baseTools } from "./base.ts";
import { channelTools } from "./channel.ts";
import { harnessTools } from "./harness-tools.ts";
import type { Layer, PipelineInput, PipelineTool } from "./layer.ts";
import { policyFilter } from "./policy-filter.ts";
import { sandboxedTools } from "./sandbox.ts";
import { expressibleTools } from "./schema.ts";

/** In order: the position in this list, from 1, is the number of the layer. */
export const layers: readonly Layer[] = [
  baseTools,
  sandboxedTools,
  harnessTools,
  channelTools,
  policyFilter,
  expressibleTools,
  abortableTools,
];

/**
 * The tools of a session. Every tool that is left out was reported, once. The same input gives identical tools; the input
 * is not changed.
 */
export const buildPipeline = (input: PipelineInput): AgentTool[] =>
  layers.reduce<PipelineTool[]>((tools, layer) => layer(tools, input), []);

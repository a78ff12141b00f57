/** The seven layers, from the tools that are given to the tools that a model is shown. */
import type { AgentTool } from "@tau/agent";
import { abortableTools } from "./abort.ts";
import { baseTools } from "./base.ts";
import { channelTools } from "./channel.ts";
import { harnessTools } from "./harness-tools.ts";
import type { Layer, PipelineInput, PipelineTool } from "./layer.ts";
import { policyFilter } from "./policy-filter.ts";
import { sandboxedTools } from "./sandbox.ts";
import { expressibleTools } from "./schema.ts";

/** The order: the place in this list is the number of the layer, from 1. */
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
 * The tools of a session. Whatever is not among them was reported, once. The same input gives the same tools, down to
 * their identity; nothing of it is changed.
 */
export const buildPipeline = (input: PipelineInput): AgentTool[] =>
  layers.reduce<PipelineTool[]>((tools, layer) => layer(tools, input), []);

/** Gives each call of a tool a context of its own, which the engine does not know. */
import { oncePerPair } from "@tau/ai/internal";
import type { PipelineInput, PipelineTool } from "./layer.ts";

export const withCallContext = oncePerPair(
  (createCallContext: PipelineInput["createCallContext"], tool: PipelineTool): PipelineTool => ({
    ...tool,
    execute: (toolCallId, params, signal, onUpdate) =>
      tool.execute(toolCallId, params, signal, onUpdate, createCallContext(toolCallId)),
  }),
);

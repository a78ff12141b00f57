/** Layer 2: tools that start processes start them in the session's sandbox. */
import { oncePerPair } from "@tau/ai/internal";
import type { CommandSandbox, Spawn } from "@tau/tools";
import type { Layer, PipelineTool } from "./layer.ts";

/**
 * Changes what a call is given, and nothing that a model is shown. Tools that only read are left as they are: they start
 * ripgrep, which changes nothing, and the guard judges what they open.
 */
export const sandboxedTools: Layer = (tools, { sandbox }) =>
  sandbox ? tools.map((tool) => (tool.readOnly ? tool : inSandbox(sandbox, tool))) : [...tools];

const inSandbox = oncePerPair((sandbox: CommandSandbox, tool: PipelineTool): PipelineTool => ({
  ...tool,
  execute: (toolCallId, params, signal, onUpdate, context) =>
    tool.execute(
      toolCallId,
      params,
      signal,
      onUpdate,
      context && { ...context, sandbox, spawn: spawnInside(sandbox, context.spawn) },
    ),
}));

/** Loaded late: most tools start nothing. */
const spawnInside =
  (sandbox: CommandSandbox, spawn: Spawn): Spawn =>
  async (request) =>
    await (await import("../sandbox/spawn-inside.ts")).spawnInside(sandbox, spawn, request);

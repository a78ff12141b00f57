/** Layer 2: tools that start processes start them in the session's sandbox. */
import { oncePerPair } from "@tau/ai/internal";
import type { CommandSandbox, Spawn, ToolCallContext } from "@tau/tools";
import type { Layer, PipelineTool, ToolSandbox } from "./layer.ts";

/**
 * Changes what a call is given, and nothing that a model is shown. Tools that only read are left as they are: they start
 * ripgrep, which changes nothing, and the guard judges what they open.
 */
export const sandboxedTools: Layer = (tools, { sandbox }) =>
  sandbox ? tools.map((tool) => (tool.readOnly ? tool : inSandbox(sandbox, tool))) : [...tools];

const inSandbox = oncePerPair((sandbox: ToolSandbox, tool: PipelineTool): PipelineTool => ({
  ...tool,
  async execute(toolCallId, params, signal, onUpdate, context) {
    const run = (inside: CommandSandbox | undefined) =>
      tool.execute(toolCallId, params, signal, onUpdate, context && withSandbox(context, inside));
    const { askNextTry: ask } = sandbox;
    if (!ask) return await run(sandbox);
    const { runUntilAllowed } = await import("./run-again.ts");
    const ports = { ask, sandbox, signal: signal ?? new AbortController().signal };
    return await runUntilAllowed({ toolCallId, tool, args: params }, ports, run);
  },
}));

const withSandbox = (context: ToolCallContext, sandbox: CommandSandbox | undefined): ToolCallContext =>
  sandbox ? { ...context, sandbox, spawn: createInsideSpawn(sandbox, context.spawn) } : context;

/** Loaded late: most tools start nothing. */
const createInsideSpawn =
  (sandbox: CommandSandbox, spawn: Spawn): Spawn =>
  async (request) => {
    const { spawnInside } = await import("@tau/sandbox/internal");
    return await spawnInside(sandbox, spawn, request);
  };

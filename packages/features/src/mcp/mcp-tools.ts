/** Tools of servers as tools of a session. */
import { validateToolArguments } from "@tau/ai";
import type { ToolDefinition } from "@tau/extensions";
import { CheckStopped, runCheck } from "./check-time.ts";
import { digestTool, type McpToolDefinition } from "./definitions.ts";
import type { McpEntry } from "./entry.ts";
import { McpError } from "./failure.ts";
import type { McpServers } from "./servers.ts";
import { toToolResult } from "./tool-result.ts";
import { getToolExposure, toToolName } from "./tool-names.ts";
import { toVisibleLine } from "../kit/visible-text.ts";

/** A name for answers that last: they apply to this tool of this entry as it is defined now, and to no other of its name. */
const toGrantName = (name: string, { hash }: McpEntry, tool: McpToolDefinition): string =>
  `${name} (${hash.slice(0, 8)}-${digestTool(tool).slice(0, 8)})`;

/**
 * The hints of a server are not believed where they would allow more: one that says it only reads is treated like any other,
 * and one that says it destroys something is asked about.
 */
export function createMcpTool(servers: McpServers, entry: McpEntry, tool: McpToolDefinition): ToolDefinition {
  const name = toToolName(entry.name, tool.name);
  const { annotations = {}, outputSchema } = tool;
  return {
    name,
    label: toVisibleLine(`${entry.name}: ${tool.title ?? tool.name}`, 100),
    description: tool.description,
    parameters: tool.inputSchema,
    exposure: getToolExposure(entry, tool.name),
    namespace: { name: entry.name, ...(entry.description !== undefined && { description: entry.description }) },
    ...(annotations.destructiveHint === true && { annotations: { destructiveHint: true } }),
    ...(outputSchema && { outputSchema }),
    readOnly: false,
    prepareArguments: (args) => mustBeCheckable(name, tool, args),
    access: () => [
      {
        capability: "tool",
        target: { kind: "name", name: toGrantName(name, entry, tool) },
        risk: annotations.destructiveHint === true ? "destructive" : "unknown",
        textFrom: `the MCP server ${entry.name}`,
      },
    ],
    summarise: (args: unknown) => `${entry.name}: ${tool.name} ${toVisibleLine(JSON.stringify(args) ?? "", 200)}`,
    async execute(_id, args: Record<string, unknown>, signal, onUpdate) {
      const details = { server: entry.name, tool: tool.name };
      const result = await servers.run(
        entry.name,
        async (connection) => {
          const current = servers.findTool(entry.name, tool.name);
          if ("kind" in current) throw new McpError(current);
          const onProgress = (text: string) => onUpdate?.({ content: [{ type: "text", text }], details });
          return await connection.callTool(current, args, { signal, onProgress });
        },
        signal,
      );
      return toToolResult(result, { ...details, outputSchema });
    },
  };
}

/** The arguments as they are. Throws if checking them, which comes next, would take too long. */
function mustBeCheckable<T>(name: string, { inputSchema }: McpToolDefinition, args: T): T {
  const call = { type: "toolCall", id: name, name, arguments: args as Record<string, unknown> } as const;
  try {
    runCheck(() => validateToolArguments({ name, description: "", parameters: inputSchema }, call));
  } catch (error) {
    if (error instanceof CheckStopped)
      throw new Error(`The arguments for ${name} cannot be checked with the schema of its server. ${error.message}`, {
        cause: error,
      });
    // What is wrong with them is reported by the check that follows.
  }
  return args;
}

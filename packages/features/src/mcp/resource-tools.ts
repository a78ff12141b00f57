/** The tools with which a model reads resources of servers. */
import type { ToolDefinition } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import type { McpConnection } from "./connection.ts";
import { listResourcesTool, listResourceTemplatesTool, readResourceTool } from "./feature.ts";
import type { McpServers } from "./servers.ts";
import { toResourceContent } from "./tool-result.ts";
import { toVisibleLine } from "./visible-text.ts";

const maxListed = 500;

export function createResourceTools(servers: McpServers): ToolDefinition[] {
  const list = async (server: string | undefined, signal: AbortSignal | undefined, read: ListLines) => {
    const names = server === undefined ? listServersWithResources(servers) : [server];
    if (names.length === 0) return toText("No MCP server with resources is configured.");
    const parts = await Promise.all(
      names.map(async (name) => {
        const lines = await servers
          .run(name, (connection) => read(connection, signal), signal)
          .catch((error: unknown) => {
            // The others can be listed.
            if (server !== undefined) throw error;
            return [getErrorMessage(error)];
          });
        const shown = lines.slice(0, maxListed);
        if (lines.length > maxListed) shown.push(`… and ${lines.length - maxListed} more`);
        return [`${name}:`, ...(shown.length === 0 ? ["(none)"] : shown)].join("\n");
      }),
    );
    return toText(parts.join("\n\n"));
  };
  return [
    {
      ...listResourcesTool,
      execute: (_id, { server }: { server?: string }, signal) =>
        list(server, signal, async (connection) =>
          (await connection.listResources(signal)).resources.map(formatResource),
        ),
    },
    {
      ...listResourceTemplatesTool,
      execute: (_id, { server }: { server?: string }, signal) =>
        list(server, signal, async (connection) =>
          (await connection.listResourceTemplates(signal)).resourceTemplates.map(({ uriTemplate, ...rest }) =>
            formatResource({ uri: uriTemplate, ...rest }),
          ),
        ),
    },
    {
      ...readResourceTool,
      async execute(_id, { server, uri }: { server: string; uri: string }, signal) {
        const result = await servers.run(server, (connection) => connection.readResource(uri, signal), signal);
        const content = toResourceContent(result);
        return content.length > 0 ? { content, details: { server, uri } } : toText("The resource is empty.");
      },
    },
  ];
}

type ListLines = (connection: McpConnection, signal: AbortSignal | undefined) => Promise<string[]>;

/** Servers that are not known to have none. */
const listServersWithResources = (servers: McpServers): string[] =>
  servers
    .list()
    .filter(({ entry, definitions }) => entry.isEnabled && (definitions?.hasResources ?? true))
    .map(({ entry }) => entry.name);

interface Listed {
  uri: string;
  name: string;
  mimeType?: string | undefined;
  description?: string | undefined;
}

function formatResource({ uri, name, mimeType, description }: Listed): string {
  const type = mimeType === undefined ? "" : ` (${toVisibleLine(mimeType, 100)})`;
  const about = description ? `: ${toVisibleLine(description, 200)}` : "";
  return `${toVisibleLine(uri, 2_000)} ${toVisibleLine(name, 200)}${type}${about}`;
}

const toText = (text: string) => ({ content: [{ type: "text" as const, text }], details: {} });

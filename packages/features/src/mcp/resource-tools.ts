/** The tools with which a model reads resources of servers. */
import type { ToolDefinition, ToolExposure } from "@tau/extensions";
import type { AccessRequest } from "@tau/tools";
import { getErrorMessage } from "@tau/ai/internal";
import type { McpConnection } from "./connection.ts";
import type { McpServers } from "./servers.ts";
import { toResourceContent } from "./tool-result.ts";
import { toVisibleLine } from "../kit/visible-text.ts";

const maxListed = 500;

const server = { type: "string", description: "The name of a server. Default: all." } as const;

const listResourcesTool = {
  name: "list_mcp_resources",
  label: "List MCP resources",
  description: "List the resources (files, records, pages) that MCP servers offer to be read.",
  parameters: { type: "object", properties: { server } },
} as const;

const listResourceTemplatesTool = {
  name: "list_mcp_resource_templates",
  label: "List MCP resource templates",
  description: "List templates of addresses with which resources of MCP servers can be read.",
  parameters: { type: "object", properties: { server } },
} as const;

const readResourceTool = {
  name: "read_mcp_resource",
  label: "Read an MCP resource",
  description: "Read a resource of an MCP server by its URI.",
  parameters: {
    type: "object",
    properties: { server: { type: "string", description: "The name of the server." }, uri: { type: "string" } },
    required: ["server", "uri"],
  },
} as const;

export function createResourceTools(servers: McpServers, exposure: ToolExposure): ToolDefinition[] {
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
      exposure,
      access: describeAccess(listResourcesTool.name),
      execute: (_id, { server }: { server?: string }, signal) =>
        list(server, signal, async (connection) =>
          (await connection.listResources(signal)).resources.map(formatResource),
        ),
    },
    {
      ...listResourceTemplatesTool,
      exposure,
      access: describeAccess(listResourceTemplatesTool.name),
      execute: (_id, { server }: { server?: string }, signal) =>
        list(server, signal, async (connection) =>
          (await connection.listResourceTemplates(signal)).resourceTemplates.map(({ uriTemplate, ...rest }) =>
            formatResource({ uri: uriTemplate, ...rest }),
          ),
        ),
    },
    {
      ...readResourceTool,
      exposure,
      access: describeAccess(readResourceTool.name),
      async execute(_id, { server, uri }: { server: string; uri: string }, signal) {
        const result = await servers.run(server, (connection) => connection.readResource(uri, signal), signal);
        const content = toResourceContent(result);
        return content.length > 0 ? { content, details: { server, uri } } : toText("The resource is empty.");
      },
    },
  ];
}

const describeAccess =
  (name: string) =>
  ({ server }: { server?: string }): AccessRequest[] => [
    {
      capability: "tool",
      target: { kind: "name", name },
      textFrom: server === undefined ? "MCP servers" : `the MCP server ${server}`,
    },
  ];

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

/** Servers of MCP: their tools, resources and prompts in sessions. */
import type { Feature, FeatureTool } from "@tau/extensions";

const server = { type: "string", description: "The name of a server. Default: all." } as const;

export const listResourcesTool: FeatureTool = {
  name: "list_mcp_resources",
  category: "external",
  label: "List MCP resources",
  description: "List the resources (files, records, pages) that MCP servers offer to be read.",
  parameters: { type: "object", properties: { server } },
  exposure: "deferred",
};

export const listResourceTemplatesTool: FeatureTool = {
  name: "list_mcp_resource_templates",
  category: "external",
  label: "List MCP resource templates",
  description: "List templates of addresses with which resources of MCP servers can be read.",
  parameters: { type: "object", properties: { server } },
  exposure: "deferred",
};

export const readResourceTool: FeatureTool = {
  name: "read_mcp_resource",
  category: "external",
  label: "Read an MCP resource",
  description: "Read a resource of an MCP server by its URI.",
  parameters: {
    type: "object",
    properties: { server: { type: "string", description: "The name of the server." }, uri: { type: "string" } },
    required: ["server", "uri"],
  },
  exposure: "deferred",
};

/** The feature `mcp`. */
export const mcp = (): Feature => ({
  name: "mcp",
  summary: "Tools, resources and prompts of MCP servers.",
  tools: [listResourcesTool, listResourceTemplatesTool, readResourceTool],
  commands: [{ name: "mcp", description: "Servers of MCP: their state, tools and settings" }],
  programCommands: [
    {
      name: "mcp",
      summary: "Add, remove, list and try servers of MCP, and sign in to them",
      usage: [
        "tau mcp add NAME [COMMAND...] [-l, --local] [--env K=V] [--url URL] [--header H] [--bearer-token-env-var VAR] [--yes]  Add a server: its command after --, or its address; -l for this project",
        "tau mcp remove NAME [-l, --local]  Remove a server, and what you answered about it",
        "tau mcp list [--json]  Connect all servers, and list their states and tools",
        "tau mcp login NAME  Sign in to a server with an address, in a browser",
        "tau mcp logout NAME  Remove the login of a server",
        "tau mcp test NAME [--json]  Connect one server, and list what it offers",
      ],
      run: async (context) => await (await import("./program.ts")).runMcpCommand(context),
    },
  ],
  load: async (place) => (await import("./mcp.ts")).createMcpExtension(place),
});

import { asRecord } from "@tau/ai/internal";
import type { ExtensionFactory, ToolInfo } from "@tau/extensions";
import { waitForServers } from "./feature-api.ts";

const name = "tool_search";
const defaultLimit = 8;
const maxLimit = 50;
const maxSummary = 200;

/** pi's `createToolSearchExtension`: a tool that finds tools which requests do not list, and activates them. */
export const createToolSearchExtension = (): ExtensionFactory => (pi) => {
  pi.registerTool({
    name,
    label: "Search tools",
    description:
      "Search for tools that are not in your list, such as tools of MCP servers. Those that are found can be called from your next answer on.",
    parameters: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
    defaultActive: false,
    async execute(_id, { query, limit = defaultLimit }: { query: string; limit?: number }) {
      const { buildDiscoverableToolSearchIndex, searchDiscoverableTools } = await import("@tau/features/discovery");
      await waitForServers(pi.events);
      const active = pi.getActiveTools();
      const tools = pi.getAllTools().filter((tool) => !active.includes(tool.name) && isFound(tool));
      const index = buildDiscoverableToolSearchIndex(
        tools.map(({ name, description, parameters }) => ({
          name,
          label: name,
          summary: description.slice(0, maxSummary),
          source: "extension" as const,
          schemaKeys: Object.keys(asRecord(asRecord(parameters)["properties"])),
        })),
      );
      const matches = searchDiscoverableTools(index, query, Math.min(maxLimit, Math.max(1, Math.trunc(limit))));
      const loaded = matches.map(({ tool }) => tool.name);
      if (loaded.length > 0) pi.setActiveTools([...active, ...loaded]);
      const lines = matches.map(({ tool }) => `${tool.name}: ${tool.summary}`);
      const text = loaded.length > 0 ? lines.join("\n") : `No tool matches ${JSON.stringify(query)}.`;
      return { content: [{ type: "text", text }], details: { loaded } };
    },
  });
};

const isFound = ({ exposure }: ToolInfo): boolean => exposure === "codemode" || exposure === "deferred";

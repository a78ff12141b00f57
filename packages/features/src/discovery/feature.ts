/** Tools that are found instead of listed: one tool searches, the other calls what was found. */
import type { Feature, FeatureTool } from "@tau/extensions";

const maxKind = 80;

export const searchTool: FeatureTool = {
  name: "tool_search",
  label: "Search tools",
  category: "coordination",
  description: "Search for more tools.",
  describeForFound: (kinds) =>
    `Search for tools that are not in your list: ${kinds.map(toKind).join(", ")}. Returns their parameters; call_tool calls one.`,
  aliases: ["search_tool_bm25"],
  parameters: {
    type: "object",
    properties: {
      query: { type: "string" },
      limit: { type: "integer" },
    },
    required: ["query"],
  },
  promptSnippet: "find tools that are not listed",
  reachesTools: () => "all",
  // It reads what the session may use anyway.
  access: () => [],
  readOnly: true,
  summarise: ({ query }: { query: string }) => `Search for tools: ${query}`,
};

export const callTool: FeatureTool = {
  name: "call_tool",
  label: "Call a tool",
  category: "coordination",
  description: "Call a tool that tool_search found.",
  describeForFound: () => callTool.description,
  callsNamedTool: true,
  isContained: true,
  parameters: {
    type: "object",
    properties: { name: { type: "string" }, arguments: { type: "object" } },
    required: ["name"],
  },
  reachesTools: ({ name }) => (typeof name === "string" ? [name] : []),
  promptSnippet: "call a tool that was found",
};

/** Keeps the words of a server or an extension in one line. */
const toKind = (kind: string): string =>
  kind
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, maxKind);

/** The feature `discovery`: a search for tools that requests do not list. */
export const discovery = (): Feature => ({
  name: "discovery",
  summary: "A search for tools that are not in the list of each request.",
  tools: [searchTool, callTool],
  load: async () => (await import("./discovery.ts")).discoveryExtension,
});

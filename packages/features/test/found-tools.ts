/** Features with tools that are found, for tests. */
import type { ExtensionAPI, Feature, FeatureTool, ToolDefinition } from "@tau/extensions";

export const weatherTool: FeatureTool = {
  name: "weather_today",
  label: "Weather",
  category: "external",
  description: "Tell the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  access: () => [],
  exposure: "deferred",
};

const answer = (text: string) => ({ content: [{ type: "text" as const, text }], details: {} });

/** A feature whose tool is described and found. */
export const weather = (onLoad: () => void = () => {}): Feature => ({
  name: "weather",
  summary: "The weather.",
  tools: [weatherTool],
  async load() {
    onLoad();
    return (tau) => tau.registerTool({ ...weatherTool, execute: async (_id, { city }) => answer(`Rain in ${city}.`) });
  },
});

/** A tool as servers have them. */
export const serverTool = (name: string, changes: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: `mcp__docs__${name}`,
  label: name,
  description: `Does ${name} with documents.`,
  parameters: { type: "object", properties: { page: { type: "string" } } },
  exposure: "deferred",
  execute: async (_id, args) => answer(`${name} ${JSON.stringify(args)}`),
  ...changes,
});

/** A feature that finds its tools when somebody searches. */
export const server = (
  discover: (tau: ExtensionAPI) => void | Promise<void>,
  seen: { loads: number } = { loads: 0 },
): Feature => ({
  name: "server",
  summary: "A server.",
  finds: () => "the server docs",
  async load() {
    seen.loads++;
    return (tau) => void tau.on("tools_discover", () => discover(tau));
  },
});

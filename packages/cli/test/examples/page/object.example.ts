import { readFile } from "node:fs/promises";
import type { Extension, Tool } from "@tau/extensions";

const lineCount: Tool = {
  name: "line_count",
  description: "Count the lines of a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  onLoad: (context) => context.registerConfig({ unit: { type: "string", default: "lines" } }),
  async execute({ path }, context) {
    const text = await readFile(String(path), "utf8");
    return `${text.split("\n").length - 1} ${String(context.getConfig("unit"))}`;
  },
  onUnload: (context) => context.getLog().info("It is not needed any more."),
};

const extension: Extension = {
  name: "line-count",
  version: "1.0.0",
  tools: [lineCount],
  hooks: {
    onAgentStart: (context) => context.getLog().info("A run begins."),
    onToolCall(name, params, result, context) {
      context.getLog().info(`${name} ${JSON.stringify(params)}: ${result === undefined ? "failed" : "done"}`);
    },
    onAgentEnd: (context) => context.getLog().info("The run is over."),
  },
  dependencies: [],
  capabilities: ["fs:read"],
};
export default extension;

import { resolve } from "node:path";
import { createFiles, type DescribedTool } from "@tau/tools";

const maxBytes = 10 * 1024 * 1024;

export const createCountLines = (cwd: string): DescribedTool => ({
  name: "count_lines",
  label: "Count lines",
  description: "Count the lines of a text file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  readOnly: true,
  access: ({ path }) => [{ capability: "read", target: { kind: "path", path: resolve(cwd, path) } }],
  summarise: ({ path }) => `Count the lines of ${path}`,
  touches: ({ path }) => ({ read: [path], modified: [] }),
  promptSnippet: "count the lines of a file",
  promptGuidelines: [{ with: ["read"], text: "Use count_lines, not read, to find out how long a file is." }],
  async execute(_callId, { path }, _signal, _onUpdate, context) {
    const files = context?.files ?? createFiles();
    const { bytes } = await files.readWhole(resolve(cwd, path), maxBytes);
    const lines = bytes.toString("utf8").split("\n").length - 1;
    return { content: [{ type: "text", text: `${lines} lines` }] };
  },
});

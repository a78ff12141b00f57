import type { Tool } from "../context.ts";
import type { Model } from "../model.ts";
import type { EncodeNote } from "./protocol.ts";

/** The tools that may be sent. A server that takes none gets none, and the answer says so. */
export function offeredTools(model: Model, tools: readonly Tool[] | undefined, notes: EncodeNote[]): readonly Tool[] {
  if (!tools || tools.length === 0) return [];
  if (model.compat?.supportsTools !== false) return tools;
  notes.push({
    type: "tools_left_out",
    message: `${model.id} does not take tools; ${tools.length} were left out.`,
    details: { tools: tools.map((tool) => tool.name) },
  });
  return [];
}

/** Encodes each tool on its own: one that cannot be expressed is left out with a note, and the others still go. */
export function encodeTools<T>(tools: readonly Tool[], encode: (tool: Tool) => T, notes: EncodeNote[]): T[] {
  return tools.flatMap((tool) => {
    try {
      return [encode(tool)];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      notes.push({
        type: "tool_left_out",
        message: `The tool ${tool.name} was left out: ${message}`,
        details: { tool: tool.name },
      });
      return [];
    }
  });
}

import type { Tool } from "../context.ts";
import { getErrorMessage } from "../errors.ts";
import type { Model } from "../model.ts";
import type { EncodeNote } from "./protocol.ts";

/** What most providers take for the name of a tool. */
const plainName = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The tools that may be sent. A server that takes none gets none; a tool whose name is not accepted or stands twice is
 * left out alone, since it would make the whole request invalid. The answer says so.
 */
export function selectTools(
  model: Model,
  tools: readonly Tool[] | undefined,
  notes: EncodeNote[],
  names: RegExp = plainName,
): readonly Tool[] {
  if (!tools || tools.length === 0) return [];
  if (model.compat?.supportsTools === false) {
    notes.push({
      type: "tools_left_out",
      message: `${model.id} does not take tools; ${tools.length} were left out.`,
      details: { tools: tools.map((tool) => tool.name) },
    });
    return [];
  }
  const seen = new Set<string>();
  return tools.filter((tool) => {
    const problem = seen.has(tool.name)
      ? "another has the same name"
      : names.test(tool.name)
        ? ""
        : "its name is not accepted";
    seen.add(tool.name);
    if (problem) notes.push(leftOut(tool, problem));
    return problem === "";
  });
}

/** Encodes each tool on its own: one that cannot be expressed is left out with a note, and the others still go. */
export function encodeTools<T>(tools: readonly Tool[], encode: (tool: Tool) => T, notes: EncodeNote[]): T[] {
  return tools.flatMap((tool) => {
    try {
      return [encode({ ...tool, description: tool.description ?? "" })];
    } catch (error) {
      notes.push(leftOut(tool, getErrorMessage(error)));
      return [];
    }
  });
}

const leftOut = ({ name }: Tool, why: string): EncodeNote => ({
  type: "tool_left_out",
  message: `The tool ${name} was left out: ${why}`,
  details: { tool: name },
});

/** Says that an option could not be honoured. */
export const ignoredOption = (option: string, why: string): EncodeNote => ({
  type: "option_ignored",
  message: `${option} was not sent: ${why}.`,
  details: { option },
});

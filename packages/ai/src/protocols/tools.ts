import type { Tool } from "../context.ts";
import { getErrorMessage } from "../errors.ts";
import type { Model } from "../model.ts";
import type { EncodeNote } from "./protocol.ts";

/** The tool names that most providers accept. */
const defaultNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The tools that can be sent. Tools are left out, with a note, if the model does not support tools, and each tool with
 * an invalid or duplicate name, because it would make the whole request invalid.
 */
export function selectTools(
  model: Model,
  tools: readonly Tool[] | undefined,
  notes: EncodeNote[],
  namePattern: RegExp = defaultNamePattern,
): readonly Tool[] {
  if (!tools || tools.length === 0) return [];
  if (model.compat?.supportsTools === false) {
    notes.push({
      type: "tools_left_out",
      message: `${model.id} does not support tools; ${tools.length} were left out.`,
      details: { tools: tools.map((tool) => tool.name) },
    });
    return [];
  }
  const seen = new Set<string>();
  return tools.filter((tool) => {
    const problem = seen.has(tool.name)
      ? "another tool has the same name"
      : namePattern.test(tool.name)
        ? ""
        : "the provider does not accept its name";
    seen.add(tool.name);
    if (problem) notes.push(createLeftOutNote(tool, problem));
    return problem === "";
  });
}

/** Encodes each tool. If `encode` throws for a tool, that tool is left out with a note. */
export function encodeTools<T>(tools: readonly Tool[], encode: (tool: Tool) => T, notes: EncodeNote[]): T[] {
  return tools.flatMap((tool) => {
    try {
      return [encode({ ...tool, description: tool.description ?? "" })];
    } catch (error) {
      notes.push(createLeftOutNote(tool, getErrorMessage(error)));
      return [];
    }
  });
}

const createLeftOutNote = ({ name }: Tool, reason: string): EncodeNote => ({
  type: "tool_left_out",
  message: `The tool ${name} was left out: ${reason}`,
  details: { tool: name },
});

/** The note for an option that was not sent. */
export const createIgnoredNote = (option: string, reason: string): EncodeNote => ({
  type: "option_ignored",
  message: `${option} was not sent: ${reason}.`,
  details: { option },
});

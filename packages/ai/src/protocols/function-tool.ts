import type { Tool } from "../context.ts";
import type { Model } from "../model.ts";
import { toClosedSchema, toJsonSchema } from "../schema/adapt.ts";
import { toStrictSchema } from "../schema/openai-strict.ts";
import type { EncodeNote } from "./protocol.ts";

/**
 * Encodes a tool for chat completions. It is strict if the tool asks for it and both server and schema allow it;
 * otherwise its schema is closed where `isClosed` says so.
 */
export function encodeFunctionTool(
  model: Model,
  tool: Tool,
  { supportsStrict, isClosed, notes }: { supportsStrict: boolean; isClosed: boolean; notes: EncodeNote[] },
): Record<string, unknown> {
  const strict = tool.strict && supportsStrict ? toStrictSchema(tool.parameters) : undefined;
  if (tool.strict === "require" && !strict) notes.push(createStrictNote(model, tool));
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: strict ?? (isClosed ? toClosedSchema : toJsonSchema)(tool.parameters),
      ...(strict && { strict: true }),
    },
  };
}

/** The note for a tool that requires strict mode but cannot have it. */
export const createStrictNote = (model: Model, tool: Tool): EncodeNote => ({
  type: "strict_not_supported",
  message: `${model.id} does not support strict mode for the schema of ${tool.name}.`,
});

import type { Tool } from "../context.ts";
import type { Model } from "../model.ts";
import { toJsonSchema } from "../schema/adapt.ts";
import { toStrictSchema } from "../schema/openai-strict.ts";
import type { EncodeNote } from "./protocol.ts";

/** A tool as chat completions take it, held to its schema where it asks for that and both sides can. */
export function encodeFunctionTool(
  model: Model,
  tool: Tool,
  { takesStrict, notes }: { takesStrict: boolean; notes: EncodeNote[] },
): Record<string, unknown> {
  const strict = tool.strict && takesStrict ? toStrictSchema(tool.parameters) : undefined;
  if (tool.strict === "require" && !strict) notes.push(strictNote(model, tool));
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: strict ?? toJsonSchema(tool.parameters),
      ...(strict && { strict: true }),
    },
  };
}

/** Says that a tool could not have what it requires. */
export const strictNote = (model: Model, tool: Tool): EncodeNote => ({
  type: "strict_not_supported",
  message: `${model.id} cannot be held to the schema of ${tool.name}.`,
});

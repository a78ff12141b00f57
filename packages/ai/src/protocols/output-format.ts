/** The form of an answer that a provider is asked to enforce. Pure. */
import type { JsonSchema } from "../context.ts";
import type { OutputFormat } from "../options.ts";
import { toStrictSchema } from "../schema/openai-strict.ts";
import type { EncodeNote } from "./protocol.ts";
import { createIgnoredNote } from "./tools.ts";

/**
 * The form as a schema that providers can enforce, in which optional properties may be null. Undefined, with a note, if this model
 * cannot enforce forms or the schema cannot be expressed: only objects can.
 */
export function resolveOutput(
  output: OutputFormat | undefined,
  { isSupported, notes }: { isSupported: boolean; notes: EncodeNote[] },
): { name: string; schema: JsonSchema } | undefined {
  if (!output) return undefined;
  const schema = isSupported && output.schema["type"] === "object" ? toStrictSchema(output.schema) : undefined;
  if (schema) return { name: output.name, schema };
  const reason = isSupported ? "its schema cannot be enforced" : "this model cannot enforce a form here";
  notes.push(createIgnoredNote("output", reason));
  return undefined;
}

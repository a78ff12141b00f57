/** Reads the value of an answer. */
import type { JsonSchema } from "../context.ts";
import { getErrorMessage } from "../errors.ts";
import { findJson } from "./find-json.ts";
import { createCoercion } from "../schema/coerce.ts";
import { checkOutput, describeOutput, type OutputCheck, type OutputSchema } from "./output-schema.ts";

/**
 * Takes the first JSON value of an answer that fits the schema. Otherwise says what is wrong with the most likely one. With
 * `isEnforced`, a provider may have enforced the form, in which optional properties are null instead of absent: they are removed.
 */
export async function readOutput(
  text: string,
  schema: OutputSchema,
  { isEnforced = false } = {},
): Promise<OutputCheck> {
  let problem: string | undefined;
  for (const { value } of findJson(text)) {
    const check = await tryCheck(schema, value);
    if (check.kind === "fits") return check;
    problem ??= check.problem;
    const form = isEnforced ? describeOutput(schema) : undefined;
    const corrected = form && (await tryCorrected(schema, form, value));
    if (corrected?.kind === "fits") return corrected;
  }
  return { kind: "unfit", problem: problem ?? "The answer contains no JSON." };
}

async function tryCorrected(schema: OutputSchema, form: JsonSchema, value: unknown): Promise<OutputCheck> {
  try {
    return await checkOutput(schema, createCoercion(form)(value, false));
  } catch (error) {
    // Such as a pattern that only some engines can read. The value itself was checked before.
    return { kind: "unfit", problem: getErrorMessage(error) };
  }
}

/** Code of the caller's schema may throw; `parse` of a schema does so to refuse a value. */
async function tryCheck(schema: OutputSchema, value: unknown): Promise<OutputCheck> {
  try {
    return await checkOutput(schema, value);
  } catch (error) {
    return { kind: "unfit", problem: getErrorMessage(error) };
  }
}

/** Resolves with the value that `readOutput` finds, and rejects with what is wrong if there is none. */
export async function parseOutput(text: string, schema: OutputSchema): Promise<unknown> {
  const check = await readOutput(text, schema);
  if (check.kind === "fits") return check.value;
  throw new Error(check.problem);
}

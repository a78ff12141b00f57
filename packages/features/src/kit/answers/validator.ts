import type { FanoutSchema, Validator } from "./contract.ts";
import { findJson } from "./find-json.ts";
import { checkSchema } from "./schema.ts";
import { getMessage } from "../thrown-values.ts";

/** Takes the first JSON value of an answer that fits the schema. Rejects with what is wrong with the most likely one. */
export const schemaValidator: Validator = {
  async parse(text: string, schema: FanoutSchema): Promise<unknown> {
    let problem: string | undefined;
    for (const { value } of findJson(text)) {
      const check = await tryCheck(schema, value);
      if (check.kind === "fits") return check.value;
      problem ??= check.problem;
    }
    throw new Error(problem ?? "The answer contains no JSON.");
  },
};

/** Code of the caller's schema may throw; `parse` of a schema does so to refuse a value. */
async function tryCheck(schema: FanoutSchema, value: unknown): ReturnType<typeof checkSchema> {
  try {
    return await checkSchema(schema, value);
  } catch (error) {
    return { kind: "unfit", problem: getMessage(error) };
  }
}

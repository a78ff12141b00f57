import type { AnswerCheck } from "../kit/ask-until-fits.ts";
import type { FanoutSchema, Validator } from "./contract.ts";

export async function checkAnswer(
  text: string,
  schema: FanoutSchema | undefined,
  validator: Validator,
): Promise<AnswerCheck> {
  if (schema === undefined) return { kind: "unchecked" };
  try {
    return { kind: "fits", value: await validator.parse(text, schema) };
  } catch (error) {
    return { kind: "unfit", error };
  }
}

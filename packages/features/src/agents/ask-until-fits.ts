/** Asks for an answer again until it fits its schema. */
import { formatCorrection } from "@tau/ai/internal";
import type { FanoutSchema, Validator } from "./contract.ts";
import { getMessage } from "../kit/thrown-values.ts";

/** How often sub-agents are sent back an answer that does not fit. */
export const maxCorrections = 2;

export type AnswerCheck =
  /** There is no schema, or no answer. */
  { kind: "unchecked" } | { kind: "fits"; value: unknown } | { kind: "unfit"; error: unknown };

interface AskParts<Answer> {
  ask: (prompt: string) => Promise<Answer>;
  check: (answer: Answer) => Promise<AnswerCheck>;
  /** How often an answer that does not fit is sent back. */
  maxCorrections: number;
}

/** Resolves with the last answer and its check. */
export async function askUntilFits<Answer>(
  prompt: string,
  { ask, check, maxCorrections }: AskParts<Answer>,
): Promise<{ answer: Answer; check: AnswerCheck }> {
  let nextPrompt = prompt;
  for (let corrections = 0; ; corrections++) {
    const answer = await ask(nextPrompt);
    const checked = await check(answer);
    if (checked.kind !== "unfit" || corrections >= maxCorrections) return { answer, check: checked };
    nextPrompt = formatCorrection(getMessage(checked.error));
  }
}

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

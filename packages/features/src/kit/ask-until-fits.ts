/** Asks for an answer again until it fits its schema. */
import { formatCorrection } from "@tau/ai/internal";
import { getMessage } from "./thrown-values.ts";

/** How often children are sent back an answer that does not fit. */
export const maxCorrections = 2;

export type AnswerCheck<Value = unknown> =
  /** There is no schema, or no answer. */
  { kind: "unchecked" } | { kind: "fits"; value: Value } | { kind: "unfit"; error: unknown };

interface AskParts<Answer, Value> {
  ask: (prompt: string) => Promise<Answer>;
  check: (answer: Answer) => Promise<AnswerCheck<Value>>;
  /** How often an answer that does not fit is sent back. */
  maxCorrections: number;
}

/** Resolves with the last answer and its check. */
export async function askUntilFits<Answer, Value = unknown>(
  prompt: string,
  { ask, check, maxCorrections }: AskParts<Answer, Value>,
): Promise<{ answer: Answer; check: AnswerCheck<Value> }> {
  let nextPrompt = prompt;
  for (let corrections = 0; ; corrections++) {
    const answer = await ask(nextPrompt);
    const checked = await check(answer);
    if (checked.kind !== "unfit" || corrections >= maxCorrections) return { answer, check: checked };
    nextPrompt = formatCorrection(getMessage(checked.error));
  }
}

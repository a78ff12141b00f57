/** Texts for a model that has to answer in a form. Pure. */
import { describeOutput, type OutputSchema } from "./output-schema.ts";

/** Says which form the last message has to have. */
export function formatOutputRequest(schema: OutputSchema): string {
  const described = describeOutput(schema);
  return described === undefined
    ? "Your last message must be one JSON value in the form that the prompt asks for, and nothing else."
    : `Your last message must be one JSON value that fits this JSON Schema, and nothing else:\n${JSON.stringify(described)}`;
}

const maxProblemLength = 4_000;

/** Asks for another answer, because the last one does not fit its schema. */
export function formatCorrection(problem: string): string {
  const shown = problem.length <= maxProblemLength ? problem : `${problem.slice(0, maxProblemLength).toWellFormed()}…`;
  return `Your answer does not fit its schema: ${shown}\nAnswer again with the corrected JSON value and nothing else.`;
}

/** The texts that a child gets about its task. Pure. */
import type { FanoutTask } from "./contract.ts";
import { describeOutput } from "@tau/ai/internal";

/** Describes the task, and the form of the answer if the task has a schema. */
export function buildSystemPrompt({ description, schema }: Pick<FanoutTask, "description" | "schema">): string {
  const task = `You work on one task for another agent: ${description}\nNobody answers questions: decide yourself, and end with the complete answer in your last message.`;
  if (schema === undefined) return task;
  const described = describeOutput(schema);
  const form =
    described === undefined
      ? "Your last message must be one JSON value in the form that the prompt asks for, and nothing else."
      : `Your last message must be one JSON value that fits this JSON Schema, and nothing else:\n${JSON.stringify(described)}`;
  return `${task}\n\n${form}`;
}

const maxProblemLength = 4_000;

/** Asks for another answer, because the last one does not fit its schema. */
export function buildCorrection(problem: string): string {
  const shown = problem.length <= maxProblemLength ? problem : `${problem.slice(0, maxProblemLength).toWellFormed()}…`;
  return `Your answer does not fit its schema: ${shown}\nAnswer again with the corrected JSON value and nothing else.`;
}

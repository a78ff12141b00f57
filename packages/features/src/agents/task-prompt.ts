/** The texts that a child gets about its task. Pure. */
import { formatOutputRequest } from "@tau/ai/internal";
import type { FanoutTask } from "./contract.ts";

/** Describes the task, and the form of the answer if the task has a schema. */
export function buildSystemPrompt({ description, schema }: Pick<FanoutTask, "description" | "schema">): string {
  const task = `You work on one task for another agent: ${description}\nNobody answers questions: decide yourself, and end with the complete answer in your last message.`;
  return schema === undefined ? task : `${task}\n\n${formatOutputRequest(schema)}`;
}

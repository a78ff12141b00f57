/** Asks for an answer of a given form, and asks again if it does not fit. */
import type { AgentMessage } from "@tau/agent";
import type { OutputFormat, OutputSchema } from "@tau/ai";
import { describeOutput, formatCorrection, formatOutputRequest, type OutputCheck, readOutput } from "@tau/ai/internal";
import type { PromptOutcome } from "./activity.ts";

/** How often an answer that does not fit is sent back. */
const maxCorrections = 2;

/**
 * Resolves with the outcome of the last run and the messages of all, and with the value in its answer or what is wrong with that. Without `output` there is
 * no answer, because the run did not end by itself.
 */
export async function askForOutput(
  prompt: string,
  schema: OutputSchema,
  ask: (prompt: string, output: OutputFormat | undefined) => Promise<PromptOutcome>,
): Promise<PromptOutcome> {
  const form = describeOutput(schema);
  const format = form && { name: "answer", schema: form };
  let nextPrompt = `${prompt}\n\n${formatOutputRequest(schema)}`;
  const said: AgentMessage[] = [];
  for (let corrections = 0; ; corrections++) {
    const ended = await ask(nextPrompt, format);
    if (ended.kind !== "ran") return ended;
    said.push(...ended.messages);
    const outcome = { ...ended, messages: [...said] };
    if (outcome.end.kind !== "done" || !outcome.answer) return outcome;
    const text = outcome.answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const output: OutputCheck = await readOutput(text, schema, { isEnforced: form !== undefined });
    if (output.kind === "fits" || corrections >= maxCorrections) return { ...outcome, output };
    nextPrompt = formatCorrection(output.problem);
  }
}

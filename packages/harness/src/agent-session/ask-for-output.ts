/** Asks for an answer of a given form, and asks again if it does not fit. */
import type { AgentMessage } from "@tau/agent";
import type { OutputFormat, OutputSchema } from "@tau/ai";
import {
  describeOutput,
  formatCorrection,
  formatOutputRequest,
  type OutputCheck,
  readOutput,
  untilAborted,
  withoutUndefined,
} from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { PromptOutcome } from "./activity.ts";
import type { PromptOptions } from "./prompts.ts";

/** A prompt with the form as a provider is told it. */
export type FormedPrompt = Omit<PromptOptions, "output"> & {
  format?: OutputFormat;
  /** See `PromptContent`. */
  appended?: string;
};

/** How often an answer that does not fit is sent back. */
const maxCorrections = 2;

/**
 * Resolves with the outcome of the last run and the messages of all, and with the value in its answer or what is wrong with
 * that. Without `output` there is no answer, because the run did not end by itself.
 */
export async function askForOutput(
  prompt: string,
  { output: schema, ...options }: PromptOptions & { output: OutputSchema },
  ask: (prompt: string, options: FormedPrompt) => Promise<PromptOutcome>,
): Promise<PromptOutcome> {
  const form = describeOutput(schema);
  const { signal } = options;
  const always = withoutUndefined({ signal, format: form && { name: "answer", schema: form } });
  let text = prompt;
  let request: FormedPrompt = { ...options, ...always, appended: formatOutputRequest(schema) };
  const said: AgentMessage[] = [];
  for (let corrections = 0; ; corrections++) {
    const ended = await ask(text, request);
    if (ended.kind !== "ran") return ended;
    said.push(...ended.messages);
    const outcome = { ...ended, messages: [...said] };
    if (outcome.end.kind !== "done" || !outcome.answer) return outcome;
    const answer = outcome.answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    // Code of the caller reads it, which may take as long as it likes.
    const read = await untilAborted(readOutput(answer, schema, { isEnforced: form !== undefined }), signal);
    if (read.kind === "aborted")
      throw new HarnessError("aborted", "The answer was not checked, because the signal of its prompt was aborted.");
    const output: OutputCheck = read.value;
    if (output.kind === "fits" || corrections >= maxCorrections) return { ...outcome, output };
    text = formatCorrection(output.problem);
    // Files and images were sent, the choice of tools was for the first request, and what the model wrote mentions no files.
    request = { ...always, expandPromptTemplates: false };
  }
}

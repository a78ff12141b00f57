/** The form that the answer of one prompt has to have. */
import type { AgentMessage } from "@tau/agent";
import type { OutputFormat, OutputSchema } from "@tau/ai";
import {
  describeOutput,
  findOutputFault,
  formatCorrection,
  formatOutputRequest,
  type OutputCheck,
  readOutput,
  untilAborted,
} from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { RunOutcome } from "../run/run.ts";

/** How often an answer that does not fit is sent back. */
const maxCorrections = 2;

export class AnswerForm {
  /** The form as a provider gets it; undefined if the schema cannot be described. */
  readonly format: OutputFormat | undefined;
  /** Tells the model the form, at the end of the prompt. */
  readonly request: string;
  readonly #schema: OutputSchema;
  readonly #messages: AgentMessage[] = [];
  #corrections = 0;
  #output: OutputCheck | undefined;
  #last: RunOutcome | undefined;
  #wasAborted = false;

  /** Throws `invalid_input` for a schema that no answer can be checked against. */
  constructor(schema: OutputSchema) {
    const fault = findOutputFault(schema);
    if (fault !== undefined)
      throw new HarnessError("invalid_input", `The schema of \`output\` cannot be used: ${fault}`);
    const described = describeOutput(schema);
    this.format = described && { name: "answer", schema: described };
    this.request = formatOutputRequest(schema);
    this.#schema = schema;
  }

  /** Reads the answer of a run. Returns the next message to the model; undefined if it is not asked again. */
  async read(outcome: RunOutcome, signal: AbortSignal): Promise<string | undefined> {
    this.#messages.push(...outcome.messages);
    this.#last = outcome;
    this.#output = undefined;
    if (outcome.end.kind !== "done" || !outcome.answer) return undefined;
    const answer = outcome.answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    // Code of the caller reads it, which may take as long as it likes.
    const reading = readOutput(answer, this.#schema, { isEnforced: this.format !== undefined });
    const read = await untilAborted(reading, signal);
    this.#wasAborted = read.kind === "aborted";
    if (read.kind === "aborted") return undefined;
    this.#output = read.value;
    if (read.value.kind === "fits" || this.#corrections++ >= maxCorrections) return undefined;
    return formatCorrection(read.value.problem);
  }

  /**
   * The outcome of the last run that was read and the messages of all, with the value in its answer or what is wrong with that.
   * Without `output` there is no answer, because the run did not end by itself. Throws `aborted` if nobody waited for the check.
   */
  getOutcome(): (RunOutcome & { output?: OutputCheck }) | undefined {
    if (this.#wasAborted)
      throw new HarnessError("aborted", "The answer was not checked, because its prompt was aborted.");
    const messages = [...this.#messages];
    return this.#last && { ...this.#last, messages, ...(this.#output && { output: this.#output }) };
  }
}

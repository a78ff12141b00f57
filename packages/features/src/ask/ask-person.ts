/** Asks a question with the dialogs that every surface has. */
import type { DialogOptions, ExtensionUi } from "@tau/extensions";
import { isRecord } from "@tau/ai/internal";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { maxOptions } from "./feature.ts";

interface AskedQuestion {
  readonly question: string;
  readonly options: readonly string[];
  readonly isMultiple: boolean;
}

type PersonAnswer =
  | { readonly kind: "answered"; readonly chosen: readonly string[]; readonly text?: string }
  /** The person closed the question. */
  | { readonly kind: "dismissed" };

const maxQuestionLength = 2_000;
const maxOptionLength = 200;

type ParsedQuestion =
  | { readonly asked: AskedQuestion; readonly problem?: undefined }
  | { readonly asked?: undefined; readonly problem: string };

/** Reads the arguments of a call. Pure. */
export function parseQuestion(args: unknown): ParsedQuestion {
  const { question, options = [], multiple } = isRecord(args) ? args : {};
  if (typeof question !== "string" || question.trim() === "") return { problem: "`question` is empty." };
  if (question.length > maxQuestionLength)
    return { problem: `\`question\` is longer than ${maxQuestionLength} characters.` };
  if (!Array.isArray(options)) return { problem: "`options` is not a list." };
  if (options.length > maxOptions)
    return { problem: `There are ${options.length} options; at most ${maxOptions} are allowed.` };
  const texts = (options as unknown[]).map((option) =>
    typeof option === "string" ? toVisibleLine(option, maxOptionLength) : "",
  );
  if (texts.includes("")) return { problem: "An option is empty, or not a text." };
  if (new Set(texts).size < texts.length) return { problem: "Two options are the same." };
  return { asked: { question: toVisible(question).trim(), options: texts, isMultiple: multiple === true } };
}

const ownWords = "Something else…";
const done = "Done";

type Ui = Pick<ExtensionUi, "select" | "input">;

export async function askPerson(ui: Ui, asked: AskedQuestion, dialog: DialogOptions): Promise<PersonAnswer> {
  const { question, options, isMultiple } = asked;
  if (options.length === 0) return await askForText(ui, question, dialog);
  if (isMultiple) return await askForSeveral(ui, asked, dialog);
  for (;;) {
    const answer = await ui.select(question, withOwnWords(options), dialog);
    if (answer === undefined) return { kind: "dismissed" };
    if (options.includes(answer)) return { kind: "answered", chosen: [answer] };
    const text = await askForText(ui, question, dialog);
    if (text.kind === "answered" || dialog.signal?.aborted) return text;
  }
}

/** An option of the model may have the same words. */
const withOwnWords = (options: readonly string[]): string[] => [
  ...options,
  options.includes(ownWords) ? `${ownWords} (in your words)` : ownWords,
];

async function askForText(ui: Ui, question: string, dialog: DialogOptions): Promise<PersonAnswer> {
  const text = (await ui.input(question, undefined, dialog))?.trim();
  return text === undefined || text === "" ? { kind: "dismissed" } : { kind: "answered", chosen: [], text };
}

/** Shows the options with their marks until the person is done. */
async function askForSeveral(
  ui: Ui,
  { question, options }: AskedQuestion,
  dialog: DialogOptions,
): Promise<PersonAnswer> {
  const chosen = new Set<string>();
  let text: string | undefined;
  for (;;) {
    const marks = options.map((option) => `${chosen.has(option) ? "[x]" : "[ ]"} ${option}`);
    const own = text === undefined ? ownWords : `[x] ${toVisibleLine(text, maxOptionLength)}`;
    const answer = await ui.select(question, [...marks, own, done], dialog);
    if (answer === undefined) return { kind: "dismissed" };
    const option = options[marks.indexOf(answer)];
    if (option !== undefined) {
      if (!chosen.delete(option)) chosen.add(option);
    } else if (answer === own) {
      const words = await askForText(ui, question, dialog);
      text = words.kind === "answered" ? words.text : undefined;
    } else if (chosen.size > 0 || text !== undefined) {
      const kept = options.filter((each) => chosen.has(each));
      return { kind: "answered", chosen: kept, ...(text !== undefined && { text }) };
    }
  }
}

/** The answer, for the model. Pure. */
export function formatAnswer(answer: PersonAnswer): string {
  if (answer.kind === "dismissed")
    return "The user closed the question without an answer. Decide yourself, or continue with something else.";
  const { chosen, text } = answer;
  return [
    ...(chosen.length > 0 ? [`The user chose: ${chosen.join("; ")}`] : []),
    ...(text === undefined ? [] : [`The user says: ${text}`]),
  ].join("\n");
}

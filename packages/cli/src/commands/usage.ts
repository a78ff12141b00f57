/**
 * The forms of commands. A usage line is the grammar: what `tau help` shows is what is understood and what is completed,
 * so that the three cannot disagree. Pure.
 *
 * `tau sessions export SESSION [--format html|md|jsonl] [-o, --output FILE]  Write it to a file`: capitals stand for what
 * the person gives, brackets for what may be left out, dots for several, and two spaces begin the summary.
 */
import type { Command } from "../command.ts";
import { readTokens } from "../tokens.ts";

export interface FormFlag {
  /** Without dashes. */
  name: string;
  short?: string;
  /** What its value is called; without it the flag takes none. */
  value?: string;
  choices?: readonly string[];
  isRequired: boolean;
}

export interface FormPlace {
  name: string;
  isOptional: boolean;
  isMany: boolean;
}

export interface Form {
  /** The line without its summary. */
  usage: string;
  summary: string;
  /** The subcommand; empty for a command without. */
  word: string;
  flags: readonly FormFlag[];
  places: readonly FormPlace[];
}

export function parseForm(line: string): Form {
  const [usage = "", summary = ""] = line.split(/ {2,}/, 2);
  // The value of a flag belongs to it, with brackets or without.
  const parts = usage.match(/\[[^\]]*\]|-{1,2}[a-z][^\s]*(?: [A-Z]+\b)?|\S+/g)?.slice(2) ?? [];
  const [first] = parts;
  const word = first !== undefined && /^[a-z]/.test(first) ? first : "";
  const flags: FormFlag[] = [];
  const places: FormPlace[] = [];
  for (const part of word === "" ? parts : parts.slice(1)) {
    const isOptional = part.startsWith("[");
    const inner = isOptional ? part.slice(1, -1) : part;
    if (inner.startsWith("-")) flags.push(parseFlag(inner, !isOptional));
    else places.push({ name: inner.replace("...", ""), isOptional, isMany: inner.endsWith("...") });
  }
  return { usage, summary, word, flags, places };
}

function parseFlag(text: string, isRequired: boolean): FormFlag {
  const items = text.split(/[ ,]+/);
  const short = items.find((item) => /^-[a-z]$/.test(item))?.slice(1);
  const name = items.find((item) => item.startsWith("--"))?.slice(2) ?? short ?? "";
  const value = items.find((item) => !item.startsWith("-"));
  const choices = value?.includes("|") ? value.split("|") : undefined;
  return {
    name,
    isRequired,
    ...(short !== undefined && { short }),
    ...(value !== undefined && { value }),
    ...(choices && { choices }),
  };
}

export const getForms = ({ usage }: Pick<Command, "usage">): Form[] => usage.map(parseForm);

/** What a person gave to a form. */
export interface Given {
  word: string;
  /** In the order of the form's places; several are the last ones. */
  places: readonly string[];
  has: (flag: string) => boolean;
  value: (flag: string) => string | undefined;
}

export type ParsedForm =
  | { kind: "given"; given: Given }
  | { kind: "help" }
  /** `wanted` is not one of `known`. */
  | { kind: "mistake"; message: string; wanted?: string; known?: readonly string[] };

export function parseForms(forms: readonly Form[], args: readonly string[]): ParsedForm {
  const words = forms.map(({ word }) => word).filter((word) => word !== "");
  const [first, ...rest] = args;
  if (words.length === 0) return parseGiven(forms[0]!, args);
  if (first === "--help" || first === "-h") return { kind: "help" };
  if (first === undefined) return { kind: "mistake", message: `say what to do: ${words.join(", ")}` };
  const form = forms.find(({ word }) => word === first);
  if (!form) return { kind: "mistake", message: `there is no ${JSON.stringify(first)}`, wanted: first, known: words };
  return parseGiven(form, rest);
}

const mistake = (message: string): ParsedForm => ({ kind: "mistake", message });

function parseGiven(form: Form, args: readonly string[]): ParsedForm {
  const tokens = readTokens(
    args,
    form.flags.map(({ name, short, value }) => ({ name, short, takesValue: value !== undefined })),
  );
  const values = new Map<string, string | true>();
  const places: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") places.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName, value } = token;
    if (token.name === "help" || rawName === "-h") return { kind: "help" };
    const flag = form.flags.find(({ name, short }) => name === token.name || short === token.name);
    if (!flag) {
      const known = form.flags.map(({ name }) => `--${name}`);
      return { kind: "mistake", message: `there is no option ${rawName}`, wanted: rawName, known };
    }
    const problem = problemWith(flag, rawName, value);
    if (problem !== undefined) return mistake(problem);
    values.set(flag.name, value ?? true);
  }
  const problem = problemWithPlaces(form, places) ?? missingFlag(form, values);
  if (problem !== undefined) return mistake(problem);
  const value = (name: string) => {
    const found = values.get(name);
    return found === true ? undefined : found;
  };
  return { kind: "given", given: { word: form.word, places, has: (name) => values.has(name), value } };
}

function problemWith({ value, choices }: FormFlag, raw: string, given: string | undefined): string | undefined {
  if (value === undefined) return given === undefined ? undefined : `${raw} takes no value`;
  if (given === undefined || given.startsWith("--")) return `${raw} needs a value: ${raw} ${value}`;
  if (choices && !choices.includes(given)) return `${raw} takes ${choices.join(", ")}, not ${JSON.stringify(given)}`;
  return undefined;
}

function problemWithPlaces({ places }: Form, given: readonly string[]): string | undefined {
  const missing = places.find(({ isOptional }, at) => !isOptional && given[at] === undefined);
  if (missing) return `${missing.name} is missing`;
  if (places.at(-1)?.isMany || given.length <= places.length) return undefined;
  return `${JSON.stringify(given[places.length])} is one argument too many`;
}

function missingFlag({ flags }: Form, values: ReadonlyMap<string, unknown>): string | undefined {
  const missing = flags.find(({ name, isRequired }) => isRequired && !values.has(name));
  return missing && `--${missing.name} ${missing.value ?? ""} is missing`.replace("  ", " ");
}

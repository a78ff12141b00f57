/**
 * The grammar of commands. Help, parsing and completion all read the same usage lines, so that they cannot disagree. Pure.
 *
 * `tau sessions export SESSION [--format html|md|jsonl] [-o, --output FILE]  Write it to a file`: capitals stand for
 * arguments, brackets for what is optional, dots for one or more, and two spaces begin the summary.
 */
import type { Command } from "./command.ts";
import { findValueProblem, type FlagSpec, readTokens } from "../start/tokens.ts";

interface UsageFlag extends FlagSpec {
  isRequired: boolean;
}

interface UsagePositional {
  name: string;
  isOptional: boolean;
  isMany: boolean;
}

interface Usage {
  /** Without the summary. */
  line: string;
  summary: string;
  /** Empty for a command that has none. */
  subcommand: string;
  flags: readonly UsageFlag[];
  positionals: readonly UsagePositional[];
}

export function parseUsage(text: string): Usage {
  const [line = "", summary = ""] = text.split(/ {2,}/, 2);
  // The value of a flag belongs to it, with brackets or without.
  const parts = line.match(/\[[^\]]*\]|-{1,2}[a-z][^\s]*(?: [A-Z]+\b)?|\S+/g)?.slice(2) ?? [];
  const subcommand = /^[a-z]/.test(parts[0] ?? "") ? parts.shift()! : "";
  const flags: UsageFlag[] = [];
  const positionals: UsagePositional[] = [];
  for (const part of parts) {
    const isOptional = part.startsWith("[");
    const inner = isOptional ? part.slice(1, -1) : part;
    if (inner.startsWith("-")) flags.push(parseFlag(inner, !isOptional));
    else positionals.push({ name: inner.replace("...", ""), isOptional, isMany: inner.endsWith("...") });
  }
  return { line, summary, subcommand, flags, positionals };
}

function parseFlag(text: string, isRequired: boolean): UsageFlag {
  const items = text.split(/[ ,]+/);
  const short = items.find((item) => /^-[a-z]$/.test(item))?.slice(1);
  const name = items.find((item) => item.startsWith("--"))?.slice(2) ?? short ?? "";
  const value = items.find((item) => !item.startsWith("-"));
  return {
    name,
    isRequired,
    ...(short !== undefined && { short }),
    ...(value !== undefined && { value }),
    ...(value?.includes("|") && { choices: value.split("|") }),
  };
}

export const parseUsages = ({ usage }: Pick<Command, "usage">): Usage[] => usage.map(parseUsage);

/** The arguments of a command, checked against its usage. */
export interface CommandArgs {
  subcommand: string;
  /** In the order of the usage line; if the last one may be repeated, all further arguments follow. */
  positionals: readonly string[];
  has: (flag: string) => boolean;
  /** Returns the value of a flag; the last one if it is repeated. */
  value: (flag: string) => string | undefined;
  values: (flag: string) => readonly string[];
}

type ParsedCommand =
  | { kind: "args"; args: CommandArgs }
  | { kind: "help" }
  /** If `wanted` is given, it is not one of the `known` names. `isWord`: a word, not an option, does not fit the usage. */
  | { kind: "invalid"; message: string; wanted?: string; known?: readonly string[]; isWord?: true };

export function parseCommandArgs(usages: readonly Usage[], args: readonly string[]): ParsedCommand {
  const subcommands = usages.map(({ subcommand }) => subcommand).filter((name) => name !== "");
  if (subcommands.length === 0) return parseArgs(usages[0]!, args);
  const [first, ...rest] = args;
  if (first === "--help" || first === "-h") return { kind: "help" };
  const alone = usages.find(({ subcommand }) => subcommand === "");
  // The first argument of a command that takes some itself is a subcommand only if it is the name of one.
  const isOwn = first === undefined || first.startsWith("-") || (alone?.positionals.length ?? 0) > 0;
  if (alone && isOwn && !subcommands.includes(first ?? "")) return parseArgs(alone, args);
  if (first === undefined) return createError(`name a subcommand: ${subcommands.join(", ")}`);
  const usage = usages.find(({ subcommand }) => subcommand === first);
  if (usage) return parseArgs(usage, rest);
  const error = createWordError(`there is no subcommand ${JSON.stringify(first)}`);
  return { ...error, wanted: first, known: subcommands };
}

const createError = (message: string) => ({ kind: "invalid" as const, message });
const createWordError = (message: string) => ({ ...createError(message), isWord: true as const });

function parseArgs(usage: Usage, args: readonly string[]): ParsedCommand {
  const values = new Map<string, (string | undefined)[]>();
  const positionals: string[] = [];
  for (const token of readTokens(args, usage.flags)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName, value } = token;
    if (token.name === "help" || rawName === "-h") return { kind: "help" };
    const flag = usage.flags.find(({ name, short }) => name === token.name || short === token.name);
    if (!flag) {
      const known = usage.flags.map(({ name }) => `--${name}`);
      return { ...createError(`there is no option ${rawName}`), wanted: rawName, known };
    }
    const problem = findValueProblem(flag, token);
    if (problem !== undefined) return createError(problem);
    values.set(flag.name, [...(values.get(flag.name) ?? []), value]);
  }
  const { subcommand } = usage;
  const extra = findExtraWord(usage, positionals);
  if (extra !== undefined) return createWordError(`${JSON.stringify(extra)} is one argument too many`);
  const missing = findMissingPositional(usage, positionals) ?? findMissingFlag(usage, values);
  if (missing !== undefined) return createError(`${missing} is missing`);
  return {
    kind: "args",
    args: {
      subcommand,
      positionals,
      has: (name) => values.has(name),
      value: (name) => values.get(name)?.at(-1),
      values: (name) => (values.get(name) ?? []).filter((value) => value !== undefined),
    },
  };
}

const findExtraWord = ({ positionals }: Usage, values: readonly string[]): string | undefined =>
  positionals.at(-1)?.isMany ? undefined : values[positionals.length];

const findMissingPositional = ({ positionals }: Usage, values: readonly string[]): string | undefined =>
  positionals.find(({ isOptional }, index) => !isOptional && values[index] === undefined)?.name;

function findMissingFlag({ flags }: Usage, values: ReadonlyMap<string, unknown>): string | undefined {
  const missing = flags.find(({ name, isRequired }) => isRequired && !values.has(name));
  return missing && `--${[missing.name, missing.value].filter(Boolean).join(" ")}`;
}

/** Splits a command line into options and positionals, with `parseArgs` of `node:util`. */
import { parseArgs } from "node:util";

/** The facts of a flag that parsing needs. */
export interface FlagSpec {
  /** Without dashes. */
  name: string;
  /** A letter, or more that are always written together, such as `nt`. */
  short?: string;
  /** The name of its value in help; absent if the flag takes none. */
  value?: string;
  /** Whether the value may be left out. `inline`: it is only taken after `=`, so that a prompt can follow. */
  optional?: true | "inline";
  /** Whether the value may be empty. Default: that is a variable which a script forgot to fill in. */
  mayBeEmpty?: true;
  /** Whether the value is a number above 0. */
  number?: "any" | "whole";
  choices?: readonly string[];
}

type NodeToken = ReturnType<typeof readNodeTokens>[number];
type Token = Exclude<NodeToken, { kind: "option-terminator" }>;
export type OptionToken = Extract<NodeToken, { kind: "option" }>;

/** Unknown options are tokens too, so that the caller can name them. */
export function readTokens(args: readonly string[], flags: readonly FlagSpec[]): Token[] {
  return readNodeTokens(args, flags).flatMap((token): Token[] => {
    if (token.kind !== "option-terminator") return [token];
    if (args[token.index] === "--") return [];
    // Node reads `-p-` as `-p --`; a dash among letters is an unknown option instead.
    return [{ kind: "option", name: "-", rawName: "--", index: token.index, value: undefined, inlineValue: undefined }];
  });
}

function readNodeTokens(args: readonly string[], flags: readonly FlagSpec[]) {
  const specs = flags.map(({ name, short, value, optional }) => [
    name,
    {
      type: value === undefined || optional ? ("boolean" as const) : ("string" as const),
      ...(short?.length === 1 && { short }),
    },
  ]);
  // Node knows only single letters, and would read `-nt` as `-n t`.
  const longNames = new Map(flags.flatMap(({ name, short = "" }) => (short[1] ? [[`-${short}`, `--${name}`]] : [])));
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const { tokens } = parseArgs({
    args: args.map((arg, index) => (index < end && (longNames.get(arg) ?? hideNumber(arg))) || arg),
    options: Object.fromEntries(specs) as Record<string, { type: "string" | "boolean"; short?: string }>,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return tokens.map((token) => {
    const value = "value" in token ? token.value : undefined;
    return value?.startsWith(numberMark) ? ({ ...token, value: value.slice(1) } as typeof token) : token;
  });
}

/** Node would read a negative number as options. No argument of a process can have this character in it. */
const numberMark = "\0";
const isNegative = (text: string): boolean => /^-\d+(\.\d+)?$/.test(text);
const hideNumber = (arg: string): string => (isNegative(arg) ? `${numberMark}${arg}` : arg);

/** Why an option does not have the value that its flag needs. */
export function findValueProblem(flag: FlagSpec, { rawName, value, inlineValue }: OptionToken): string | undefined {
  const { choices, number } = flag;
  if (flag.value === undefined) return value === undefined ? undefined : `${rawName} takes no value`;
  if (value === undefined && flag.optional) return undefined;
  if (value === undefined || isDoubtful(rawName, value, inlineValue) || (value.trim() === "" && !flag.mayBeEmpty)) {
    return `${rawName} needs a value: ${rawName}${flag.optional ? "=" : " "}${flag.value}`;
  }
  if (choices && !choices.includes(value))
    return `${rawName} takes ${choices.join(", ")}, not ${JSON.stringify(value)}`;
  if (number && !(Number(value) > 0)) return `${rawName} takes a number above 0, not ${JSON.stringify(value)}`;
  if (number === "whole" && !Number.isInteger(Number(value))) return `${rawName} takes a whole number, not ${value}`;
  return undefined;
}

/** Whether the value may be another flag: `-tp`, and `--name -p`. To pass such a value, write `--name=-p`. */
const isDoubtful = (rawName: string, value: string, isInline = false): boolean =>
  isInline ? !rawName.startsWith("--") : value.startsWith("-") && value !== "-" && !isNegative(value);

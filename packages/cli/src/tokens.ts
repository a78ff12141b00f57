/** Splits a command line into options and positionals, with `parseArgs` of `node:util`. */
import { parseArgs } from "node:util";

export interface OptionSpec {
  /** Without dashes. */
  name: string;
  /** One letter. */
  short?: string | undefined;
  /** Whether the next argument is its value, unless one is written with `=`. */
  takesValue: boolean;
}

type NodeToken = ReturnType<typeof readNodeTokens>[number];
export type Token = Exclude<NodeToken, { kind: "option-terminator" }>;
export type OptionToken = Extract<NodeToken, { kind: "option" }>;

/** Unknown options are tokens too, so that the caller can name them. */
export function readTokens(args: readonly string[], options: readonly OptionSpec[]): Token[] {
  return readNodeTokens(args, options).flatMap((token): Token[] => {
    if (token.kind !== "option-terminator") return [token];
    if (args[token.index] === "--") return [];
    // Node reads `-p-` as `-p --`; a dash among letters is an unknown option instead.
    return [{ kind: "option", name: "-", rawName: "--", index: token.index, value: undefined, inlineValue: undefined }];
  });
}

function readNodeTokens(args: readonly string[], options: readonly OptionSpec[]) {
  const specs = options.map(({ name, short, takesValue }) => [
    name,
    { type: takesValue ? ("string" as const) : ("boolean" as const), ...(short !== undefined && { short }) },
  ]);
  return parseArgs({
    args: [...args],
    options: Object.fromEntries(specs) as Record<string, { type: "string" | "boolean"; short?: string }>,
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

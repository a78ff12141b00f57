/** From what a person typed to what they want. Pure. */
import { type Flag, flags } from "./flags.ts";
import type { SessionOptions } from "./session-options.ts";
import { findValueProblem, type OptionToken, readTokens } from "./tokens.ts";

type Parsed =
  | { kind: "version" }
  /** Extensions have options too, and these flags say which extensions there are. */
  | ({ kind: "help" } & Pick<SessionOptions, "extensions" | "noExtensions" | "directory">)
  | { kind: "session"; options: SessionOptions }
  /** `unknown` is the flag that there is none of, for a suggestion. */
  | { kind: "invalid"; message: string; unknown?: string };

/** With `extensionFlags`, all flags are known. Without, a long one that is not may be that of an extension. */
export function parseSessionArgs(args: readonly string[], extensionFlags?: readonly Flag[]): Parsed {
  const known = [...flags, ...(extensionFlags ?? [])];
  const byName = new Map(known.map((flag) => [flag.name, flag]));
  const tokens = readTokens(args, known);
  const unknown: string[] = [];
  const values = new Map<string, (string | true)[]>();
  const positionals: string[] = [];
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind === "positional" && !taken.has(token.index)) positionals.push(token.value);
    if (token.kind !== "option") continue;
    const flag = byName.get(token.name);
    if (!flag && !extensionFlags && /^--\w/.test(token.rawName)) {
      unknown.push(token.rawName);
      continue;
    }
    if (!flag) return { kind: "invalid", message: `there is no option ${token.rawName}`, unknown: token.rawName };
    const value = getValue(flag, token, args, taken);
    // `-name` leaves a tool out, unless it is a flag.
    const isChange =
      flag.name === "tools" && /^-\w/.test(value ?? "") && !known.some(({ short }) => `-${short}` === value);
    const clear = isChange && { rawName: `--${flag.name}`, inlineValue: true };
    const problem = findValueProblem(flag, { ...token, value, ...clear } as OptionToken);
    if (problem !== undefined) return { kind: "invalid", message: problem };
    values.set(flag.name, [...(values.get(flag.name) ?? []), value ?? true]);
  }
  if (values.has("help")) return toHelp(values);
  if (values.has("version")) return { kind: "version" };
  const parsed = toOptions(values, positionals);
  if (parsed.kind !== "session") return parsed;
  const ofExtensions = (extensionFlags ?? []).flatMap(({ name }): [string, string | true][] => {
    const value = values.get(name)?.at(-1);
    return value === undefined ? [] : [[name, value]];
  });
  const options = { ...parsed.options, extensionFlags: new Map(ofExtensions) };
  return {
    kind: "session",
    options: unknown.length === 0 ? options : { ...options, unknownFlags: { names: unknown, args } },
  };
}

/** The values that were typed after each flag, by its name; true for nothing. */
type FlagValues = ReadonlyMap<string, readonly (string | true)[]>;

function toHelp(values: FlagValues): Parsed {
  const directory = values.get("directory")?.at(-1);
  return {
    kind: "help",
    extensions: (values.get("extension") ?? []) as readonly string[],
    noExtensions: values.has("no-extensions"),
    ...(typeof directory === "string" && { directory }),
  };
}

/** A flag whose value may be left out takes what follows, unless that is a flag. */
function getValue(flag: Flag, token: OptionToken, args: readonly string[], taken: Set<number>): string | undefined {
  if (flag.optional !== true || token.value !== undefined) return token.value;
  const next = args[token.index + 1];
  if (next === undefined || next.startsWith("-")) return undefined;
  taken.add(token.index + 1);
  return next;
}

/** The modes of `--output-format`, whose names other agents have made known. */
const modes: Readonly<Record<string, SessionOptions["mode"]>> = { text: "text", json: "result", "stream-json": "json" };

/** Flags of a prompt that runs in the gateway, which has its own settings. */
const gatewayFlags: readonly string[] =
  "gateway print mode output-format events output quiet verbose directory model thinking agent continue session name".split(
    " ",
  );

/** Groups of flags of which only one can be given. */
const alternatives: readonly (readonly string[])[] = [
  ["continue", "resume", "session", "session-id"],
  ["continue", "resume", "session", "fork", "no-session"],
  ["entry", "print"],
  ["entry", "resume"],
  ["entry", "gateway"],
  ["tools", "no-tools"],
  ["model", "role"],
  ["provider", "role"],
  ["approve", "no-approve"],
  ["worktree", "resume", "session"],
  ["export", "profile"],
  ["export", "set"],
  ["list-models", "profile"],
  ["list-models", "set"],
];

function toOptions(values: FlagValues, positionals: readonly string[]): Parsed {
  // An empty argument may come from an unset variable in a script.
  const words = positionals.filter((word) => !isFile(word) && word.trim() !== "");
  const message = findContradiction(values, words);
  if (message !== undefined) return { kind: "invalid", message };
  const { mode = "text", outputFormat, approve, noApprove, help: _, version: __, ...others } = readFlags(values);
  const options = {
    ...others,
    print: others["print"] || others["gateway"] || outputFormat !== undefined || hasOutput(others),
    mode: outputFormat === undefined ? mode : modes[outputFormat as string],
    ...(approve === noApprove ? {} : { approve }),
    words,
    message: words.join(" "),
    files: positionals.filter(isFile).map((path) => path.slice(1)),
  };
  return { kind: "session", options: options as unknown as SessionOptions };
}

const hasOutput = ({ output, outputSchema }: Record<string, unknown>) =>
  output !== undefined || outputSchema !== undefined;

/** The first flags that do not go together, for people. */
function findContradiction(values: FlagValues, words: readonly string[]): string | undefined {
  const has = (name: string) => values.has(name);
  const pairs = alternatives.map((names) => names.filter(has));
  pairs.push(has("gateway") ? ["gateway", ...[...values.keys()].filter((name) => !gatewayFlags.includes(name))] : []);
  const pair = pairs.find((names) => names.length > 1);
  const tools = values.get("tools")?.flatMap((list) => String(list).split(",")) ?? [];
  if (tools.some((name) => /^[+-]/.test(name)) && !tools.every((name) => /^[+-]/.test(name)))
    return "--tools has either names or changes (+name, -name), not both";
  if (pair) return `--${pair[0]} and --${pair[1]} do not go together`;
  const runSettings = ["profile", "set"].find(has);
  // A client of RPC has not chosen the settings, and the others open no session.
  if (runSettings !== undefined && values.get("mode")?.at(-1) === "rpc")
    return `--mode rpc and --${runSettings} do not go together`;
  if (has("export") && words.length > 1) return `--export takes one file to write, not ${words.length}`;
  const output = ["output-schema", "output"].find(has);
  if (output !== undefined && values.get("mode")?.at(-1) === "rpc")
    return `--mode rpc and --${output} do not go together`;
  const [mode, format] = [values.get("mode")?.at(-1), values.get("output-format")?.at(-1)];
  if (mode === undefined || format === undefined || mode === modes[String(format)]) return undefined;
  return `--mode ${mode} and --output-format ${format} do not go together`;
}

/** The values of all flags, by the names of their options. What is not given and has no value is left out. */
function readFlags(values: FlagValues): Record<string, unknown> {
  const read = flags.map((flag): [string, unknown] => {
    const { name, option = name.replaceAll(/-(.)/g, (_match, letter: string) => letter.toUpperCase()) } = flag;
    return [option, readFlag(flag, values.get(name) ?? [])];
  });
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function readFlag(flag: Flag, values: readonly (string | true)[]): unknown {
  const last = values.at(-1);
  if (flag.value === undefined) return last === true;
  if (flag.many === "values") return values;
  if (last === undefined) return undefined;
  if (flag.many === "lists") return values.flatMap((value) => splitList(String(value)));
  return flag.number ? Number(last) : last;
}

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

const isFile = (argument: string) => argument.startsWith("@") && argument.length > 1;

/** From what a person typed to what they want. Pure. */
import { type Flag, flags } from "./flags.ts";
import { type OptionToken, readTokens } from "./tokens.ts";

/** What the flags say. Names are those of the flags, in camel case. */
export interface SessionOptions {
  print: boolean;
  mode: "text" | "json" | "rpc";
  quiet: boolean;
  verbose: boolean;
  offline: boolean;
  maxTurns?: number;
  maxCost?: number;
  /** Seconds. */
  timeout?: number;
  provider?: string;
  model?: string;
  thinking?: string;
  apiKey?: string;
  models?: readonly string[];
  /** True without a search. */
  listModels?: string | true;
  continue: boolean;
  resume: boolean;
  session?: string;
  sessionId?: string;
  fork?: string;
  sessionDir?: string;
  noSession: boolean;
  name?: string;
  tools?: readonly string[];
  excludeTools?: readonly string[];
  noTools: boolean;
  sequentialTools: boolean;
  systemPrompt?: string;
  appendSystemPrompt: readonly string[];
  skills: readonly string[];
  promptTemplates: readonly string[];
  noContextFiles: boolean;
  /** What is said, in order. */
  messages: readonly string[];
  /** What `@file` names, without the sign. */
  files: readonly string[];
}

export type Parsed =
  | { kind: "help" | "version" }
  | { kind: "session"; options: SessionOptions }
  /** `unknown` is the flag that there is none of, for a suggestion. */
  | { kind: "mistake"; message: string; unknown?: string };

const byName = new Map(flags.map((flag) => [flag.name, flag]));

export function parseSessionArgs(args: readonly string[]): Parsed {
  const tokens = readTokens(args, flags.map(toOption));
  const given = new Map<string, (string | true)[]>();
  const positionals: string[] = [];
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind === "positional" && !taken.has(token.index)) positionals.push(token.value);
    if (token.kind !== "option") continue;
    const flag = byName.get(token.name);
    if (!flag) return { kind: "mistake", message: `there is no option ${token.rawName}`, unknown: token.rawName };
    const value = getValue(flag, token, args, taken);
    const mistake = problemWith(flag, token.rawName, value, token.inlineValue === true);
    if (mistake !== undefined) return { kind: "mistake", message: mistake };
    if (!flag.many && given.has(flag.name)) return { kind: "mistake", message: `${token.rawName} is given twice` };
    given.set(flag.name, [...(given.get(flag.name) ?? []), value ?? true]);
  }
  if (given.has("help")) return { kind: "help" };
  if (given.has("version")) return { kind: "version" };
  return toOptions(given, positionals);
}

const toOption = ({ name, short, value, optional }: Flag) => ({
  name,
  short,
  takesValue: value !== undefined && !optional,
});

/** A flag whose value may be left out takes what follows, unless that is a flag. */
function getValue(flag: Flag, token: OptionToken, args: readonly string[], taken: Set<number>): string | undefined {
  if (!flag.optional || token.value !== undefined) return token.value;
  const next = args[token.index + 1];
  if (next === undefined || next.startsWith("-")) return undefined;
  taken.add(token.index + 1);
  return next;
}

function problemWith(
  { name, value, optional, choices }: Flag,
  raw: string,
  given: string | undefined,
  isInline: boolean,
): string | undefined {
  if (value === undefined) return given === undefined ? undefined : `${raw} takes no value`;
  if (given === undefined) return optional ? undefined : `${raw} needs a value: ${raw} ${value}`;
  // A value that looks like a flag is one that was forgotten; who means it writes it with `=`.
  if (!isInline && given.startsWith("-") && given !== "-") return `${raw} needs a value: ${raw} ${value}`;
  // What a script forgot to fill in. Only a prompt may be empty, and the list of tools.
  if (given.trim() === "" && !mayBeEmpty.has(name)) return `${raw} needs a value: ${raw} ${value}`;
  if (choices && !choices.includes(given)) return `${raw} takes ${choices.join(", ")}, not ${JSON.stringify(given)}`;
  if (numbers.has(name) && !(Number(given) > 0)) return `${raw} takes a number above 0, not ${JSON.stringify(given)}`;
  if (name === "max-turns" && !Number.isInteger(Number(given))) return `${raw} takes a whole number, not ${given}`;
  return undefined;
}

const mayBeEmpty = new Set(["system-prompt", "append-system-prompt", "tools"]);
const numbers = new Set(["max-turns", "max-cost", "timeout"]);

function toOptions(given: ReadonlyMap<string, readonly (string | true)[]>, positionals: readonly string[]): Parsed {
  const has = (name: string) => given.has(name);
  const text = (name: string) => given.get(name)?.at(-1) as string | undefined;
  const all = (name: string) => (given.get(name) ?? []) as readonly string[];
  const list = (name: string) =>
    text(name)
      ?.split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  const number = (name: string) => (has(name) ? Number(text(name)) : undefined);
  const chosen = ["continue", "resume", "session", "session-id", "fork", "no-session"].filter(has);
  if (chosen.length > 1) return { kind: "mistake", message: `--${chosen[0]} and --${chosen[1]} do not go together` };
  if (has("tools") && has("no-tools")) return { kind: "mistake", message: "--tools and --no-tools do not go together" };
  const options: Required<Record<keyof SessionOptions, unknown>> = {
    print: has("print"),
    mode: text("mode") ?? "text",
    quiet: has("quiet"),
    verbose: has("verbose"),
    offline: has("offline"),
    maxTurns: number("max-turns"),
    maxCost: number("max-cost"),
    timeout: number("timeout"),
    provider: text("provider"),
    model: text("model"),
    thinking: text("thinking"),
    apiKey: text("api-key"),
    models: list("models"),
    listModels: text("list-models"),
    continue: has("continue"),
    resume: has("resume"),
    session: text("session"),
    sessionId: text("session-id"),
    fork: text("fork"),
    sessionDir: text("session-dir"),
    noSession: has("no-session"),
    name: text("name"),
    tools: list("tools"),
    excludeTools: list("exclude-tools"),
    noTools: has("no-tools"),
    sequentialTools: has("sequential-tools"),
    systemPrompt: text("system-prompt"),
    appendSystemPrompt: all("append-system-prompt"),
    skills: all("skill"),
    promptTemplates: all("prompt-template"),
    noContextFiles: has("no-context-files"),
    messages: positionals.filter((one) => !isFile(one)),
    files: positionals.filter(isFile).map((one) => one.slice(1)),
  };
  const known = Object.entries(options).filter(([, value]) => value !== undefined);
  return { kind: "session", options: Object.fromEntries(known) as unknown as SessionOptions };
}

const isFile = (argument: string) => argument.startsWith("@") && argument.length > 1;

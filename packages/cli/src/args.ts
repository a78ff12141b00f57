/** From what a person typed to what they want. Pure. */
import type { NamedPackage } from "@tau/harness/extensions";
import { type Flag, flags } from "./flags.ts";
import { findValueProblem, type OptionToken, readTokens } from "./tokens.ts";

/** What the flags say. Names are those of the flags, in camel case. */
export interface SessionOptions {
  print: boolean;
  /** `result` is `--output-format json`: only the line that ends the events of `json`. */
  mode: "text" | "json" | "result" | "rpc";
  quiet: boolean;
  verbose: boolean;
  offline: boolean;
  gateway: boolean;
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
  agent?: string;
  tools?: readonly string[];
  excludeTools?: readonly string[];
  noTools: boolean;
  sequentialTools: boolean;
  policy: string | undefined;
  sandbox: "off" | "auto" | "required" | undefined;
  noBuiltinTools: boolean;
  /** Directories in which tools may work besides the working directory. */
  addDir: readonly string[];
  /** Whether the project is trusted in this process, whatever is stored. */
  approve?: boolean;
  systemPrompt?: string;
  appendSystemPrompt: readonly string[];
  skills: readonly string[];
  noSkills: boolean;
  promptTemplates: readonly string[];
  noPromptTemplates: boolean;
  noContextFiles: boolean;
  /** Files and directories. */
  themes: readonly string[];
  useTheme?: string;
  tuiMode?: "regular" | "fullscreen";
  noThemes: boolean;
  /** Files, directories, and sources of packages. */
  extensions: readonly string[];
  /** The packages among `extensions`, once they are fetched; then they are not in `extensions` any more. */
  namedPackages?: readonly NamedPackage[];
  noExtensions: boolean;
  /** The options that extensions have registered, by name. */
  extensionFlags: ReadonlyMap<string, string | true>;
  /** Options that can only be those of extensions, with all arguments: they are parsed again when extensions are loaded. */
  unknownFlags?: { names: readonly string[]; args: readonly string[] };
  /** Where to run, if not in the working directory. */
  directory?: string;
  /** The session to write as HTML. Then the only word is the file to write; without one, a name is made. */
  export?: string;
  /** The arguments that are neither options nor files. */
  words: readonly string[];
  /** The prompt: the words, with blanks between them. Empty without any. */
  message: string;
  /** What `@file` names, without the sign. */
  files: readonly string[];
}

export type Parsed =
  | { kind: "version" }
  /** Extensions have options too, and these flags say which extensions there are. */
  | ({ kind: "help" } & Pick<SessionOptions, "extensions" | "noExtensions" | "directory">)
  | { kind: "session"; options: SessionOptions }
  /** `unknown` is the flag that there is none of, for a suggestion. */
  | { kind: "mistake"; message: string; unknown?: string };

/** With `extensionFlags`, all flags are known. Without, a long one that is not may be that of an extension. */
export function parseSessionArgs(args: readonly string[], extensionFlags?: readonly Flag[]): Parsed {
  const known = [...flags, ...(extensionFlags ?? [])];
  const byName = new Map(known.map((flag) => [flag.name, flag]));
  const tokens = readTokens(args, known);
  const unknown: string[] = [];
  const given = new Map<string, (string | true)[]>();
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
    if (!flag) return { kind: "mistake", message: `there is no option ${token.rawName}`, unknown: token.rawName };
    const value = getValue(flag, token, args, taken);
    const mistake = findValueProblem(flag, { ...token, value } as OptionToken);
    if (mistake !== undefined) return { kind: "mistake", message: mistake };
    given.set(flag.name, [...(given.get(flag.name) ?? []), value ?? true]);
  }
  if (given.has("help")) return toHelp(given);
  if (given.has("version")) return { kind: "version" };
  const parsed = toOptions(given, positionals);
  if (parsed.kind !== "session") return parsed;
  const values = (extensionFlags ?? []).flatMap(({ name }): [string, string | true][] => {
    const value = given.get(name)?.at(-1);
    return value === undefined ? [] : [[name, value]];
  });
  const options = { ...parsed.options, extensionFlags: new Map(values) };
  return {
    kind: "session",
    options: unknown.length === 0 ? options : { ...options, unknownFlags: { names: unknown, args } },
  };
}

function toHelp(given: ReadonlyMap<string, readonly (string | true)[]>): Parsed {
  const directory = given.get("directory")?.at(-1);
  return {
    kind: "help",
    extensions: (given.get("extension") ?? []) as readonly string[],
    noExtensions: given.has("no-extensions"),
    ...(typeof directory === "string" && { directory }),
  };
}

/** A flag whose value may be left out takes what follows, unless that is a flag. */
function getValue(flag: Flag, token: OptionToken, args: readonly string[], taken: Set<number>): string | undefined {
  if (!flag.optional || token.value !== undefined) return token.value;
  const next = args[token.index + 1];
  if (next === undefined || next.startsWith("-")) return undefined;
  taken.add(token.index + 1);
  return next;
}

/** The modes of `--output-format`, whose names other agents have made known. */
const modes: Readonly<Record<string, SessionOptions["mode"]>> = { text: "text", json: "result", "stream-json": "json" };

/** What can be said of a prompt that runs in the gateway, which has its own settings. */
const gatewayFlags: readonly string[] =
  "gateway print mode output-format quiet verbose directory model thinking agent continue session name".split(" ");

function toOptions(given: ReadonlyMap<string, readonly (string | true)[]>, positionals: readonly string[]): Parsed {
  const has = (name: string) => given.has(name);
  const text = (name: string) => given.get(name)?.at(-1) as string | undefined;
  const all = (name: string) => (given.get(name) ?? []) as readonly string[];
  const list = (name: string) =>
    given
      .get(name)
      ?.flatMap((value) => String(value).split(","))
      .map((one) => one.trim())
      .filter((one) => one !== "");
  const number = (name: string) => (has(name) ? Number(text(name)) : undefined);
  const chosen = ["continue", "resume", "session", "session-id", "fork", "no-session"].filter(has);
  if (chosen.length > 1) return { kind: "mistake", message: `--${chosen[0]} and --${chosen[1]} do not go together` };
  if (has("tools") && has("no-tools")) return { kind: "mistake", message: "--tools and --no-tools do not go together" };
  if (has("approve") && has("no-approve")) {
    return { kind: "mistake", message: "--approve and --no-approve do not go together" };
  }
  const isHere = has("gateway") ? [...given.keys()].find((name) => !gatewayFlags.includes(name)) : undefined;
  if (isHere !== undefined) return { kind: "mistake", message: `--gateway and --${isHere} do not go together` };
  // An empty argument may come from an unset variable in a script.
  const words = positionals.filter((one) => !isFile(one) && one.trim() !== "");
  if (has("export") && words.length > 1) {
    return { kind: "mistake", message: `--export takes one file to write, not ${words.length}` };
  }
  const format = text("output-format");
  const mode = format === undefined ? (text("mode") ?? "text") : modes[format];
  if (has("mode") && mode !== text("mode")) {
    return { kind: "mistake", message: `--mode ${text("mode")} and --output-format ${format} do not go together` };
  }
  const options: Required<
    Record<keyof Omit<SessionOptions, "extensionFlags" | "unknownFlags" | "namedPackages">, unknown>
  > = {
    print: has("print") || has("gateway") || format !== undefined,
    mode,
    quiet: has("quiet"),
    verbose: has("verbose"),
    offline: has("offline"),
    gateway: has("gateway"),
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
    agent: text("agent"),
    tools: list("tools"),
    excludeTools: list("exclude-tools"),
    noTools: has("no-tools"),
    sequentialTools: has("sequential-tools"),
    policy: text("policy"),
    sandbox: text("sandbox"),
    noBuiltinTools: has("no-builtin-tools"),
    addDir: all("add-dir"),
    approve: has("approve") || (has("no-approve") ? false : undefined),
    systemPrompt: text("system-prompt"),
    appendSystemPrompt: all("append-system-prompt"),
    skills: all("skill"),
    noSkills: has("no-skills"),
    promptTemplates: all("prompt-template"),
    noPromptTemplates: has("no-prompt-templates"),
    noContextFiles: has("no-context-files"),
    themes: all("theme"),
    useTheme: text("use-theme"),
    tuiMode: text("tui-mode"),
    noThemes: has("no-themes"),
    extensions: all("extension"),
    noExtensions: has("no-extensions"),
    directory: text("directory"),
    export: text("export"),
    words,
    message: words.join(" "),
    files: positionals.filter(isFile).map((one) => one.slice(1)),
  };
  const known = Object.entries(options).filter(([, value]) => value !== undefined);
  return { kind: "session", options: Object.fromEntries(known) as unknown as SessionOptions };
}

const isFile = (argument: string) => argument.startsWith("@") && argument.length > 1;

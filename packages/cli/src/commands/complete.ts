/**
 * `tau __complete`: what the scripts of `tau completion` ask for when Tab is pressed. It opens no session, contacts no
 * server, and reports no error: a shell would show it in the middle of the command line.
 */
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { expandHome, getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { type Flag, flags, thinkingLevels } from "../start/flags.ts";
import type { FlagSpec } from "../start/tokens.ts";
import { formatForBash, splitLine } from "./complete-bash.ts";
import { commands } from "./index.ts";
import { parseUsages } from "./usage.ts";

/** `description` is shown by shells that can. */
interface Candidate {
  value: string;
  description?: string;
}

const maxCandidates = 1_000;

/** `bash LINE WORDBREAKS`, or the name of another shell and the words of the line, the last of which is being typed. */
export async function runComplete([shell, ...args]: readonly string[], io: Io): Promise<void> {
  const silent: Io = { ...io, err: () => {}, terminal: { ...io.terminal, err: false } };
  try {
    if (shell === "bash") {
      const line = splitLine(args[0] ?? "", args[1] ?? "");
      const candidates = await complete(line.words.slice(1), line.current, silent);
      return io.out(candidates.map(({ value }) => `${formatForBash(value, line)}\n`).join(""));
    }
    const candidates = await complete(args.slice(0, -1), args.at(-1) ?? "", silent);
    io.out(candidates.map(({ value, description = "" }) => `${value}\t${toOneLine(description)}\n`).join(""));
  } catch {
    // Without completions, the shell completes files.
  }
}

const toOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 80);

/** The words before the current one, without the name of the program. */
async function complete(words: readonly string[], current: string, io: Io): Promise<Candidate[]> {
  const isMoved = words[0] === "-C" && words.length > 1;
  const moved = isMoved ? { ...io, cwd: resolve(io.cwd, expandHome(io, words[1]!)) } : io;
  const rest = isMoved ? words.slice(2) : words;
  const command = commands.find(({ name }) => name === rest[0]);
  const context: Context = { words: rest, current, io: moved };
  const candidates = command ? await completeCommand(command.name, context) : await completeSession(context);
  return candidates.filter(({ value }) => value.startsWith(current)).slice(0, maxCandidates);
}

interface Context {
  words: readonly string[];
  current: string;
  io: Io;
}

async function completeSession(context: Context): Promise<Candidate[]> {
  const { words, current, io } = context;
  const value = await completeValue(flags, context);
  if (value) return value;
  if (current.startsWith("@")) return prefix("@", await listFiles(io, current.slice(1)));
  const own = flags.flatMap(toCandidates);
  if (words.length > 0) return current.startsWith("-") ? own : [];
  return [...commands.map(({ name, summary }) => ({ value: name, description: summary })), ...own];
}

async function completeCommand(name: string, context: Context): Promise<Candidate[]> {
  const { words, current } = context;
  const usages = parseUsages(commands.find((command) => command.name === name)!);
  const help = { value: "--help", description: "Show the usage" };
  const nested = usages.filter(({ subcommand }) => subcommand !== "");
  const isNested = nested.length > 0;
  if (isNested && words.length === 1) {
    const alone = usages.flatMap(({ subcommand, flags: own }) => (subcommand === "" ? own.flatMap(toCandidates) : []));
    return [...nested.map(({ subcommand, summary }) => ({ value: subcommand, description: summary })), ...alone, help];
  }
  const usage = isNested ? nested.find(({ subcommand }) => subcommand === words[1]) : usages[0];
  if (!usage) return [];
  const value = await completeValue(usage.flags, context);
  if (value) return value;
  const own = [...usage.flags.flatMap(toCandidates), help];
  if (current.startsWith("-")) return own;
  const isValue = (index: number) => findFlag(usage.flags, words[index - 1])?.value !== undefined;
  const typed = words.filter((word, index) => index > (isNested ? 1 : 0) && !word.startsWith("-") && !isValue(index));
  const positional = usage.positionals[Math.min(typed.length, usage.positionals.length - 1)];
  const isOver = typed.length >= usage.positionals.length && positional?.isMany !== true;
  return positional && !isOver ? await listValues(positional.name, { ...context, words: typed }) : own;
}

const toCandidates = (flag: FlagSpec & Partial<Pick<Flag, "summary">>): Candidate[] =>
  [`--${flag.name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])].map((value) => ({
    value,
    ...(flag.summary !== undefined && { description: flag.summary }),
  }));

const findFlag = <T extends FlagSpec>(among: readonly T[], word: string | undefined): T | undefined =>
  among.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`));

/** The values of a flag, if one is being typed. */
async function completeValue(among: readonly FlagSpec[], context: Context): Promise<Candidate[] | undefined> {
  const { words, current } = context;
  const [, written, typed = ""] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? [];
  const flag = findFlag(among, written ?? words.at(-1));
  if (flag?.value === undefined) return undefined;
  const kind = kinds[flag.name] ?? flag.value;
  if (written === undefined) return flag.choices?.map(toCandidate) ?? (await listValues(kind, context));
  const values = flag.choices?.map(toCandidate) ?? (await listValues(kind, { ...context, current: typed }));
  return prefix(`${written}=`, values);
}

/** The kinds of values whose name in the help does not say what they are. */
const kinds: Readonly<Record<string, string>> = {
  profile: "SETTINGS-PROFILE",
  "session-id": "SESSION",
  session: "SESSION",
  resume: "SESSION",
  fork: "SESSION",
  export: "SESSION",
  provider: "PROVIDER",
  tools: "TOOLS",
  "exclude-tools": "TOOLS",
  models: "MODELS",
  role: "ROLE",
  agent: "AGENT",
  "api-key": "",
  name: "",
};

const toCandidate = (value: string): Candidate => ({ value });
const prefix = (text: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.map((candidate) => ({ ...candidate, value: `${text}${candidate.value}` }));

/** The values of a kind, which is the name of an argument in a usage line. None for any other. */
async function listValues(kind: string, { words, current, io }: Context): Promise<Candidate[]> {
  switch (kind) {
    case "MODEL":
      return await listModels(words, current, io);
    case "ROLE":
      return await listRoles(io);
    case "MODELS":
    case "TOOLS": {
      const start = current.slice(0, current.lastIndexOf(",") + 1);
      if (kind === "MODELS") return prefix(start, await listModels(words, "", io));
      return prefix(start, (await import("@tau/tools")).toolNames.map(toCandidate));
    }
    case "PROVIDER": {
      const { listProviders, openAccess } = await import("./access.ts");
      return listProviders((await openAccess(io)).registry).map(toCandidate);
    }
    case "SESSION":
      return current.includes("/") ? await listFiles(io, current) : await listSessionIds(words, io);
    case "AGENT": {
      const { findAgents } = await import("@tau/config/resources");
      return (await findAgents({ agentDir: getAgentDir(io) })).map(({ name }) => toCandidate(name));
    }
    case "KEY":
      return (await import("./config-keys.ts")).listSettings().map(toCandidate);
    case "KEY=VALUE":
      return await listAssignments(current);
    case "SETTINGS-PROFILE":
      return (await (await import("@tau/config/settings")).listProfiles(getAgentDir(io))).map(toCandidate);
    case "VALUE":
      return (await import("./config-keys.ts")).listChoices(words[0] ?? "").map(toCandidate);
    case "SHELL":
      return ["bash", "zsh", "fish"].map(toCandidate);
    case "TOPIC":
      return (await import("./help-topics.ts")).listTopics().map(toCandidate);
    case "SOURCE":
      return await listPackageSources(words, current, io);
    case "DIR":
      return await listFiles(io, current, { onlyDirectories: true });
    case "FILE":
    case "PATH":
    case "TEXT|FILE":
      return await listFiles(io, current);
    default:
      return [];
  }
}

/** Names of settings; after the sign their values, if they are few. */
async function listAssignments(current: string): Promise<Candidate[]> {
  const { listChoices, listSettings } = await import("./config-keys.ts");
  const [key = "", value] = current.split("=");
  return value === undefined
    ? listSettings().map((name) => toCandidate(`${name}=`))
    : prefix(`${key}=`, listChoices(key).map(toCandidate));
}

async function listRoles(io: Io): Promise<Candidate[]> {
  const [{ openAccess }, { listRoleNames }] = await Promise.all([import("./access.ts"), import("@tau/config/models")]);
  const { registry } = await openAccess(io);
  const roles = registry.getRoles();
  return listRoleNames(roles).map((name) => ({ value: name, description: roles[name] ?? "the default model" }));
}

/** Models that can be used, or all if there are none; after `--provider` the ids of its models; after a colon the levels. */
async function listModels(words: readonly string[], current: string, io: Io): Promise<Candidate[]> {
  const { openAccess } = await import("./access.ts");
  const { registry } = await openAccess(io);
  const flagIndex = words.lastIndexOf("--provider");
  const provider = flagIndex === -1 ? undefined : words[flagIndex + 1];
  const usable = registry.getAvailable();
  const models = (usable.length > 0 && provider === undefined ? usable : registry.getAll()).filter(
    (model) => provider === undefined || model.provider === provider,
  );
  const named = models.map(({ provider: owner, id, name }) => ({
    value: provider === undefined ? `${owner}/${id}` : id,
    description: name,
  }));
  const head = current.slice(0, current.lastIndexOf(":"));
  const isModel = current.includes(":") && named.some(({ value }) => value === head);
  return isModel ? [...named, ...thinkingLevels.map((level) => toCandidate(`${head}:${level}`))] : named;
}

async function listSessionIds(words: readonly string[], io: Io): Promise<Candidate[]> {
  const [{ listSessions, openCommandContext }, { formatTitle }] = await Promise.all([
    import("./command-context.ts"),
    import("./sessions-list.ts"),
  ]);
  const flagIndex = words.lastIndexOf("--session-dir");
  const context = await openCommandContext(io, flagIndex === -1 ? undefined : words[flagIndex + 1]);
  const sessions = await listSessions(context, io);
  return sessions.map((session) => ({ value: session.id, description: formatTitle(session) }));
}

/** Lists the sources in the settings or, if a path is typed, the files that it can be. */
async function listPackageSources(words: readonly string[], current: string, io: Io): Promise<Candidate[]> {
  if (/^[./~]/.test(current)) return await listFiles(io, current);
  const [{ openPackageContext }, { getPackageEntries, toDetailed }] = await Promise.all([
    import("./package-context.ts"),
    import("@tau/config/installs"),
  ]);
  const has = (name: string) => words.includes(`--${name}`);
  const { settings } = await openPackageContext(
    { subcommand: "", positionals: [], has, value: () => undefined, values: () => [] },
    io,
  );
  const entries = Object.values(getPackageEntries(settings)).flat();
  return entries.map((entry) => toCandidate(toDetailed(entry).source));
}

/** Directories end in a slash. Hidden files are listed if the name that is typed begins with a dot. */
async function listFiles(io: Io, typed: string, { onlyDirectories = false } = {}): Promise<Candidate[]> {
  const directory = typed.slice(0, typed.lastIndexOf("/") + 1);
  const start = typed.slice(directory.length);
  const entries = await readdir(resolve(io.cwd, expandHome(io, directory)), { withFileTypes: true });
  return entries
    .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
    .filter((entry) => !onlyDirectories || entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => toCandidate(`${directory}${entry.name}${entry.isDirectory() ? "/" : ""}`))
    .toSorted((a, b) => (a.value < b.value ? -1 : 1));
}

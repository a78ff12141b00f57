/** The paths of credentials, parsed from the records of programs. Pure. */
import { type CredentialProgram, credentialPrograms } from "./credential-programs.ts";

/** The names after the first one. */
export type CredentialPath = readonly (string | RegExp)[];

/** By the first name. All names are in lower case. */
export type CredentialPaths = ReadonlyMap<string, readonly CredentialPath[]>;

/** Parsed when the first path is judged: many runs never open a file. */
let parsed: { home: CredentialPaths; system: CredentialPaths } | undefined;

export const getHomePaths = (): CredentialPaths => getPaths().home;
export const getSystemPaths = (): CredentialPaths => getPaths().system;

const getPaths = () => (parsed ??= { home: parsePaths(listTexts("home")), system: parsePaths(listTexts("system")) });

const listTexts = (field: "home" | "system" | "variables"): string[] =>
  credentialPrograms.flatMap((program: CredentialProgram) => program[field] ?? []);

const splitTexts = (texts: readonly string[]): string[] => texts.flatMap((text) => text.trim().split(/\s+/));

/** Where the XDG variables lead if they are not set, below a home directory. */
const xdgDirectories: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: ".config/",
  XDG_DATA_HOME: ".local/share/",
  XDG_STATE_HOME: ".local/state/",
  XDG_CACHE_HOME: ".cache/",
};

/** An environment variable that leads to credentials. */
interface CredentialVariable {
  readonly name: string;
  /** The credentials in the directory that the variable names. Undefined: what it names is one as a whole. */
  readonly paths: CredentialPaths | undefined;
}

/** The variables that are set, with what they lead to. */
export function listCredentialVariables(isSet: (name: string) => boolean): CredentialVariable[] {
  const inDirectories = new Map<string, string[]>();
  const whole: CredentialVariable[] = [];
  for (const entry of splitTexts(listTexts("variables"))) {
    const [name = "", ...rest] = entry.split("/");
    if (!isSet(name)) continue;
    if (rest.length === 0) whole.push({ name, paths: undefined });
    else inDirectories.set(name, [...(inDirectories.get(name) ?? []), rest.join("/")]);
  }
  for (const [name, prefix] of Object.entries(xdgDirectories)) {
    if (!isSet(name)) continue;
    const entries = splitTexts(listTexts("home")).filter((entry) => entry.startsWith(prefix));
    inDirectories.set(
      name,
      entries.map((entry) => entry.slice(prefix.length)),
    );
  }
  return [...whole, ...[...inDirectories].map(([name, entries]) => ({ name, paths: parsePaths(entries) }))];
}

function parsePaths(texts: readonly string[]): CredentialPaths {
  const paths = new Map<string, CredentialPath[]>();
  for (const path of splitTexts(texts)) {
    const [first = "", ...rest] = path.toLowerCase().split("/");
    paths.set(first, [...(paths.get(first) ?? []), rest.map(parseName)]);
  }
  return paths;
}

/** A `?` stands for a blank, since blanks separate the paths. */
function parseName(name: string): string | RegExp {
  const plain = name.replaceAll("?", " ");
  if (!plain.includes("*")) return plain;
  return new RegExp(`^${plain.replaceAll(".", "\\.").replaceAll("*", ".*")}$`, "s");
}

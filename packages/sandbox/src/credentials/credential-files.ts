/** Recognises credential files by their real paths. Pure. */
import { foldNames } from "@tau/tools/platform";
import { getHomePaths, type CredentialPaths, getSystemPaths } from "./credential-paths.ts";
import type { NamedCredential } from "./named-credentials.ts";
import { defaultOwnDirectories, isOwnSecret, isOwnSettings } from "./own-files.ts";

export interface CredentialHomes {
  /** The person's home directory, and the agent's: real paths. */
  home: string;
  agentDir: string;
  /** The credentials that environment variables lead to. Default: none. */
  named?: readonly NamedCredential[];
}

/**
 * Whether a file is, or lies below, a known credential path: of the system, of the user or of any other user of this
 * machine. True for all spellings that some file system treats as the same name. `.env` files are not included: people need
 * them for their work.
 */
export function isCredentialFile(realPath: string, homes: CredentialHomes): boolean {
  const names = getNames(realPath);
  if (homes.named?.some((place) => isNamed(place, names))) return true;
  if (isListed(getSystemPaths(), names) || isInOwnDirectory(names, homes, isOwnSecret)) return true;
  return getPathsAtHome(names, homes).some(
    (atHome) => atHome && (isListed(getHomePaths(), atHome) || isSshSecret(atHome, realPath)),
  );
}

/** Whether a directory at a home is one above known credential paths, such as `.config`. Not true for the home itself. */
export function mayHoldCredentials(realPath: string, homes: Pick<CredentialHomes, "home">): boolean {
  return getPathsAtHome(getNames(realPath), homes).some((atHome) => {
    const [first, ...rest] = atHome ?? [];
    const paths = first === undefined ? undefined : getHomePaths().get(first);
    return paths?.some((path) => rest.length < path.length && rest.every((name, index) => matches(path[index]!, name)));
  });
}

/** Whether an environment variable leads to the path. */
export const isNamedCredential = (path: string, named: readonly NamedCredential[]): boolean =>
  named.some((place) => isNamed(place, getNames(path)));

function isNamed({ path, paths }: NamedCredential, names: readonly string[]): boolean {
  const rest = below(getNames(path), names);
  return rest !== undefined && (paths === undefined || isListed(paths, rest));
}

/** Whether a file of tau's own directory holds secrets or lets somebody in. `isCredentialFile` is true for it too. */
export const isOwnCredential = (realPath: string, homes: CredentialHomes): boolean =>
  isInOwnDirectory(getNames(realPath), homes, isOwnSecret);

/** Whether it is a file with the user's settings of tau. */
export const isOwnSettingsFile = (realPath: string, homes: CredentialHomes): boolean =>
  isInOwnDirectory(getNames(realPath), homes, isOwnSettings);

/** Below our own directory: the one in use, and those that any user of this machine has in the usual place. */
function isInOwnDirectory(names: readonly string[], homes: CredentialHomes, isListedThere: OwnFiles): boolean {
  const inUse = below(getNames(homes.agentDir), names);
  if (inUse && isListedThere(inUse)) return true;
  return getPathsAtHome(names, homes).some((atHome) =>
    defaultOwnDirectories.some((directory) => {
      const rest = atHome && below(directory, atHome);
      return rest !== undefined && isListedThere(rest);
    }),
  );
}

type OwnFiles = (names: readonly string[]) => boolean;

/** Both, since one home may contain others: that of a container is often the root. */
const getPathsAtHome = (names: readonly string[], { home }: Pick<CredentialHomes, "home">) => [
  below(getNames(home), names),
  belowOtherHome(names),
];

/** Compared exactly, unlike the forbidden paths: an exception must not grow because two names look alike. */
const openInSsh: ReadonlySet<string> = new Set(["config", "known_hosts", "known_hosts.old", "authorized_keys"]);

function isSshSecret(atHome: readonly string[], realPath: string): boolean {
  if (atHome[0] !== ".ssh" || atHome.length < 2) return false;
  const name = realPath
    .replace(/[/\\]+$/, "")
    .split(/[/\\]/)
    .at(-1)!;
  if (/^[\w.@+-]+\.pub$/.test(name)) return false;
  return atHome.length > 2 || !openInSsh.has(name);
}

/** Homes of other users: `/root`, `/home/NAME`, `/Users/NAME`, also below `/var` and `/usr`, or on a mounted Windows disk. */
function belowOtherHome(names: readonly string[]): string[] | undefined {
  const from = names[0] === "mnt" ? 2 : names[0] === "var" || names[0] === "usr" ? 1 : 0;
  if (names[from] === "root") return names.slice(from + 1);
  return names[from] === "home" || names[from] === "users" ? names.slice(from + 2) : undefined;
}

/** The names below a directory; undefined for a path that is not below it. */
function below(directory: readonly string[], names: readonly string[]): string[] | undefined {
  return directory.every((name, index) => names[index] === name) ? names.slice(directory.length) : undefined;
}

/** Whether a path is one of the credential paths, or below one. */
function isListed(paths: CredentialPaths, names: readonly string[]): boolean {
  const candidates = names[0] === undefined ? undefined : paths.get(names[0]);
  return candidates?.some((path) => path.every((part, index) => matches(part, names[index + 1]))) ?? false;
}

const matches = (part: string | RegExp, name: string | undefined) =>
  name !== undefined && (typeof part === "string" ? part === name : part.test(name));

/** Folded; without a Windows drive, and without the `/private` that macOS puts before `/etc` and `/var`. */
function getNames(path: string): string[] {
  const names = foldNames(path.replace(/^[a-z]:/i, ""));
  return names[0] === "private" && names.length > 1 ? names.slice(1) : names;
}

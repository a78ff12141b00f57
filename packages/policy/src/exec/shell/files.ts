/** Contents of files, as far as a script itself or their names tell. */
import {
  isCredentialFile,
  isNamedCredential,
  isOwnCredential,
  isCredentialPattern,
  isOwnPattern,
  defaultOwnDirectories,
} from "@tau/sandbox/internal";
import type { ExecContext } from "../classification.ts";
import { getZone, isBelow } from "../paths.ts";
import { report, type Scope } from "./analysis.ts";
import { hasPattern, isCheapPattern, toRegExp } from "./pattern.ts";
import { emptyText, joinOrigins, limitOptions, origins, toShown, unknown, type Options, type Text } from "./text.ts";

export function readFile(path: string, scope: Scope): Options<Text> {
  const own = scope.state.files.get(path);
  if (own) return own;
  if (path === "/dev/null") return [emptyText];
  if (path === "/dev/stdin" || path === "/dev/fd/0" || path === "/proc/self/fd/0") return scope.stdin;
  return [unknown(getFileOrigin(path, scope.analysis.context))];
}

/** Remembers what a script writes, so that running the file later runs that text. */
export function writeFile(path: string, content: Options<Text>, scope: Scope): void {
  if (path.startsWith("/dev/") && !path.startsWith("/dev/shm/")) return;
  scope.state.files.set(path, limitOptions(content));
}

/** Where the content of a file comes from, by its path. */
export function getFileOrigin(path: string, context: ExecContext): number {
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) return origins.network;
  if (/^\/dev\/(?:zero|u?random|full)$/.test(path)) return origins.endless;
  if (isCredentialPath(path, context)) return origins.credential | origins.file;
  if (isSecretPath(path) || isHistoryPath(path, context)) return origins.secret | origins.file;
  const zone = getZone(path, context);
  const isTrusted = zone === "in-workspace" || zone === "system" || zone === "in-home";
  return origins.file | (isTrusted ? origins.trusted : 0);
}

/** Files with keys or logins, also whole directories of them. */
export function isCredentialPath(path: string, context: ExecContext): boolean {
  if (/(?:^|\/)(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|gcloud|\.password-store)\/?$/.test(path)) return true;
  if (/(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)$/.test(path)) return true;
  if (/^\/proc\/[^/]+\/(?:task\/[^/]+\/)?environ$/.test(path)) return true;
  const { home, workspace, named = [] } = context;
  if (isOwnCredentialPath(path, context) || isNamedCredential(path, named)) return true;
  // Credentials are kept in homes and in the system. The full list is only asked for paths that may be there.
  if (isBelow(path, workspace) && home !== workspace && !isBelow(home, workspace)) return false;
  const plain = path.replace(/[*?[\uFFFF].*$/s, (rest) => (rest.endsWith(".pub") ? "x.pub" : "x"));
  if (isCredentialFile(plain, { home, agentDir: getAgentDir(context) })) return true;
  if (!hasPattern(path) || !isCheapPattern(path)) return false;
  return isBelow(path, home)
    ? isCredentialPattern(path.slice(home.length + 1).split("/"), "home", toRegExp)
    : isCredentialPattern(path.slice(1).split("/"), "system", toRegExp);
}

/** Tau's own directory. */
export const getAgentDir = ({ home, agentDir = `${home}/.tau` }: ExecContext) => agentDir;

/** Files of tau's own directory that hold secrets or let somebody in, also if a pattern may mean one. */
export function isOwnCredentialPath(path: string, context: ExecContext): boolean {
  const { home } = context;
  const agentDir = getAgentDir(context);
  const isInUse = isBelow(path, agentDir);
  if (!isInUse && !/\/\.[^/]*/.test(path)) return false;
  if (isOwnCredential(path, { home, agentDir })) return true;
  if (!hasPattern(path) || !isCheapPattern(path)) return false;
  if (isInUse) return isOwnPattern(path.slice(agentDir.length + 1).split("/"), "agent", toRegExp);
  return isBelow(path, home) && isOwnPattern(path.slice(home.length + 1).split("/"), "home", toRegExp);
}

/** Whether all of tau's own directory is meant. */
export function isOwnDirectory(path: string, context: ExecContext): boolean {
  const { home, workspace } = context;
  const directories = [getAgentDir(context), ...defaultOwnDirectories.map((names) => `${home}/${names.join("/")}`)];
  return path !== workspace && directories.includes(path);
}

/** Files in which shells and other programs keep everything that a person typed, passwords and tokens among it. */
const history =
  /^\.(?:.*\/)?(?:[\w.-]*hist(?:ory|file)?(?:\.(?:db|json|txt|sqlite\d?))?|\.?(?:lesshst|viminfo|dbshell))$/i;

export function isHistoryPath(path: string, { home, workspace }: ExecContext): boolean {
  return isBelow(path, home) && !isBelow(path, workspace) && history.test(path.slice(home.length + 1));
}

/** Reports a path that is read, where it holds credentials or what a person typed. */
export function judgeRead(path: string, scope: Scope): void {
  const { context } = scope.analysis;
  if (isOwnCredentialPath(path, context)) reportOwnSecrets(path, scope);
  else if (isCredentialPath(path, context))
    report(scope, "high", "exfiltration", `It reads stored credentials: ${path}.`);
  else if (isHistoryPath(path, context))
    report(scope, "high", "exfiltration", `It reads what the user typed before: ${path}.`);
}

export const reportOwnSecrets = (path: string, scope: Scope): void =>
  report(scope, "critical", "exfiltration", `It reads tau's own secrets: ${toShown(path)}.`);

/** Files that often hold secrets, and lists of accounts. */
const isSecretPath = (path: string) =>
  /(?:^|\/)\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$/.test(path) ||
  /^\/(?:etc\/(?:passwd|group|hosts\.equiv)|proc\/(?:self|\d+|\uFFFF)\/(?:environ|cmdline))/.test(path) ||
  /(?:^|\/)(?:secrets?\.(?:ya?ml|json|toml|txt|env)|credentials(?:\.json)?|\.(?:bash|zsh|python|node_repl|psql|mysql)_history|[\w.-]+\.(?:pem|key|p12|pfx|keystore|jks|kdbx))$/.test(
    path,
  );

/** Where files come from that the script itself put below directories. */
export function getWrittenOrigin(directories: readonly string[], { state }: Scope): number {
  let origin = 0;
  for (const [path, content] of state.files)
    if (directories.some((directory) => path === directory || isBelow(path, directory))) origin |= joinOrigins(content);
  return origin;
}

/** Returns the origin of what a program may read from the files that its arguments name. */
export function getReadOrigin(paths: readonly string[], scope: Scope): number {
  let origin = 0;
  for (const path of paths) {
    const content = scope.state.files.get(path);
    origin |= content ? joinOrigins(content) : getFileOrigin(path, scope.analysis.context) & ~origins.trusted;
  }
  return origin;
}

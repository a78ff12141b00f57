/** Finds what the sandbox refused a failed command: from what the proxy refused, and from what the command itself printed. Pure. */
import { resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import type { Mount } from "./mounts.ts";
import type { Refusal } from "./proxy/admit.ts";
import { findRefusedPorts } from "./refused-ports.ts";

export interface FailedCommand {
  /** The requests that the proxy refused while it ran. */
  readonly refusals: readonly Refusal[];
  /** Ports of loopback at which a server of this machine listens, and none inside. */
  readonly outerPorts: readonly number[];
  /** The end of its output. */
  readonly output: string;
  readonly cwd: string;
  /** The mounts that it saw. */
  readonly mounts: readonly Mount[];
}

export interface Evidence {
  readonly refusals: readonly Refusal[];
  /** Ports of loopback where it looked for a server of this machine. */
  readonly ports: readonly number[];
  /** Absolute paths that it could not change, because they are outside of what commands may change. */
  readonly outside: readonly string[];
  /** Absolute paths that it could not change, because other programs run or obey these names in the project. */
  readonly protected: readonly string[];
  /** Absolute paths that it could not see. */
  readonly hidden: readonly string[];
}

const maxOutputCharacters = 64 * 1024;
const maxPaths = 5;
const maxHosts = 10;

/** The second form is that of programs which ask first, such as pyenv. */
const readOnlyMessage = /read-only file system|(?:is not|isn't) writable/i;
const missingMessage = /permission denied|no such file or directory|\b(?:EACCES|ENOENT)\b/i;

/** Says nothing rather than something that may be wrong: a path is reported only if the sandbox really holds it. */
export function findEvidence({ refusals, outerPorts, output, cwd, mounts }: FailedCommand): Evidence {
  const lines = output.slice(-maxOutputCharacters).split("\n");
  const findPaths = (message: RegExp) =>
    lines
      .filter((line) => message.test(line))
      .flatMap((line) => findPathsInLine(line).map((path) => resolve(cwd, path)));
  const keep = (paths: readonly string[], ...standings: readonly Standing[]) =>
    [...new Set(paths)].filter((path) => standings.includes(getStanding(path, mounts))).slice(0, maxPaths);
  const unchanged = findPaths(readOnlyMessage);
  return {
    refusals: uniqueTargets(refusals).slice(0, maxHosts),
    // One at a time: each is a question of its own.
    ports: findRefusedPorts(output.slice(-maxOutputCharacters), outerPorts).slice(0, 1),
    outside: keep(unchanged, "outside"),
    protected: keep(unchanged, "read-only"),
    hidden: keep([...unchanged, ...findPaths(missingMessage)], "hidden-file", "hidden-directory"),
  };
}

export const isEmpty = (evidence: Evidence): boolean => Object.values(evidence).every(({ length }) => length === 0);

const uniqueTargets = (refusals: readonly Refusal[]): Refusal[] => [
  ...new Map(refusals.map((refusal) => [refusal.target, refusal])).values(),
];

type Standing = Mount["kind"] | "outside";

/** The most exact mount applies, which comes last. */
const getStanding = (path: string, mounts: readonly Mount[]): Standing =>
  mounts.findLast((mount) => mount.kind !== "fixed" && isWithin(mount.path, path))?.kind ?? "outside";

const quoted = /'([^']+)'|‘([^’]+)’|"([^"]+)"|`([^`']+)['`]/g;
/** `touch: /etc/x: Read-only file system`, `open /etc/x: read-only file system` or `/etc/x is not writable`. */
const unquoted =
  /([^\s:]+)(?:: (?:read-only file system|permission denied|no such file or directory|no space left on device)| (?:is not|isn't) writable)/i;

/** Programs print a path in quotes, or directly before the message. */
export function findPathsInLine(line: string): string[] {
  const inQuotes = [...line.matchAll(quoted)].flatMap((match) => match.slice(1).filter((text) => text !== undefined));
  const paths = inQuotes.length > 0 ? inQuotes : [unquoted.exec(line)?.[1] ?? ""];
  return paths.filter((path) => path !== "" && !path.includes("\0"));
}

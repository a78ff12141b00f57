/** The directories and file names of sessions. */
import { basename, join, resolve } from "node:path";
import { defaultAgentDir } from "@tau/config/settings";
import { HarnessError } from "@tau/protocol";
import { hexCrc } from "./line.ts";

/** The directory for the sessions of `cwd`: its path with dashes as separators. */
export function sessionDirectory(cwd: string, agentDir: string = defaultAgentDir()): string {
  const name = resolve(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-");
  return join(sessionsRoot(agentDir), `--${shorten(name)}--`);
}

/** File systems take at most 255 bytes. */
const maxNameBytes = 200;

/** Keeps the end of a long name, which says most, and adds a checksum. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const end = Buffer.from(name)
    .subarray(-maxNameBytes + 20)
    .toString("utf8")
    .replaceAll("\uFFFD", "");
  return `${hexCrc(name)}-${end}`;
}

export const sessionsRoot = (agentDir: string): string => join(agentDir, "sessions");

/** `<timestamp>_<id>.jsonl`, with characters that every file system allows. */
export const sessionFileName = (timestamp: string, id: string): string =>
  `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;

/**
 * The file of a chosen id has the same name in every process, so that there is only one. If the id itself looks like a
 * timestamp and an id, the name gets a timestamp of 0.
 */
export function chosenFileName(id: string): string {
  const name = `${id}.jsonl`;
  return idInFileName(name) === id ? name : sessionFileName(new Date(0).toISOString(), id);
}

export const isSessionFile = (name: string): boolean => name.endsWith(".jsonl");

/** The id in a file name; the whole name if it has no timestamp. */
export function idInFileName(path: string): string {
  const name = basename(path, ".jsonl");
  return /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/.exec(name)?.[1] ?? name;
}

/** Ids are used in file names and commands. */
export const isSessionId = (id: string): boolean =>
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id) && id.length <= 128;

/** The id of the session in a file. An id in a header that could lead elsewhere in a path is replaced by that of the name. */
export const getSessionId = (header: { id: string } | undefined, path: string): string =>
  header && isSessionId(header.id) ? header.id : idInFileName(path);

export function checkSessionId(id: string): void {
  if (isSessionId(id)) return;
  const rule = "letters, digits, '-', '_' and '.', at most 128, beginning and ending with a letter or digit";
  throw new HarnessError("invalid_input", `${JSON.stringify(id)} cannot be the id of a session: use ${rule}.`);
}

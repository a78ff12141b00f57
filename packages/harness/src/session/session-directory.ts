/** Where sessions are and what their files are called. */
import { basename, join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { defaultAgentDir } from "../agent-dir.ts";
import { HarnessError } from "../errors.ts";

/** The directory for the sessions of a working directory: its path with separators as dashes. */
export function sessionDirectory(cwd: string, agentDir: string = defaultAgentDir()): string {
  const name = resolve(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-");
  return join(sessionsRoot(agentDir), `--${shortened(name)}--`);
}

/** The longest name that every file system takes has 255 bytes; of a longer one the end is kept, which tells most. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxNameLength) return name;
  const end = Buffer.from(name)
    .subarray(-maxNameLength + 20)
    .toString("utf8")
    .replaceAll("\uFFFD", "");
  return `${crc32(name).toString(16).padStart(8, "0")}-${end}`;
}

const maxNameLength = 200;

export const sessionsRoot = (agentDir: string): string => join(agentDir, "sessions");

/** `<timestamp>_<id>.jsonl`, with nothing in it that a file system may not like. */
export const sessionFileName = (timestamp: string, id: string): string =>
  `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;

/**
 * The same for all who choose this id, so that it is one file. Where `idInFileName` would take a part of the id for a
 * timestamp, it gets one that says nothing.
 */
export function chosenFileName(id: string): string {
  const name = `${id}.jsonl`;
  return idInFileName(name) === id ? name : sessionFileName(new Date(0).toISOString(), id);
}

export const isSessionFile = (name: string): boolean => name.endsWith(".jsonl");

/** The id in a file's name; the whole name when it has no timestamp. */
export function idInFileName(path: string): string {
  const name = basename(path, ".jsonl");
  return /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/.exec(name)?.[1] ?? name;
}

/** Ids become part of file names and of commands. */
export const isSessionId = (id: string): boolean =>
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id) && id.length <= 128;

export function checkSessionId(id: string): void {
  if (isSessionId(id)) return;
  const rule = "letters, digits, '-', '_' and '.', at most 128, beginning and ending with a letter or digit";
  throw new HarnessError("invalid_input", `${JSON.stringify(id)} cannot be the id of a session: use ${rule}.`);
}

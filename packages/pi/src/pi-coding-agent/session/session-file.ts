/** Session files, read and written at once. Lines of ours have a checksum; these have none, as pi's. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEntry, SessionHeader } from "@tau/protocol";
import { replaceFile } from "../replace-file.ts";
import { tryRead } from "../try-read.ts";
import { type FileEntry, isHeader, migrateSessionEntries, parseSessionEntries } from "./entries.ts";

/** Undefined if there is no session in the file, or no file. */
export function readSessionFile(
  path: string,
): { header: SessionHeader; entries: SessionEntry[]; isOld: boolean } | undefined {
  if (!existsSync(path)) return undefined;
  const lines = parseSessionEntries(readFileSync(path, "utf8"));
  const [header, ...entries] = lines;
  if (!isHeader(header)) return undefined;
  const isOld = (header.version ?? 1) < 3;
  migrateSessionEntries(lines);
  return { header, entries: entries.filter((entry) => !isHeader(entry)) as SessionEntry[], isOld };
}

const format = (entries: readonly FileEntry[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

/** Adds all of them or none. Creates the file if there is none. */
export function appendToSessionFile(path: string, entries: readonly FileEntry[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const descriptor = openSync(path, "a+", 0o600);
  const { size } = fstatSync(descriptor);
  try {
    writeFileSync(descriptor, (endsInsideLine(descriptor, size) ? "\n" : "") + format(entries));
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** A process that was killed may have left half a line. What is added to that line could not be read. */
function endsInsideLine(descriptor: number, size: number): boolean {
  const last = Buffer.from("\n");
  if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
  return last.toString() !== "\n";
}

/** Replaces the file of an older version, and keeps it beside the new one. */
export function upgradeSessionFile(path: string, entries: readonly FileEntry[]): void {
  copyFileSync(path, createSidePath(path, "old"), constants.COPYFILE_EXCL);
  replaceFile(path, format(entries), 0o600);
}

/** Moves a file that is not a session aside, so that a session can take its name and nothing is lost. False: no file. */
export function setFileAside(path: string): boolean {
  if (!existsSync(path)) return false;
  if (statSync(path).size > 0) renameSync(path, createSidePath(path, "damaged"));
  return true;
}

const createSidePath = (path: string, reason: "old" | "damaged"): string =>
  `${path}.${reason}-${randomBytes(4).toString("hex")}`;

interface SessionFile {
  path: string;
  header: SessionHeader;
  modifiedMs: number;
}

/** The sessions in a directory, the last used first. Files that cannot be read are left out. */
export function findSessionFiles(directory: string): SessionFile[] {
  return (tryRead(() => readdirSync(directory)) ?? [])
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => tryRead(() => describe(join(directory, name))) ?? [])
    .sort((a, b) => b.modifiedMs - a.modifiedMs);
}

function describe(path: string): SessionFile | undefined {
  const stats = statSync(path);
  if (!stats.isFile()) return undefined;
  const [header] = parseSessionEntries(readFirstLine(path));
  return isHeader(header) ? { path, header, modifiedMs: stats.mtimeMs } : undefined;
}

/** A header is far shorter. */
const maxHeaderBytes = 64 * 1024;

function readFirstLine(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(maxHeaderBytes);
    const length = readSync(descriptor, buffer, 0, maxHeaderBytes, 0);
    return buffer.toString("utf8", 0, length).split("\n", 1)[0]!;
  } finally {
    closeSync(descriptor);
  }
}

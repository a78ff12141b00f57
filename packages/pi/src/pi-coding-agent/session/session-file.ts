/** Session files, read and written at once. Lines of ours have a checksum; these have none, as pi's. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEntry, SessionHeader } from "@tau/harness/session";
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

const toLine = (entry: FileEntry): string => `${JSON.stringify(entry)}\n`;

export function writeSessionFile(path: string, entries: readonly FileEntry[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, entries.map(toLine).join(""));
}

export function appendToSessionFile(path: string, entry: FileEntry): void {
  appendFileSync(path, toLine(entry));
}

/** Moves a file that is not a session aside, so that a session can take its name and nothing is lost. False: no file. */
export function setFileAside(path: string): boolean {
  if (!existsSync(path)) return false;
  if (statSync(path).size > 0) renameSync(path, `${path}.damaged`);
  return true;
}

export interface SessionFile {
  path: string;
  header: SessionHeader;
  modifiedMs: number;
}

/** The sessions in a directory, the last used first. */
export function findSessionFiles(directory: string): SessionFile[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const path = join(directory, name);
      const [header] = parseSessionEntries(readFirstLine(path));
      return isHeader(header) ? [{ path, header, modifiedMs: statSync(path).mtimeMs }] : [];
    })
    .sort((a, b) => b.modifiedMs - a.modifiedMs);
}

const readFirstLine = (path: string): string => readFileSync(path, "utf8").split("\n", 1)[0] ?? "";

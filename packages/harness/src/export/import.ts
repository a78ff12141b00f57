/** Session files of any version, read as far as they can be. */
import { type SessionEntry, type SessionHeader, sessionVersion } from "../session/entry.ts";
import { readChecksum, withoutChecksum } from "../session/line.ts";
import {
  createMigration,
  idOfLine,
  migrateHeader,
  type Migration,
  type RawEntry,
  getVersion,
} from "../session/migrate.ts";

/** Something that is not as it should be. */
export interface ImportProblem {
  /** From 1. */
  line: number;
  kind:
    | "no_header"
    | "newer_version"
    /** The line is lost: no JSON, or no entry. */
    | "unreadable"
    /** The line is not as it was written: its checksum says so. It is read as it is now. */
    | "changed"
    /** A second header; what follows it is read as entries of the first. */
    | "extra_header"
    /** The entry has an id of its line instead: it had none, or one that is taken. */
    | "renamed"
    /** The entry before it is not in the file; it follows the nearest one above. */
    | "reattached";
  /** For people. */
  message: string;
}

export interface ImportedSession {
  /** Undefined when the file has none; the entries are read all the same. */
  header: SessionHeader | undefined;
  /** In the form of version 3, in the order of the file. Ids are unique, and every parent stands before its children. */
  entries: SessionEntry[];
  problems: ImportProblem[];
}

/** Reads pi's files of versions 1 to 3 and our own. The same text always gives the same session. Never throws. */
export function importSession(text: string): ImportedSession {
  const reader = new SessionReader();
  let line = 0;
  for (let from = text.startsWith("\uFEFF") ? 1 : 0; from < text.length;) {
    const found = text.indexOf("\n", from);
    const end = found < 0 ? text.length : found;
    reader.push(text.slice(from, end), ++line);
    from = end + 1;
  }
  return reader.end();
}

class SessionReader {
  readonly #session: ImportedSession = { header: undefined, entries: [], problems: [] };
  readonly #ids = new Set<string>();
  #migrate: Migration | undefined;

  push(text: string, line: number): void {
    if (text.trim() === "") return;
    const value = parse(text);
    if (!isEntry(value)) return this.#report("unreadable", line, `Line ${line} is no entry that can be read.`);
    if (isChanged(text))
      this.#report("changed", line, `Line ${line} was changed or damaged after it was written; it is read as it is.`);
    if (value.type === "session") return this.#addHeader(value, line);
    // Without a header, ids tell the versions apart.
    this.#migrate ??= createMigration(typeof value.id === "string" ? 2 : 1);
    this.#add(this.#migrate(value, line), line);
  }

  end(): ImportedSession {
    const { header, problems } = this.#session;
    if (!header) {
      problems.unshift({
        line: 1,
        kind: "no_header",
        message: "The file has no session header: whose it is is not known.",
      });
    }
    return this.#session;
  }

  #addHeader(header: RawEntry, line: number): void {
    if (this.#session.header)
      return this.#report("extra_header", line, `Line ${line} is another header; it is left out.`);
    const version = getVersion(header);
    if (version > sessionVersion) {
      this.#report(
        "newer_version",
        line,
        `The file is of version ${version}; it is read as version ${sessionVersion}.`,
      );
    }
    this.#session.header = withoutChecksum(migrateHeader(header));
    this.#migrate ??= createMigration(version);
  }

  #add(entry: SessionEntry, line: number): void {
    const { entries } = this.#session;
    const previous = entries.at(-1)?.id ?? null;
    const id = this.#freeId(entry.id, line);
    const isKnown = entry.parentId === null || this.#ids.has(entry.parentId);
    if (id !== entry.id)
      this.#report("renamed", line, `The entry in line ${line} has no id of its own; it is now ${id}.`);
    if (!isKnown)
      this.#report("reattached", line, `The parent of ${id} in line ${line} is lost; it follows the entry above.`);
    this.#ids.add(id);
    entries.push({ ...withoutChecksum(entry), id, parentId: isKnown ? entry.parentId : previous });
  }

  #freeId(id: unknown, line: number): string {
    if (typeof id === "string" && id !== "" && !this.#ids.has(id)) return id;
    let free = idOfLine(line);
    // Somebody else's ids may look like ours.
    for (let next = line; this.#ids.has(free);) free = idOfLine((next += 0x1000_0000));
    return free;
  }

  #report(kind: ImportProblem["kind"], line: number, message: string): void {
    this.#session.problems.push({ line, kind, message });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A line without a checksum is another program's, which had none to give. Editors may have added the return. */
function isChanged(text: string): boolean {
  const checksum = readChecksum(Buffer.from(text.endsWith("\r") ? text.slice(0, -1) : text));
  return checksum === "wrong" || checksum === "broken";
}

const isEntry = (value: unknown): value is RawEntry =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

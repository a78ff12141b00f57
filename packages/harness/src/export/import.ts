/** Reads session files of any version, including damaged ones. */
import { withoutChecksum } from "@tau/protocol";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { isHeader, type SessionEntry, type SessionHeader, sessionVersion } from "../session/entry.ts";
import { readChecksum } from "../session/line.ts";
import {
  createMigration,
  idOfLine,
  migrateHeader,
  type Migration,
  type RawEntry,
  getVersion,
} from "../session/migrate.ts";

/** A defect of the file, and how it was handled. */
export interface ImportProblem {
  /** From 1. */
  line: number;
  kind:
    | "no_header"
    | "newer_version"
    /** The line is not JSON or not an entry; it is skipped. */
    | "unreadable"
    /** The line does not match its checksum; it is read as it is. */
    | "changed"
    /** A second header; it is skipped, and the entries after it belong to the first. */
    | "extra_header"
    /** The entry had no id or a duplicate; its new id is made from its line number. */
    | "renamed"
    /** The parent is not before it in the file; it becomes a child of the entry above. */
    | "reattached";
  /** For people. */
  message: string;
}

export interface ImportedSession {
  /** Undefined when the file has none; the entries are read nevertheless. */
  header: SessionHeader | undefined;
  /** In the form of version 3, in the order of the file. Ids are unique, and every parent comes before its children. */
  entries: SessionEntry[];
  problems: ImportProblem[];
}

/** Reads pi's files of versions 1 to 3 and tau's own. The same text always gives the same session. Never throws. */
export function importSession(text: string): ImportedSession {
  const reader = new SessionReader();
  let line = 0;
  for (let start = text.startsWith("\uFEFF") ? 1 : 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    reader.push(text.slice(start, end), ++line);
    start = end + 1;
  }
  return reader.end();
}

class SessionReader {
  readonly #session: ImportedSession = { header: undefined, entries: [], problems: [] };
  readonly #ids = new Set<string>();
  #migrate: Migration | undefined;

  push(text: string, line: number): void {
    if (text.trim() === "") return;
    const value = tryParseJson(text);
    if (!isEntry(value))
      return this.#report("unreadable", line, `Line ${line} is not a readable entry; it is skipped.`);
    if (isChanged(text))
      this.#report("changed", line, `Line ${line} does not match its checksum; it is read as it is.`);
    if (value.type === "session") return this.#addHeader(value, line);
    // Without a header: entries have ids since version 2.
    this.#migrate ??= createMigration(typeof value.id === "string" ? 2 : 1);
    this.#add(this.#migrate(value, line), line);
  }

  end(): ImportedSession {
    const { header, problems } = this.#session;
    if (!header) {
      problems.unshift({
        line: 1,
        kind: "no_header",
        message: "The file has no session header.",
      });
    }
    return this.#session;
  }

  #addHeader(header: RawEntry, line: number): void {
    if (this.#session.header)
      return this.#report("extra_header", line, `Line ${line} is a second header; it is skipped.`);
    const version = getVersion(header);
    if (version > sessionVersion) {
      this.#report("newer_version", line, `The file has version ${version}; it is read as version ${sessionVersion}.`);
    }
    this.#session.header = withoutChecksum(migrateHeader(header));
    this.#migrate ??= createMigration(version);
  }

  #add(entry: SessionEntry, line: number): void {
    const { entries } = this.#session;
    const previous = entries.at(-1)?.id ?? null;
    const id = this.#getFreeId(entry.id, line);
    const isKnown = entry.parentId === null || this.#ids.has(entry.parentId);
    if (id !== entry.id)
      this.#report("renamed", line, `The entry in line ${line} has no id, or a duplicate; its id is now ${id}.`);
    if (!isKnown)
      this.#report(
        "reattached",
        line,
        `The parent of ${id} in line ${line} is missing; it now follows the entry above.`,
      );
    this.#ids.add(id);
    entries.push({ ...withoutChecksum(entry), id, parentId: isKnown ? entry.parentId : previous });
  }

  #getFreeId(id: unknown, line: number): string {
    if (typeof id === "string" && id !== "" && !this.#ids.has(id)) return id;
    let free = idOfLine(line);
    // Another program may have used the same form.
    for (let next = line; this.#ids.has(free);) free = idOfLine((next += 0x1000_0000));
    return free;
  }

  #report(kind: ImportProblem["kind"], line: number, message: string): void {
    this.#session.problems.push({ line, kind, message });
  }
}

/** Lines of other programs have no checksum. An editor may have added the carriage return. */
function isChanged(text: string): boolean {
  const checksum = readChecksum(Buffer.from(text.endsWith("\r") ? text.slice(0, -1) : text));
  return checksum === "wrong" || checksum === "broken";
}

function isEntry(value: unknown): value is RawEntry {
  if (!isRecord(value)) return false;
  return value["type"] === "session" ? isHeader(value) : typeof value["type"] === "string";
}

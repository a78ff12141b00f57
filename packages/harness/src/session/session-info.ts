/** What a list of sessions says of each, without opening them all. */
import { readName } from "./branch.ts";
import type { SessionEntry, SessionHeader } from "./entry.ts";
import { SessionLog } from "./log.ts";
import { idInFileName } from "./session-directory.ts";
import type { LogStore } from "./store.ts";

export interface SessionInfo {
  path: string;
  id: string;
  /** Where the session was started; empty when that is lost. */
  cwd: string;
  /** The name that the person gave it. */
  name?: string;
  parentSessionPath?: string;
  /** The session it came from, and from which of its entries. */
  parentId: string | null;
  branchPoint: string | null;
  created: Date;
  modified: Date;
  messageCount: number;
  /** The beginning of what was asked first; empty when nothing was. */
  firstMessage: string;
}

/** How much of the first message a list shows. */
const maxFirstMessageLength = 200;

/** Reads a session as far as a list needs it. Undefined for what is none. */
export async function describeSession(store: LogStore): Promise<SessionInfo | undefined> {
  const log = await SessionLog.open({ store, access: "read" });
  try {
    return await log.retrying(() => describeLog(store.name, log));
  } finally {
    await log.close();
  }
}

async function describeLog(path: string, log: SessionLog): Promise<SessionInfo | undefined> {
  const { table } = log;
  const header = await log.header();
  if (!header && table.entryRows().length === 0) return undefined;
  const [first] = table.toRows("user");
  const [entry] = first === undefined ? [] : await log.read([first]);
  const messageCount = (["user", "assistant", "toolResult", "message"] as const).reduce(
    (count, kind) => count + table.getCount(kind),
    0,
  );
  const name = await readName(log);
  const modified = new Date((await log.lastModifiedMs()) ?? 0);
  return {
    ...headerInfo(path, header),
    modified,
    messageCount,
    firstMessage: getText(entry),
    ...(name !== undefined && { name }),
  };
}

function headerInfo(path: string, header: SessionHeader | undefined) {
  return {
    path,
    id: header?.id ?? idInFileName(path),
    cwd: header?.cwd ?? "",
    ...(header?.parentSession !== undefined && { parentSessionPath: header.parentSession }),
    parentId: header?.parentId ?? null,
    branchPoint: header?.branchPoint ?? null,
    created: new Date(Date.parse(header?.timestamp ?? "") || 0),
  };
}

function getText(entry: SessionEntry | undefined): string {
  if (entry?.type !== "message" || entry.message?.role !== "user") return "";
  // A log is read without being checked, and one odd line must not spoil a list.
  const content: unknown = entry.message.content;
  const parts = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : [{ text: content }];
  const text = parts.map((part) => (typeof part?.text === "string" ? part.text : "")).join(" ");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxFirstMessageLength ? `${line.slice(0, maxFirstMessageLength).toWellFormed()}…` : line;
}

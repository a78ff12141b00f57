/** Describes a session for a list. */
import { closeAfter, isRecord } from "@tau/ai/internal";
import type { LogStore } from "@tau/tools/storage";
import { readName } from "./branch.ts";
import { customTypes, type SessionEntry, type SessionHeader } from "./entry.ts";
import { SessionLog } from "./log.ts";
import { getSessionId } from "./session-directory.ts";
import { toShortLine } from "./short-line.ts";
import { isUnanswered } from "./unfinished-calls.ts";

export interface SessionInfo {
  path: string;
  id: string;
  /** Where the session was started; empty if that is lost. */
  cwd: string;
  /** The name that the user gave it. */
  name?: string;
  parentSessionPath?: string;
  /** The session that it was branched from. */
  parentId: string | null;
  /** The entry of the parent session that it continues from. */
  branchPoint: string | null;
  created: Date;
  modified: Date;
  messageCount: number;
  /** The beginning of the first prompt; empty if there is none. */
  firstMessage: string;
  /**
   * How the log ends, if not with an answer. `cut`: with the record of a run that a crash had cut. `unanswered`: with a
   * message that waits for an answer, because its run was cut, was ended, or is still in progress.
   */
  ending?: "cut" | "unanswered";
  /** It is in the trash of its storage. Files have a directory for that. */
  isDeleted?: true;
  /** How many problems of the file are known. A list does not read whole files, so there may be more. */
  problemCount?: number;
}

/** Session as the catalogue keeps it: without the path, and with times in milliseconds. */
export interface StoredInfo extends Omit<SessionInfo, "path" | "created" | "modified"> {
  created: number;
  modified: number;
}

/** Undefined if the file is not a session. `modified` is 0. */
export async function describeSession(store: LogStore): Promise<StoredInfo | undefined> {
  const log = await SessionLog.open({ store, access: "read" });
  return await closeAfter(log, () => log.retryIfReloaded(() => describeLog(store.name, log)));
}

async function describeLog(path: string, log: SessionLog): Promise<StoredInfo | undefined> {
  const { table } = log;
  const header = await log.header();
  if (!log.isSession) return undefined;
  const [firstPrompt] = await log.read(table.rowsOfKind("user").slice(0, 1));
  const name = await readName(log);
  const ending = await readEnding(log);
  const isDeleted = await readIsDeleted(log);
  const problemCount = log.problems.filter(({ kind }) => kind !== "newer_version").length;
  return {
    ...describeFile(path, header),
    messageCount: table.countKinds("user", "assistant", "toolResult", "message"),
    firstMessage: formatFirstMessage(firstPrompt),
    ...(name !== undefined && { name }),
    ...(ending && { ending }),
    ...(isDeleted && { isDeleted }),
    ...(problemCount > 0 && { problemCount }),
  };
}

async function readEnding(log: SessionLog): Promise<SessionInfo["ending"]> {
  const { table } = log;
  const row = Math.max(...(["user", "assistant", "toolResult"] as const).map((kind) => table.findLast(kind)));
  if (row < 0) return undefined;
  // Extensions may have written something after the record.
  const [last, ...later] = await log.read([row, ...table.rowsOfKind("custom", row)]);
  if (later.some((entry) => entry.type === "custom" && entry.customType === customTypes.runEnded)) return "cut";
  return last && isUnanswered(last) ? "unanswered" : undefined;
}

/** Whether the session was deleted and not restored. */
export async function readIsDeleted(log: SessionLog): Promise<boolean> {
  const row = log.table.lastEntry();
  const [last] = row >= 0 && log.table.kind(row) === "custom" ? await log.read([row]) : [];
  if (last?.type !== "custom" || last.customType !== customTypes.deleted) return false;
  return isRecord(last.data) && last.data["isDeleted"] === true;
}

/** Whether another session started it for a task. A fork has a parent too, and the point at which it left that. */
export const isChildSession = ({
  parentId,
  branchPoint,
  parentSessionPath,
}: Pick<SessionInfo, "parentId" | "branchPoint" | "parentSessionPath">): boolean =>
  parentId !== null && branchPoint === null && parentSessionPath === undefined;

/** Returns what is known without the entries. */
export const describeFile = (path: string, header: SessionHeader | undefined): StoredInfo => ({
  id: getSessionId(header, path),
  cwd: header?.cwd ?? "",
  ...(header?.parentSession !== undefined && { parentSessionPath: header.parentSession }),
  parentId: header?.parentId ?? null,
  branchPoint: header?.branchPoint ?? null,
  messageCount: 0,
  firstMessage: "",
  created: Date.parse(header?.timestamp ?? "") || 0,
  modified: 0,
});

function formatFirstMessage(entry: SessionEntry | undefined): string {
  if (entry?.type !== "message" || entry.message?.role !== "user") return "";
  // Entries are not validated, and one odd entry must not break the list.
  const content: unknown = entry.message.content;
  const parts = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : [{ text: content }];
  const text = parts.map((part) => (typeof part?.text === "string" ? part.text : "")).join(" ");
  return toShortLine(text);
}

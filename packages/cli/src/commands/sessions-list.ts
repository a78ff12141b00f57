import { systemClock } from "@tau/ai";
import { type SessionInfo, SessionManager } from "@tau/harness/session";
import { getSessionTitle } from "@tau/protocol/surface";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type Column, tableText } from "../process/table.ts";
import { listSessions, openCommandContext, reportDamage, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

export async function list(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io, args.value("session-dir"));
  const all = args.has("all");
  const sessions = await listSessions(context, io, { all });
  reportDamage(sessions, io);
  if (args.has("json")) return io.out(jsonLine(sessions));
  reportSettingsProblems(context, io);
  if (sessions.length > 0)
    return io.out(sessionTable(sessions, { all, last: SessionManager.findRecent(sessions, context.cwd, context) }, io));
  io.err(all ? "There are no sessions yet.\n" : `There are no sessions of ${context.cwd} yet.\n`);
}

function sessionTable(
  sessions: readonly SessionInfo[],
  { all, last }: { all: boolean; last: SessionInfo | undefined },
  io: Io,
): string {
  const columns: Column[] = [
    { title: " " },
    { title: "SESSION" },
    { title: "USED" },
    { title: "MESSAGES", align: "right" },
    ...(all ? [{ title: "DIRECTORY", shrinks: true as const }] : []),
    { title: "NAME OR FIRST MESSAGE", shrinks: true },
  ];
  const ids = shortenIds(sessions.map(({ id }) => id));
  const now = systemClock.now();
  const rows = sessions.map((session, index) => [
    session === last ? "*" : "",
    ids[index]!,
    isUnread(session) ? "unknown" : formatAge(now - session.modified.getTime()),
    String(session.messageCount),
    ...(all ? [session.cwd] : []),
    formatTitle(session),
  ]);
  return tableText(columns, rows, io);
}

export const formatTitle = (session: SessionInfo): string =>
  isUnread(session) ? (session.name ?? "(cannot be read)") : getSessionTitle(session);

/** A list has only the name of a file that it could not read. */
const isUnread = ({ modified }: SessionInfo): boolean => modified.getTime() === 0;

const minIdLength = 8;

/** Shortens each id as far as it stays different from the others. Pure. */
export function shortenIds(ids: readonly string[]): string[] {
  const sorted = ids.toSorted();
  const lengths = new Map<string, number>();
  for (const [index, id] of sorted.entries()) {
    const shared = [sorted[index - 1], sorted[index + 1]].map((neighbour) => getSharedLength(id, neighbour));
    lengths.set(id, Math.max(minIdLength, ...shared.map((length) => length + 1)));
  }
  return ids.map((id) => id.slice(0, lengths.get(id)));
}

function getSharedLength(a: string, b = ""): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

function formatAge(ageMs: number): string {
  const unit = units.find(([, lengthMs]) => ageMs >= lengthMs);
  return unit ? `${Math.floor(ageMs / unit[1])} ${unit[0]} ago` : "just now";
}

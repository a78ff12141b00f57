import { resolve } from "node:path";
import { systemClock } from "@tau/ai";
import { SessionManager } from "@tau/harness";
import { type SessionInfo } from "@tau/harness/session";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { type Column, tableText } from "../table.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext, sessionsHere, tellProblems, watched } from "./command-context.ts";

export async function listSessions(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io, given.value("session-dir"));
  const found = await sessionsAsked(context, given.has("all"), io);
  if (given.has("json")) {
    io.out(jsonLine(found));
    return exitCodes.done;
  }
  tellProblems(context, io);
  if (found.length === 0) {
    io.err(given.has("all") ? "There are no sessions yet.\n" : `There are no sessions of ${context.cwd} yet.\n`);
    return exitCodes.done;
  }
  io.out(sessionTable(found, { isAll: given.has("all"), cwd: resolve(context.cwd) }, io));
  return exitCodes.done;
}

/** Those of this directory, or of all. */
export async function sessionsAsked(context: CommandContext, isAll: boolean, io: Io): Promise<SessionInfo[]> {
  const { agentDir } = context;
  if (!isAll) return await sessionsHere(context, io);
  return await watched(io, (onProgress) => SessionManager.listAll({ agentDir, onProgress, signal: io.signal }));
}

function sessionTable(found: readonly SessionInfo[], { isAll, cwd }: { isAll: boolean; cwd: string }, io: Io): string {
  const columns: Column[] = [
    { title: " " },
    { title: "SESSION" },
    { title: "USED" },
    { title: "MESSAGES", align: "right" },
    ...(isAll ? [{ title: "DIRECTORY", gives: true as const }] : []),
    { title: "NAME OR FIRST MESSAGE", gives: true },
  ];
  const ids = shortIds(found.map(({ id }) => id));
  const last = found.find((session) => session.cwd === cwd);
  const now = systemClock.now();
  const rows = found.map((session, at) => [
    session === last ? "*" : "",
    ids[at]!,
    ago(now - session.modified.getTime()),
    String(session.messageCount),
    ...(isAll ? [session.cwd] : []),
    formatTitle(session),
  ]);
  return tableText(columns, rows, io);
}

export const formatTitle = ({ name, firstMessage }: SessionInfo): string =>
  name ?? (firstMessage || "(nothing said yet)");

/** What is enough of each id to tell it from the others, and looks like an id. */
export function shortIds(ids: readonly string[]): string[] {
  const sorted = ids.toSorted();
  const shared = new Map(
    sorted.map((id, at) => [id, Math.max(sharedLength(id, sorted[at - 1]), sharedLength(id, sorted[at + 1]))]),
  );
  return ids.map((id) => id.slice(0, Math.max(minIdLength, (shared.get(id) ?? 0) + 1)));
}

const minIdLength = 8;

function sharedLength(a: string, b: string | undefined): number {
  if (b === undefined) return 0;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

export function ago(ms: number): string {
  const unit = units.find(([, length]) => ms >= length);
  return unit ? `${Math.floor(ms / unit[1])} ${unit[0]} ago` : "just now";
}

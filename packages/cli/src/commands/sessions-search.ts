import { resolve } from "node:path";
import { systemClock } from "@tau/ai";
import { type SearchFilter, type SearchHit, searchSessions, listSessionDirectories } from "@tau/harness/search";
import { getSessionTitle } from "@tau/protocol/surface";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { cleanLine, cutTo, terminalWidth } from "../process/table.ts";
import { clearLine, paint, showsProgress } from "../process/terminal-text.ts";
import { openCommandContext, reportSettingsProblems } from "./command-context.ts";
import type { Io } from "./command.ts";
import { parseDate } from "./parse-date.ts";
import { shortenIds } from "./sessions-list.ts";
import type { CommandArgs } from "./usage.ts";

export async function search(args: CommandArgs, io: Io): Promise<void> {
  const filter = readFilter(args, io);
  const limit = readNumber(args, "limit") ?? 20;
  if (!Number.isInteger(limit) || limit < 1)
    throw new UsageError("arguments", "--limit takes a number of hits, from 1.");
  const context = await openCommandContext(io, args.value("session-dir"));
  reportSettingsProblems(context, io);
  let isShown = false;
  const onProgress = (searched: number, total: number) => {
    if (!showsProgress(io) || searched % 10 !== 0) return;
    isShown = true;
    io.err(`${clearLine(io.env)}searching sessions: ${searched} of ${total}`);
  };
  const text = args.positionals.join(" ");
  const directories = await listSessionDirectories(context.agentDir, context.directory);
  const options = { ...filter, text, limit, onProgress, signal: io.signal };
  const { hits, hasMore, unread } = await searchSessions(directories, options).finally(() => {
    if (isShown) io.err(clearLine(io.env));
  });
  if (unread.length > 0) io.err(`tau: ${unread.length} files could not be read: ${unread.slice(0, 5).join(", ")}\n`);
  if (args.has("json")) return io.out(jsonLine({ hits: hits.map(toJson), hasMore }));
  if (hits.length === 0) return io.err(`No message of a session has all of this: ${text}\n`);
  io.out(formatHits(hits, io));
  const opened = hits.find(({ entryId }) => entryId !== undefined);
  if (opened && io.terminal.out)
    io.err(`To open a session at a message: tau --session ${opened.session.id} --entry ${opened.entryId}\n`);
  if (hasMore) io.err("There is more: add words, or a filter, or --limit N.\n");
}

function readFilter(args: CommandArgs, io: Io): SearchFilter {
  const now = systemClock.now();
  const cwd = args.value("cwd");
  const model = args.value("model");
  const since = args.value("since");
  const until = args.value("until");
  const [minCost, maxCost] = [readNumber(args, "min-cost"), readNumber(args, "max-cost")];
  return {
    ...(cwd !== undefined && { cwd: resolve(io.cwd, cwd) }),
    ...(model !== undefined && { model }),
    ...(since !== undefined && { sinceMs: readDate("since", since, now).startMs }),
    ...(until !== undefined && { untilMs: readDate("until", until, now).endMs }),
    ...(minCost !== undefined && { minCost }),
    ...(maxCost !== undefined && { maxCost }),
  };
}

function readNumber(args: CommandArgs, flag: string): number | undefined {
  const value = args.value(flag);
  if (value === undefined) return undefined;
  const number = Number(value.replace(/^\$/, ""));
  if (value.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new UsageError("arguments", `--${flag} takes a number, not ${JSON.stringify(value)}.`);
}

function readDate(flag: string, value: string, now: number) {
  const date = parseDate(value, now);
  if (date) return date;
  const forms = "a date (2026-11-19), a time (2026-11-19T14:00) or how long ago (36h, 7d, 2w)";
  throw new UsageError("arguments", `--${flag} takes ${forms}, not ${JSON.stringify(value)}.`);
}

const toJson = ({ session, entryId, author, timeMs, excerpt }: SearchHit) => ({
  session: session.id,
  path: session.path,
  cwd: session.cwd,
  title: getSessionTitle(session),
  ...(entryId !== undefined && { entryId }),
  author,
  ...(timeMs > 0 && { timestamp: new Date(timeMs).toISOString() }),
  excerpt: excerpt.text,
  marks: excerpt.marks,
});

/** Hits of one session follow each other, below a line about the session. */
function formatHits(hits: readonly SearchHit[], io: Io): string {
  const sessions = [...new Set(hits.map(({ session }) => session))];
  const ids = shortenIds(sessions.map(({ id }) => id));
  const blocks = sessions.map((session, index) => {
    const title = `${ids[index]}  ${cleanLine(`${getSessionTitle(session)} · ${session.cwd}`)}`;
    const own = hits.filter((hit) => hit.session === session).map((hit) => formatHit(hit, io));
    return `${cutTo(title, terminalWidth(io))}\n${own.join("")}`;
  });
  return blocks.join("\n");
}

function formatHit({ entryId = "", author, timeMs, excerpt }: SearchHit, io: Io): string {
  const facts = [formatTime(timeMs), author, entryId].map(cleanLine).filter(Boolean).join("  ");
  return `  ${io.colour ? paint(facts, "dim") : facts}\n    ${markMatches(excerpt, io)}\n`;
}

/** In the time zone of the user. */
function formatTime(timeMs: number): string {
  if (timeMs === 0) return "";
  const date = new Date(timeMs);
  const pad = (number: number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

function markMatches({ text, marks }: SearchHit["excerpt"], io: Io): string {
  const mark = (match: string) => (io.colour ? paint(match, ["bold", "yellow"]) : `**${match}**`);
  let shown = "";
  let end = 0;
  for (const [start, nextEnd] of marks) {
    shown += `${cleanPart(text.slice(end, start))}${mark(cleanPart(text.slice(start, nextEnd)))}`;
    end = nextEnd;
  }
  return `${shown}${cleanPart(text.slice(end))}`.trim();
}

/** Like `cleanLine`, but spaces beside a match stay. */
const cleanPart = (text: string): string => cleanLine(`|${text}|`).slice(1, -1);

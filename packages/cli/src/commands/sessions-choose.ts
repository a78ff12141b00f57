import { filterSessions, type SessionInfo } from "@tau/harness/session";
import { getSessionTitle } from "@tau/protocol/surface";
import { choose, isInteractive } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { cleanLine, cutTo } from "../process/table.ts";
import { listSessions, openCommandContext } from "./command-context.ts";
import { formatTitle, shortenIds } from "./sessions-list.ts";
import { UsageError } from "../process/errors.ts";

const maxShown = 20;
const maxTitleLength = 60;

const fail = (message: string) => new UsageError("invalid_input", message);

/** Asks which session of this directory to continue, and returns its file. */
export async function chooseSessionFile(io: Io, sessionDir: string | undefined): Promise<string> {
  if (!isInteractive(io))
    throw fail("--resume needs a terminal to ask for a session. Use --resume NAME or --session ID instead.");
  const all = await listSessions(await openCommandContext(io, sessionDir), io);
  const sessions = filterSessions(all, { children: false });
  if (sessions.length === 0) throw fail("There are no sessions of this directory yet.");
  return await chooseFile(io, "Sessions of this directory, last used first:", sessions);
}

/**
 * Finds the session that a name means, in this directory or else in any. If several match, asks which one, or fails with their
 * list where nobody can answer.
 */
export async function findNamedSession(name: string, io: Io, sessionDir: string | undefined): Promise<string> {
  const context = await openCommandContext(io, sessionDir);
  const find = async (all: boolean) =>
    matchSessions(name, filterSessions(await listSessions(context, io, { all }), { children: false }));
  const here = await find(false);
  const matches = here.length > 0 ? here : await find(true);
  const [match] = matches;
  const quoted = JSON.stringify(name);
  if (!match) throw fail(`There is no session ${quoted}: no name, first prompt or id is like that. tau -r lists them.`);
  if (matches.length === 1) return match.path;
  if (isInteractive(io)) return await chooseFile(io, `${quoted} matches several sessions:`, matches);
  const rows = toItems(matches).map(({ name: id, summary }) => `\n  ${id}  ${summary}`);
  const more = matches.length > maxShown ? `\n  and ${matches.length - maxShown} more` : "";
  throw fail(`${quoted} matches several sessions. Name one by its id, or more of its name:${rows.join("")}${more}`);
}

/** Lists the sessions that a text means: by id, else by the whole title, else by a part of the title or the beginning of the id. Pure. */
export function matchSessions<T extends Pick<SessionInfo, "id" | "name" | "firstMessage">>(
  text: string,
  sessions: readonly T[],
): readonly T[] {
  const wanted = toComparable(text);
  if (wanted === "") return [];
  const byId = sessions.filter(({ id }) => id === text);
  if (byId.length > 0) return byId;
  const titled = sessions.map((session) => ({ session, title: toComparable(getSessionTitle(session)) }));
  const same = titled.filter(({ title }) => title === wanted);
  const matches =
    same.length > 0
      ? same
      : titled.filter(({ session, title }) => title.includes(wanted) || session.id.startsWith(text));
  return matches.map(({ session }) => session);
}

const toComparable = (text: string): string => text.normalize("NFC").toLowerCase().replaceAll(/\s+/g, " ").trim();

async function chooseFile(io: Io, title: string, sessions: readonly SessionInfo[]): Promise<string> {
  const item = await choose(io, title, toItems(sessions));
  if (!item) throw fail("No session of the list was chosen. Answer with a number or an id.");
  return item.path;
}

function toItems(all: readonly SessionInfo[]): { name: string; summary: string; path: string }[] {
  const sessions = all.slice(0, maxShown);
  const ids = shortenIds(sessions.map(({ id }) => id));
  return sessions.map((session, index) => ({
    name: ids[index]!,
    summary: cutTo(cleanLine(formatTitle(session)), maxTitleLength),
    path: session.path,
  }));
}

import { filterSessions } from "@tau/harness/session";
import { choose, isInteractive } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { cleanLine, cutTo } from "../process/table.ts";
import { listSessions, openCommandContext } from "./command-context.ts";
import { formatTitle, shortenIds } from "./sessions-list.ts";
import { UsageError } from "../process/errors.ts";

const maxShown = 20;
const maxTitleLength = 60;

/** Asks which session of this directory to continue, and returns its file. */
export async function chooseSessionFile(io: Io, sessionDir: string | undefined): Promise<string> {
  const fail = (message: string) => new UsageError("invalid_input", message);
  if (!isInteractive(io)) throw fail("--resume needs a terminal to ask for a session. Use --session ID instead.");
  const all = await listSessions(await openCommandContext(io, sessionDir), io);
  const sessions = filterSessions(all, { children: false }).slice(0, maxShown);
  if (sessions.length === 0) throw fail("There are no sessions of this directory yet.");
  const ids = shortenIds(sessions.map(({ id }) => id));
  const items = sessions.map((session, index) => ({
    name: ids[index]!,
    summary: cutTo(cleanLine(formatTitle(session)), maxTitleLength),
    path: session.path,
  }));
  const item = await choose(io, "Sessions of this directory, last used first:", items);
  if (!item) throw fail("No session of the list was chosen. Answer with a number or an id.");
  return item.path;
}

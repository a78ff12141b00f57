/** Which session to go on with, asked at a terminal. */
import { HarnessError } from "@tau/harness";
import { choose } from "../choose.ts";
import type { Io } from "../command.ts";
import { cleanLine, cutTo } from "../table.ts";
import { openCommandContext, sessionsHere } from "./command-context.ts";
import { shortIds, formatTitle } from "./sessions-list.ts";

const maxShown = 20;
const maxTitleLength = 60;

/** Throws when there is nobody to ask, nothing to choose from, or the person chose nothing. */
export async function chooseSessionFile(io: Io, directory: string | undefined): Promise<string> {
  const refused = (message: string) => new HarnessError("invalid_input", message);
  if (!io.terminal.input || !io.terminal.err) {
    throw refused("--resume asks which session is meant, and nobody is there to ask. Name it with --session ID.");
  }
  const sessions = (await sessionsHere(await openCommandContext(io, directory), io)).slice(0, maxShown);
  if (sessions.length === 0) throw refused("There is no session of this directory yet.");
  const ids = shortIds(sessions.map(({ id }) => id));
  const items = sessions.map((session, at) => ({
    name: ids[at]!,
    summary: cutTo(cleanLine(formatTitle(session)), maxTitleLength),
  }));
  const chosen = await choose(io, "Sessions of this directory, the last used first:", items);
  if (chosen === undefined) throw new HarnessError("aborted", "No session was chosen.");
  const found = sessions[items.findIndex(({ name }) => name === chosen)];
  if (!found) throw refused("None of these was chosen. Give the number of one, or its id.");
  return found.path;
}

/** What makes a session another one's successor, or the one to go on with. */
import { stat, utimes } from "node:fs/promises";
import { resolve } from "node:path";
import { didYouMean, systemClock } from "@tau/ai";
import { HarnessError, SessionManager } from "@tau/harness";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Given } from "./forms.ts";
import { openCommandContext, readSession, sessionFile, sessionsHere } from "./command-context.ts";
import { usageMistake } from "./run-forms.ts";

/**
 * `--continue` takes the file that was changed last, so its time is all that is changed: that works for one that
 * another process writes, too, and there is no second place that says which session counts.
 */
export async function switchTo(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const path = await sessionFile(context, given.places[0], io);
  const { id, cwd } = await readSession(path, context, async (session) => ({ id: session.id, cwd: session.getCwd() }));
  const others = await sessionsHere({ ...context, cwd: cwd || context.cwd }, io);
  const { atime } = await stat(path);
  // Another may be dated in the future; and a whole second later, since a file's time may lose its last digits.
  const latest = Math.max(
    0,
    ...others.filter((other) => other.path !== path).map(({ modified }) => modified.getTime()),
  );
  await utimes(path, atime, new Date(Math.max(systemClock.now(), latest + 1_000)));
  if (cwd === resolve(context.cwd)) io.out(`tau --continue now goes on with ${id}.\n`);
  else io.out(`In ${cwd || "its directory"}, tau --continue now goes on with ${id}. Here: tau --session ${id}\n`);
  return exitCodes.done;
}

export async function branchFrom(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const path = await sessionFile(context, given.places[0], io);
  // Opened for writing where that can be: the copy gets the same rights.
  const source = await SessionManager.open(path, { agentDir: context.agentDir });
  try {
    const entryId = await entryMeant(source, given.value("from")!);
    const branch = await source.branchSession(source.id, entryId);
    try {
      const name = given.value("name");
      if (name !== undefined) await branch.appendSessionInfo(name);
      io.out(`${branch.id}\n`);
      io.err(`It goes on from ${entryId} of ${source.id}, and is the one that tau --continue takes.\n`);
    } finally {
      await branch.close();
    }
  } finally {
    await source.close();
  }
  return exitCodes.done;
}

/** An entry by its id, or the beginning of one that leaves no doubt. */
async function entryMeant(session: SessionManager, given: string): Promise<string> {
  const ids = (await session.getEntries()).map(({ id }) => id);
  const found = ids.includes(given) ? [given] : ids.filter((id) => id.startsWith(given));
  if (found.length === 1) return found[0]!;
  const hint = found.length > 1 ? ` It could be ${found.slice(0, 5).join(", ")}.` : didYouMean(given, ids);
  const message = `The session ${session.id} has no entry ${JSON.stringify(given)}.${hint} \`tau sessions show\` lists them.`;
  throw new HarnessError("unknown_entry", message);
}

/** A name is no use of the session: what `--continue` takes stays the same. */
export async function rename(given: Given, io: Io): Promise<ExitCode> {
  const [meant, ...words] = given.places;
  const name = words.join(" ").trim();
  if (name === "") return usageMistake("sessions", "a name needs at least one letter.", io);
  const context = await openCommandContext(io);
  const path = await sessionFile(context, meant, io);
  const session = await SessionManager.open(path, { agentDir: context.agentDir });
  try {
    await keepingTime(path, () => session.appendSessionInfo(name));
  } finally {
    await session.close();
  }
  io.out(`${session.id} is now called ${JSON.stringify(name)}.\n`);
  return exitCodes.done;
}

/** Lists go by when a file was changed: mending and naming are no use of it. */
export async function keepingTime<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { atime, mtime } = await stat(path);
  const done = await work();
  await utimes(path, atime, mtime);
  return done;
}

import { stat, utimes } from "node:fs/promises";
import { resolve } from "node:path";
import { systemClock } from "@tau/ai";
import { closeAfter, didYouMean } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { SessionManager } from "@tau/harness";
import { mustBeInSessionDirectory } from "@tau/harness/session";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import {
  findOwnSessionFile,
  findSessionFile,
  formatContinue,
  listSessions,
  openCommandContext,
  readSession,
} from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import type { CommandArgs } from "./usage.ts";

/**
 * `--continue` uses the file that was changed last, so only the time of the file is set. That also works while another
 * process writes the session, and no second file says which session is the current one.
 */
export async function switchTo(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const path = await findSessionFile(context, args.positionals[0], io);
  await mustBeInSessionDirectory(path, context, `--continue does not look there. Use: tau --session ${path}`);
  const { id, cwd } = await readSession(path, context, async (session) => ({ id: session.id, cwd: session.getCwd() }));
  const sessions = await listSessions({ ...context, cwd: cwd || context.cwd }, io);
  const others = sessions.filter((session) => session.path !== path).map(({ modified }) => modified.getTime());
  const { atime } = await stat(path);
  // Another file may have a time in the future. One second more, since file systems may drop the fraction.
  await utimes(path, atime, new Date(Math.max(systemClock.now(), ...others.map((time) => time + 1_000))));
  if (cwd === resolve(context.cwd)) io.out(`tau --continue now continues ${id}.\n`);
  else io.out(`In ${cwd || "its directory"}, tau --continue now continues ${id}. Here: tau --session ${id}\n`);
}

export async function branchFrom(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const path = await findSessionFile(context, args.positionals[0], io);
  // Opened for writing if possible, so that the copy gets the same permissions.
  const source = await SessionManager.open(path, { agentDir: context.agentDir });
  await closeAfter(source, async () => {
    const entryId = await findEntryId(source, args.value("from")!);
    await closeAfter(await source.branchSession(source.id, entryId), async (branch) => {
      const name = args.value("name");
      if (name !== undefined) await branch.appendSessionInfo(name);
      io.out(`${branch.id}\n`);
      io.err(formatProblems(source.problems));
      const use = await formatContinue(context, { id: branch.id, path: branch.getSessionFile()! }, io);
      io.err(`It continues from ${entryId} of ${source.id}. To use it: ${use}\n`);
    });
  });
}

/** `reference` is an id or the unique beginning of one. */
async function findEntryId(session: SessionManager, reference: string): Promise<string> {
  const ids = (await session.getEntries()).map(({ id }) => id);
  const matches = ids.includes(reference) ? [reference] : ids.filter((id) => id.startsWith(reference));
  if (matches.length === 1) return matches[0]!;
  const hint = matches.length > 1 ? ` It could be ${matches.slice(0, 5).join(", ")}.` : didYouMean(reference, ids);
  const message = `The session ${session.id} has no entry ${JSON.stringify(reference)}.${hint} \`tau sessions show\` lists them.`;
  throw new HarnessError("unknown_entry", message);
}

export async function rename(args: CommandArgs, io: Io): Promise<void> {
  const [reference, ...words] = args.positionals;
  const name = words.join(" ").trim();
  if (name === "") throw new UsageError("arguments", "the name is empty.");
  const context = await openCommandContext(io);
  const path = await findOwnSessionFile(context, reference, args, io);
  const session = await SessionManager.open(path, { agentDir: context.agentDir });
  await closeAfter(session, () => keepFileTimes(path, () => session.appendSessionInfo(name)));
  io.out(`${session.id} is now called ${JSON.stringify(name)}.\n`);
}

/** Renaming and repairing must not make a session the last used one, and lists are sorted by the time of the file. */
export async function keepFileTimes<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { atime, mtime } = await stat(path);
  const result = await work();
  await utimes(path, atime, mtime);
  return result;
}

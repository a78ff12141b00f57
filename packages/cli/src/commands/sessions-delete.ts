import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { removeSession, restoreSession, trashSession } from "@tau/harness/session";
import { consent, getEnd } from "../choose.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { cleanLine } from "../table.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext, readSession, sessionFile } from "./command-context.ts";
import { usageMistake } from "./run-forms.ts";

export async function deleteSessions(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  // All references are resolved first: a mistyped one deletes nothing.
  const targets = new Map<string, { isPath: boolean }>();
  for (const reference of given.places) {
    const path = await sessionFile(context, reference, io);
    targets.set(await realpath(path), { isPath: path === resolve(context.cwd, reference) });
  }
  for (const [path, { isPath }] of targets) {
    const title = await describeSession(path, context);
    if (!given.has("for-good")) {
      const trashed = await trashSession(path);
      // A path may be in a directory where `restore` does not look for ids.
      const reference = isPath ? trashed.path : trashed.id;
      io.out(`Moved ${title} to the trash. To get it back: tau sessions restore ${reference}\n`);
      continue;
    }
    const answer = await consent(io, `Delete ${title} for good?`, given.has("yes"));
    if (answer === "nobody") {
      return usageMistake("sessions", "--for-good needs --yes where no question can be asked.", io);
    }
    if (answer !== "yes") {
      io.err(`${title} was not deleted.\n`);
      return getEnd(answer);
    }
    await removeSession(path);
    io.out(`Deleted ${title} for good.\n`);
  }
  return exitCodes.done;
}

const describeSession = (path: string, context: CommandContext): Promise<string> =>
  readSession(path, context, async (session) => {
    const name = await session.getSessionName();
    const count = session.getEntryCount();
    const title = name === undefined ? session.id : `${session.id} ${JSON.stringify(cleanLine(name))}`;
    return `${title} (${count} ${count === 1 ? "entry" : "entries"})`;
  });

export async function restoreSessions(given: Given, io: Io): Promise<ExitCode> {
  const { cwd, agentDir, sessionDir: directory } = await openCommandContext(io);
  for (const reference of given.places) {
    const { id, path } = await restoreSession(reference, { cwd, agentDir, directory });
    io.out(`Restored ${id}: ${path}\n`);
  }
  return exitCodes.done;
}

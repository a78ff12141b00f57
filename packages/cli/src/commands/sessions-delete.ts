import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { removeSession, restoreSession, trashSession } from "@tau/harness/session";
import { confirm } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { cleanLine } from "../process/table.ts";
import { type CommandContext, findOwnSessionFile, openCommandContext, readSession } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

export async function deleteSessions(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  // All references are resolved first, so that a mistyped one deletes nothing.
  const targets = new Map<string, { isPath: boolean }>();
  for (const reference of args.positionals) {
    const path = await findOwnSessionFile(context, reference, args, io);
    targets.set(await realpath(path), { isPath: path === resolve(context.cwd, reference) });
  }
  for (const [path, { isPath }] of targets) {
    const title = await formatSession(path, context);
    if (args.has("for-good")) {
      const declined = `${title} was not deleted.`;
      await confirm(io, `Delete ${title} for good?`, { yes: args.has("yes"), declined });
      await removeSession(path);
      io.out(`Deleted ${title} for good.\n`);
    } else {
      const trashed = await trashSession(path);
      // A path may be in a directory where `restore` does not look for ids.
      const reference = isPath ? trashed.path : trashed.id;
      io.out(`Moved ${title} to the trash. To get it back: tau sessions restore ${reference}\n`);
    }
  }
}

const formatSession = (path: string, context: CommandContext): Promise<string> =>
  readSession(path, context, async (session) => {
    const name = await session.getSessionName();
    const count = session.getEntryCount();
    const title = name === undefined ? session.id : `${session.id} ${JSON.stringify(cleanLine(name))}`;
    return `${title} (${count} ${count === 1 ? "entry" : "entries"})`;
  });

export async function restoreSessions(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  for (const reference of args.positionals) {
    const { id, path } = await restoreSession(reference, context);
    io.out(`Restored ${id}: ${path}\n`);
  }
}

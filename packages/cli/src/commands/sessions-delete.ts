import { readdir, realpath, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HarnessError } from "@tau/harness";
import { findSideFiles, type SessionInfo } from "@tau/harness/session";
import { acquireLease } from "@tau/tools/platform";
import { consent, getEnd } from "../choose.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { cleanLine } from "../table.ts";
import type { Given } from "./forms.ts";
import { openCommandContext, readSession, sessionFile } from "./command-context.ts";
import { usageMistake } from "./run-forms.ts";

export async function deleteSessions(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const paths: string[] = [];
  for (const name of given.places) paths.push(await realpath(await sessionFile(context, name, io)));
  for (const path of new Set(paths)) {
    const about = await readSession(path, context, async (session) => {
      // What is no session is not ours to remove, whatever its name.
      if (session.problems.some(({ kind }) => kind === "no_session")) {
        throw new HarnessError("invalid_input", `${path} is no session: it stays.`);
      }
      return { id: session.id, name: await session.getSessionName(), count: session.getEntryCount() };
    });
    const answer = await consent(io, `Delete ${describe(about)} for good?`, given.has("yes"));
    if (answer === "nobody") return usageMistake("sessions", "deleting needs --yes where nobody can be asked.", io);
    if (answer !== "yes") {
      io.err("It stays.\n");
      return getEnd(answer);
    }
    await removeSession(path);
    io.out(`Deleted ${describe(about)}.\n`);
  }
  return exitCodes.done;
}

type About = Pick<SessionInfo, "id"> & { name: string | undefined; count: number };

const describe = ({ id, name, count }: About): string =>
  `${id}${name === undefined ? "" : ` ${JSON.stringify(cleanLine(name))}`} (${count} ${count === 1 ? "entry" : "entries"})`;

/** The log first: without it the rest is rubbish, and not the other way round. Nobody else may write it meanwhile. */
async function removeSession(path: string): Promise<void> {
  const lock = `${path}.lock`;
  const outcome = await acquireLease(lock);
  if (outcome.kind === "busy") {
    const advice = outcome.advice ?? "Close it there first.";
    throw new HarnessError("read_only", `The session ${path} is in use by process ${outcome.holder.pid}. ${advice}`);
  }
  try {
    await unlink(path);
    for (const name of findSideFiles(basename(path), await readdir(dirname(path))))
      if (!name.startsWith(basename(lock))) await rm(join(dirname(path), name), { recursive: true });
  } finally {
    await outcome.lease.release();
  }
  await unlink(lock);
}

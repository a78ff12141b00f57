import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { getErrorMessage, systemClock, systemIds } from "@tau/ai";
import { exportJsonl, importSession, type ImportedSession, writeTextFile } from "@tau/harness/export";
import { HarnessError, SessionManager } from "@tau/harness";
import { type SessionHeader, sessionDirectory, isSessionId, sessionFileName } from "@tau/harness/session";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext } from "./command-context.ts";

/** Becomes a session of this directory. The file stays as it is. */
export async function importFile(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io, given.value("session-dir"));
  const source = resolve(context.cwd, given.places[0]!);
  const imported = importSession(await read(source));
  if (imported.header === undefined && imported.entries.length === 0) {
    throw new HarnessError("invalid_input", `${source} is no session: there is neither a header nor an entry in it.`);
  }
  const header = await headerFor(imported, context);
  const directory = context.sessionDir ?? sessionDirectory(context.cwd, context.agentDir);
  const path = join(directory, sessionFileName(header.timestamp, header.id));
  await writeTextFile(path, exportJsonl({ header, entries: imported.entries, leafId: null }));
  const { problems, entries } = imported;
  if (given.has("json")) io.out(jsonLine({ id: header.id, path, entries: entries.length, problems }));
  else {
    io.out(`${header.id}\n`);
    for (const { message } of problems.slice(0, maxReported)) io.err(`${message}\n`);
    if (problems.length > maxReported) io.err(`And ${problems.length - maxReported} more like these.\n`);
    io.err(`${entries.length} entries are in ${path}. tau --continue goes on with them.\n`);
  }
  return exitCodes.done;
}

const maxReported = 10;

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new HarnessError("invalid_input", `${path} cannot be read: ${getErrorMessage(error)}.`, { cause: error });
  }
}

/** Its own id where that is free, and its own time; the directory is this one. Where it came from is of no use here. */
async function headerFor(
  { header }: ImportedSession,
  { cwd, agentDir, sessionDir }: CommandContext,
): Promise<SessionHeader> {
  const began = Date.parse(header?.timestamp ?? "");
  const timestamp = new Date(Number.isNaN(began) ? systemClock.now() : began).toISOString();
  const own = typeof header?.id === "string" && isSessionId(header.id) ? header.id : undefined;
  const isFree = own !== undefined && !(await SessionManager.findById(cwd, own, sessionDir, { agentDir }));
  return { ...header, type: "session", id: isFree ? own : systemIds(), timestamp, cwd: resolve(cwd) };
}

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { exportJsonl, importSession, type ImportedSession, writeTextFile } from "@tau/harness/export";
import { HarnessError, SessionManager } from "@tau/harness";
import {
  isSession,
  recover,
  type SessionHeader,
  sessionDirectory,
  isSessionId,
  sessionFileName,
} from "@tau/harness/session";
import type { Io } from "../command.ts";
import { jsonLine } from "../json-line.ts";
import { type CommandContext, openCommandContext } from "./command-context.ts";
import { formatProblems } from "./sessions-repair.ts";
import type { CommandArgs } from "./usage.ts";

/** Copies a file to a new session of this directory. */
export async function importFile(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io, args.value("session-dir"));
  const source = resolve(context.cwd, args.positionals[0]!);
  const text = await readText(source);
  if (!isSession(recover(Buffer.from(text)))) {
    throw new HarnessError("invalid_input", `${source} is not a session file (no header, no messages).`);
  }
  const imported = importSession(text);
  const { entries, problems } = imported;
  const header = await createHeader(imported, context);
  const directory = context.directory ?? sessionDirectory(context.cwd, context.agentDir);
  const path = join(directory, sessionFileName(header.timestamp, header.id));
  await writeTextFile(path, exportJsonl({ header, entries, leafId: null }));
  if (args.has("json")) return io.out(jsonLine({ id: header.id, path, entries: entries.length, problems }));
  io.out(`${header.id}\n`);
  io.err(
    `${formatProblems(problems)}${entries.length} entries were imported to ${path}. To use them: tau --continue\n`,
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message =
      code === "ENOENT"
        ? `There is no file ${path}.`
        : code === "EISDIR"
          ? `${path} is a directory. Name a session file in it.`
          : `${path} cannot be read: ${getErrorMessage(error)}.`;
    throw new HarnessError("invalid_input", message, { cause: error });
  }
}

/** Keeps the id if it is not used here, and the time. The directory becomes this one. */
async function createHeader(
  { header }: ImportedSession,
  { cwd, agentDir, directory }: CommandContext,
): Promise<SessionHeader> {
  const started = Date.parse(header?.timestamp ?? "");
  const timestamp = new Date(Number.isNaN(started) ? systemClock.now() : started).toISOString();
  const id = typeof header?.id === "string" && isSessionId(header.id) ? header.id : undefined;
  const isFree = id !== undefined && !(await SessionManager.findById(cwd, id, directory, { agentDir }));
  return { ...header, type: "session", id: isFree ? id : systemIds(), timestamp, cwd: resolve(cwd) };
}

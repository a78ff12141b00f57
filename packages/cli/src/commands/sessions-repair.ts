/**
 * Opening a session already sets a torn end aside and reads past damaged lines, every time anew. This makes it last: the
 * file is written again with what can be read, and the old one stays beside it.
 */
import { link, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemIds } from "@tau/ai";
import { type ExportSource, exportJsonl, writeTextFile } from "@tau/harness/export";
import { HarnessError, SessionManager } from "@tau/harness";
import { sessionDirectory, type SessionProblem } from "@tau/harness/session";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext, sessionFile } from "./command-context.ts";
import { keepingTime } from "./sessions-change.ts";

interface Repaired {
  id: string;
  path: string;
  /** Where the file is as it was; absent when nothing in it had to be changed. */
  keptAs?: string;
  entries: number;
  problems: readonly SessionProblem[];
}

export async function repair(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const path = await sessionFile(context, given.places[0], io);
  const session = await SessionManager.open(path, { agentDir: context.agentDir });
  let done: Repaired;
  try {
    mustBeOurs(session, path);
    done = await repairOpen(session, context);
  } finally {
    await session.close();
  }
  // It was made of the file as it was, and is made again.
  if (done.keptAs !== undefined) await rm(`${done.path}.idx`, { force: true });
  if (given.has("json")) io.out(jsonLine(done));
  else io.out(repairedText(done));
  return exitCodes.done;
}

function mustBeOurs({ readOnly }: SessionManager, path: string): void {
  if (readOnly?.reason === "held") {
    const text = `The session ${path} is being written by process ${readOnly.holder.pid}. Close it there first.`;
    throw new HarnessError("read_only", text);
  }
  if (readOnly?.reason === "refused") {
    throw new HarnessError("read_only", `The session ${path} cannot be mended: ${readOnly.message}.`);
  }
}

async function repairOpen(session: SessionManager, context: CommandContext): Promise<Repaired> {
  const path = session.getSessionFile()!;
  const { problems } = session;
  const source = await session.exportSource();
  const done = { id: session.id, path, entries: source.entries.length, problems };
  // A torn end is set aside by now, and a version that we do not know is nothing to mend.
  if (problems.every(({ kind }) => kind === "torn" || kind === "newer_version")) return done;
  const keptAs = `${path}.damaged-${systemIds()}`;
  await link(path, keptAs);
  await keepingTime(path, () =>
    writeTextFile(path, exportJsonl(withPlace(source, { path, ...context })), { replaces: true }),
  );
  return { ...done, keptAs };
}

/** Where a header is lost, the directory that the file lies in may tell whose it was. */
function withPlace(source: ExportSource, { path, cwd, agentDir }: CommandContext & { path: string }): ExportSource {
  const isOfHere = source.header.cwd === "" && dirname(path) === sessionDirectory(cwd, agentDir);
  return isOfHere ? { ...source, header: { ...source.header, cwd: resolve(cwd) } } : source;
}

const maxReported = 20;

function repairedText({ id, keptAs, entries, problems }: Repaired): string {
  if (problems.length === 0) return `${id} has ${entries} entries, and nothing is wrong with it.\n`;
  const more = problems.length > maxReported ? [`And ${problems.length - maxReported} more like these.`] : [];
  const told = [...problems.slice(0, maxReported).map(({ message }) => message), ...more];
  const end =
    keptAs === undefined
      ? `${id} has ${entries} entries, and nothing else is wrong with it.`
      : `${id} has ${entries} entries left. The file as it was: ${keptAs}`;
  return `${[...told, end].join("\n")}\n`;
}

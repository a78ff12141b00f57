/**
 * Opening a session sets an incomplete last line aside and skips damaged lines, each time again. Repairing makes that
 * permanent: the file is replaced by one with the readable entries, and the damaged file is kept beside it.
 */
import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemIds } from "@tau/ai";
import { closeAfter } from "@tau/ai/internal";
import { type ExportSource, exportJsonl } from "@tau/harness/export";
import { keepAs, writeTextFile } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { SessionManager } from "@tau/harness";
import { nodeFileSystem } from "@tau/tools";
import { sessionDirectory, type SessionProblem } from "@tau/harness/session";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type CommandContext, findOwnSessionFile, openCommandContext } from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import { keepFileTimes } from "./sessions-change.ts";
import type { CommandArgs } from "./usage.ts";

interface Repaired {
  id: string;
  path: string;
  /** Where the damaged file is kept; absent if it did not have to be changed. */
  keptAs?: string;
  entries: number;
  problems: readonly SessionProblem[];
}

export async function repair(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const path = await findOwnSessionFile(context, args.positionals[0], args, io);
  // The index may be older than the damage.
  const session = await SessionManager.open(path, { agentDir: context.agentDir, verifiesAll: true });
  const repaired = await closeAfter(session, async () => {
    checkWritable(session, path);
    return await repairSession(session, context);
  });
  // The index describes the damaged file. It is created again when it is needed.
  if (repaired.keptAs !== undefined) await rm(`${repaired.path}.idx`, { force: true });
  io.out(args.has("json") ? jsonLine(repaired) : formatRepaired(repaired));
}

function checkWritable({ readOnly }: SessionManager, path: string): void {
  if (readOnly?.reason === "held") {
    const { holder, advice = "Close it there first." } = readOnly;
    const text = `The session ${path} is being written by ${holder.name}. ${advice}`;
    throw new HarnessError("read_only", text);
  }
  if (readOnly?.reason === "refused") {
    throw new HarnessError("read_only", `The session ${path} cannot be repaired: ${readOnly.message}.`);
  }
}

async function repairSession(session: SessionManager, context: CommandContext): Promise<Repaired> {
  const path = session.getSessionFile()!;
  const source = await session.exportSource();
  const { problems } = session;
  const repaired = { id: session.id, path, entries: source.entries.length, problems };
  // Opening already set an incomplete last line aside, and a newer version is no damage.
  if (problems.every(({ kind }) => kind === "torn" || kind === "newer_version")) return repaired;
  const keptAs = `${path}.damaged-${systemIds()}`;
  await keepAs(nodeFileSystem, path, { path: keptAs, ids: systemIds });
  const text = exportJsonl(restoreDirectory(source, path, context));
  await keepFileTimes(path, () => writeTextFile(path, text, { replaces: true }));
  return { ...repaired, keptAs };
}

/** If the header is lost, the location of the file may still tell that the session belongs to this directory. */
function restoreDirectory(source: ExportSource, path: string, { cwd, agentDir }: CommandContext): ExportSource {
  const isOfThisDirectory = source.header.cwd === "" && dirname(path) === sessionDirectory(cwd, agentDir);
  return isOfThisDirectory ? { ...source, header: { ...source.header, cwd: resolve(cwd) } } : source;
}

function formatRepaired({ id, keptAs, entries, problems }: Repaired): string {
  if (problems.length === 0) return `${id} has ${entries} entries and no damage.\n`;
  const rest = keptAs === undefined ? "and no other damage." : `left. The damaged file was kept: ${keptAs}`;
  return `${formatProblems(problems)}${id} has ${entries} entries ${rest}\n`;
}

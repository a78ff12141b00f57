/** Where a command works: the directory, tau's own, and what the settings say of both. */
import { resolve } from "node:path";
import { SessionManager, SettingsManager } from "@tau/harness";
import { findSession, type SessionInfo } from "@tau/harness/session";
import { formatFileProblem } from "@tau/harness/settings";
import type { Io } from "../command.ts";
import { getAgentDir } from "../agent-dir.ts";

export interface CommandContext {
  cwd: string;
  agentDir: string;
  settings: SettingsManager;
  /** Where the sessions of this directory are; undefined for the default place. */
  sessionDir: string | undefined;
}

export async function openCommandContext(io: Io, sessionDir?: string): Promise<CommandContext> {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const settings = await SettingsManager.create(cwd, agentDir);
  const directory = sessionDir === undefined ? settings.get().sessionDir : resolve(cwd, sessionDir);
  return { cwd, agentDir, settings, sessionDir: directory };
}

/** What is wrong with the settings, once, on standard error. */
export function tellProblems({ settings }: Pick<CommandContext, "settings">, io: Io): void {
  for (const problem of settings.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
}

/** The sessions of this directory, the one that `--continue` takes first. */
export async function sessionsHere({ cwd, agentDir, sessionDir }: CommandContext, io: Io): Promise<SessionInfo[]> {
  return await watched(io, (onProgress) =>
    SessionManager.list(cwd, sessionDir, { agentDir, onProgress, signal: io.signal }),
  );
}

/** Of many sessions that nobody has listed before, a person is told how many are left. */
export async function watched<T>(io: Io, work: (onProgress: (loaded: number, total: number) => void) => Promise<T>) {
  let isShown = false;
  const found = await work((loaded, total) => {
    if (!io.terminal.err) return;
    isShown = true;
    io.err(`\r\u001b[2Klooking at sessions: ${loaded} of ${total}`);
  });
  if (isShown) io.err("\r\u001b[2K");
  return found;
}

/** The file of the session that is meant; without a name the one that `--continue` takes. */
export async function sessionFile(context: CommandContext, given: string | undefined, io: Io): Promise<string> {
  const { cwd, agentDir, sessionDir: directory } = context;
  if (given !== undefined) return await findSession(given, { cwd, agentDir, directory });
  const last = (await sessionsHere(context, io)).find((session) => session.cwd === resolve(cwd));
  if (last) return last.path;
  // Nobody has typed anything wrong.
  throw new Error(`There are no sessions of ${cwd} yet. Begin one: tau -p 'Hello'`);
}

/** Opens what is meant for reading, and closes it in any case. */
export async function readSession<T>(
  path: string,
  { agentDir }: Pick<CommandContext, "agentDir">,
  work: (session: SessionManager) => Promise<T>,
): Promise<T> {
  const session = await SessionManager.open(path, { access: "read", agentDir });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

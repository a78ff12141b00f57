import { closeAfter } from "@tau/ai/internal";
import { SessionManager } from "@tau/harness";
import { type SettingsManager, formatFileProblem } from "@tau/config/settings";
import { openSettings } from "../hosting/open-settings.ts";
import { findSession, mustBeInSessionDirectory, type SessionInfo, type SessionLookup } from "@tau/harness/session";
import type { Io } from "./command.ts";
import { getAgentDir, getSessionDir } from "../hosting/agent-dir.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

/** The directories and settings that a command works with. */
export interface CommandContext extends SessionLookup {
  settings: SettingsManager;
}

export async function openCommandContext(io: Io, sessionDir?: string): Promise<CommandContext> {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const settings = await openSettings({ cwd, agentDir });
  const directory = getSessionDir(io, sessionDir, settings.get().sessionDir);
  return { cwd, agentDir, settings, directory };
}

/** Reports errors in settings files on standard error. */
export function reportSettingsProblems({ settings }: Pick<CommandContext, "settings">, io: Io): void {
  for (const problem of settings.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
}

/**
 * The sessions of this directory, or with `all` of every directory, last used first. Reading many sessions for the first
 * time takes a while, so a terminal shows how many are done.
 */
export async function listSessions(
  { cwd, agentDir, directory }: CommandContext,
  io: Io,
  { all = false } = {},
): Promise<SessionInfo[]> {
  let isShown = false;
  const onProgress = (loaded: number, total: number) => {
    if (!showsProgress(io)) return;
    isShown = true;
    io.err(`${clearLine(io.env)}reading sessions: ${loaded} of ${total}`);
  };
  const options = { agentDir, onProgress, signal: io.signal };
  const sessions = all ? await SessionManager.listAll(options) : await SessionManager.list(cwd, directory, options);
  if (isShown) io.err(clearLine(io.env));
  return sessions;
}

const maxNamed = 5;

/** Reports on standard error which of the sessions are known to be damaged. */
export function reportDamage(sessions: readonly SessionInfo[], io: Io): void {
  const damaged = sessions.filter(({ problemCount = 0 }) => problemCount > 0);
  if (damaged.length === 0) return;
  const ids = damaged.slice(0, maxNamed).map(({ id }) => id);
  const more = damaged.length > maxNamed ? ` and ${damaged.length - maxNamed} more` : "";
  const subject = damaged.length === 1 ? "This session is" : "These sessions are";
  io.err(`tau: ${subject} damaged: ${ids.join(", ")}${more}. See what was lost: tau sessions repair ID\n`);
}

/** The file of a session by its path or id; without a reference, the one that `--continue` uses. */
export async function findSessionFile(context: CommandContext, reference: string | undefined, io: Io): Promise<string> {
  if (reference !== undefined) return await findSession(reference, context);
  const { cwd, agentDir } = context;
  const last = SessionManager.findRecent(await listSessions(context, io), cwd, { agentDir });
  if (last) return last.path;
  // Not a usage error: the command line is right.
  throw new UsageError("not_found", `There are no sessions of ${cwd} yet. Start one: tau -p 'Hello'`);
}

/** Finds the file for a command that deletes or rewrites it: outside of the session directories only with `--force`. */
export async function findOwnSessionFile(
  context: CommandContext,
  reference: string | undefined,
  args: CommandArgs,
  io: Io,
): Promise<string> {
  const path = await findSessionFile(context, reference, io);
  if (!args.has("force")) await mustBeInSessionDirectory(path, context, "If you mean it, add --force.");
  return path;
}

/** The command that continues a session in this directory. `--continue` may mean another one, and finds no file elsewhere. */
export async function formatContinue(
  context: CommandContext,
  { id, path }: { id: string; path: string },
  io: Io,
): Promise<string> {
  const { cwd, agentDir } = context;
  const recent = SessionManager.findRecent(await listSessions(context, io), cwd, { agentDir });
  if (recent?.path === path) return "tau --continue";
  const isKnown = (await listSessions(context, io, { all: true })).some((session) => session.path === path);
  return `tau --session ${isKnown ? id : path}`;
}

/** Opens a session for reading, runs `work` and closes it. */
export async function readSession<T>(
  path: string,
  { agentDir }: Pick<CommandContext, "agentDir">,
  work: (session: SessionManager) => Promise<T>,
): Promise<T> {
  return await closeAfter(await SessionManager.open(path, { access: "read", agentDir }), work);
}

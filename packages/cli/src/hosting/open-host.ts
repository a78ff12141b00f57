/** Creates the host with one open session from the flags. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { untilAborted } from "@tau/ai/internal";
import { type AgentSession, type AskChoice, SessionManager } from "@tau/harness";
import { findPackagePaths } from "@tau/config/internal";
import { createResourceLoader } from "@tau/config/resources";
import { HarnessError } from "@tau/protocol";
import type { Host, HostOptions } from "@tau/harness/host";
import { findUnknownTools } from "@tau/policy";
import { findSession, getWorkingDirectory, mustBeSession } from "@tau/harness/session";
import type { ExtensionPlace, ExtensionsParams } from "@tau/extensions";
import type { Settings } from "@tau/config/settings";
import { getAgentDir, getSessionDir } from "./agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { createDirectoryOpener, isChange } from "./open-directory.ts";
import { takePiNotice } from "./pi-notice.ts";
import { UsageError } from "../process/errors.ts";

/** Questions are shown where a person sees them, however late they come back. */
export const askAtTerminal = { isAttended: () => true, timeoutMs: () => "never" as const };

interface OpenedHost {
  host: Host;
  sessionId: string;
  /** The options, with those of extensions, which can change what the prompt is. */
  options: SessionOptions;
}

export interface OpenHostChoices {
  /** How the questions of the policy are answered. Default: they are denied. */
  ask?: AskChoice;
  /** Whether the session is shown by the interactive terminal. Default false. */
  isTerminal?: boolean;
  /** Whether a person is asked about a project, where there is one. Default: true. */
  asksTrust?: boolean;
  /** The reason that extensions are given. Default: the program started. */
  reason?: "startup" | "resume";
  /** More parameters of the sessions. */
  params?: Partial<HostOptions["params"]>;
  /** Extensions of the surface itself. They come after all others. Default: none. */
  factories?: ExtensionsParams["factories"];
}

/**
 * Throws `UsageError` or `HarnessError` for usage errors. Throws as soon as the program's signal is aborted: a session with a million
 * entries takes long to open, and nothing has been written yet.
 */
export async function openHost(options: SessionOptions, io: Io, choices: OpenHostChoices = {}): Promise<OpenedHost> {
  const opening = await untilAborted(openSessionHost(options, io, choices), io.signal);
  if (opening.kind === "aborted")
    throw new HarnessError("aborted", "The program was interrupted while it opened the session.");
  return opening.value;
}

async function openSessionHost(
  options: SessionOptions,
  io: Io,
  { ask, isTerminal = false, asksTrust = true, reason = "startup", params, factories }: OpenHostChoices,
): Promise<OpenedHost> {
  const agentDir = getAgentDir(io);
  const directories = await createDirectoryOpener(options, io, {
    // Other modes end soon, and need not see changes of the settings.
    watch: options.mode === "rpc" || isTerminal,
    surface: isTerminal ? "tui" : "print",
    asksTrust,
  });
  let settings = await directories.openSettings(io.cwd);
  let sessionManager: SessionManager | undefined;
  let host: Host | undefined;
  try {
    await checkUnknownFlags(options, directories.extensions, { cwd: io.cwd, agentDir, settings });
    const problems: string[] = [];
    // Before the copy is written.
    if (options.fork !== undefined) await mustHaveAgent(options, { cwd: io.cwd, agentDir, settings });
    sessionManager = await openSession(options, io, { ...settings.get(), agentDir, problems });
    const cwd = await getWorkingDirectory(sessionManager, io.cwd);
    if (cwd !== io.cwd) {
      await settings.close();
      settings = await directories.openSettings(cwd);
    }
    const permissionsDirectory = await findPermissions(cwd, agentDir);
    host = directories.openHost(cwd, settings, {
      ...(permissionsDirectory !== undefined && { permissionsDirectory }),
      ...(ask && { ask }),
      abortSignal: io.signal,
      // A person who sees why it takes long can end it.
      waitsForBusyProvider: isTerminal,
      ...(factories && { extensions: { ...directories.extensions, factories } }),
      ...params,
    });
    const sessionId = await host.open(sessionManager, reason);
    const { session } = host.get(sessionId);
    const resolved = await resolveFlags(options, session, directories.extensions.flags);
    await checkNames(session, options);
    session.override({ budgets: toBudgets(options) });
    for (const problem of problems) session.notify("session", problem);
    if (cwd !== io.cwd) session.notify("directory", `This session belongs to ${cwd}. Its tools work there.`);
    const notice = await takePiNotice(io, { agentDir, settings });
    if (notice !== undefined) session.notify("packages", notice);
    if (options.name !== undefined) await session.sessionManager.appendSessionInfo(options.name);
    return { host, sessionId, options: resolved };
  } catch (error) {
    await (host ? host.dispose() : settings.close());
    await sessionManager?.close();
    throw error;
  }
}

/** For a worktree of tau, the project that it belongs to. Nothing is loaded for any other directory. */
async function findPermissions(cwd: string, agentDir: string): Promise<string | undefined> {
  if (!hasWorktrees(agentDir)) return undefined;
  return await (await import("./worktree.ts")).findPermissionsDirectory(cwd, agentDir);
}

const hasWorktrees = (agentDir: string): boolean => existsSync(join(agentDir, "worktrees"));

async function mustHaveAgent({ agent }: SessionOptions, place: ExtensionPlace): Promise<void> {
  if (agent === undefined) return;
  const { cwd, agentDir, settings } = place;
  await createResourceLoader({
    cwd,
    agentDir,
    agentName: agent,
    contextFiles: "none",
    discoverSkills: false,
    discoverPrompts: false,
    packagePaths: () => findPackagePaths(place),
    isProjectTrusted: () => settings.checkProjectTrust(),
  });
}

/** Before anything is opened, if there is no extension that could have the options. */
async function checkUnknownFlags(
  options: SessionOptions,
  params: ExtensionsParams,
  place: ExtensionPlace,
): Promise<void> {
  const { unknownFlags, session, sessionId, resume } = options;
  // A session may belong to another directory, which has extensions of its own.
  if (!unknownFlags || session !== undefined || sessionId !== undefined || resume) return;
  const { hasExtensions } = await import("@tau/extensions");
  if (hasExtensions(params, place)) return;
  throw await (await import("../start/extension-flags.ts")).createUnknownFlagError(unknownFlags);
}

async function resolveFlags(
  options: SessionOptions,
  { extensions }: AgentSession,
  values: Map<string, string | boolean>,
): Promise<SessionOptions> {
  if (!options.unknownFlags) return options;
  const { resolveExtensionFlags } = await import("../start/extension-flags.ts");
  const loaded = { extensions: extensions?.list ?? [], problems: extensions?.problems ?? [] };
  const resolved = await resolveExtensionFlags(options, loaded);
  for (const [name, value] of resolved.extensionFlags) values.set(name, value);
  return resolved;
}

/** A misspelled name must not leave a tool enabled, or select no model at all. */
async function checkNames(session: AgentSession, options: SessionOptions): Promise<void> {
  const { excludeTools, models, tools: wanted = [] } = options;
  for (const { name, reason } of session.droppedTools.filter(({ layer }) => layer === 5)) {
    if (!wanted.includes(name)) continue;
    const advice = "Look at tools.yaml of the agent and at the settings tools.allowed and tools.excluded.";
    session.notify("tools", `The tool ${name} of --tools is left out: ${reason} ${advice}`);
  }
  const changed = isChange(wanted) ? wanted.map((name) => name.slice(1)) : [];
  if (excludeTools || changed.length > 0) {
    const { toolNames } = await import("@tau/tools");
    const tools = [...session.tools, ...session.droppedTools].map(({ name }) => name);
    const [problem] = findUnknownTools([...(excludeTools ?? []), ...changed], [...toolNames, ...tools]);
    if (problem !== undefined) throw new UsageError("invalid_input", problem);
  }
  const scope = models && session.modelRegistry.scope(models);
  const [problem] = scope?.models.length === 0 ? scope.problems : [];
  if (problem) throw new HarnessError("unknown_model", problem.message);
}

const toBudgets = ({ maxTurns, maxCost, timeout }: SessionOptions) => ({
  ...(maxTurns !== undefined && { turns: maxTurns }),
  ...(maxCost !== undefined && { cost: maxCost }),
  ...(timeout !== undefined && { timeMs: timeout * 1_000 }),
});

/** The session that the flags choose; without such a flag, a new one. Adds to `problems` what the user has to know. */
async function openSession(
  options: SessionOptions,
  io: Io,
  { agentDir, durability, sessionDir, problems }: Settings & { agentDir: string; problems: string[] },
) {
  const { cwd } = io;
  const directory = getSessionDir(io, options.sessionDir, sessionDir);
  const lookup = { cwd, agentDir, directory };
  const storage = { agentDir, durability };
  const { sessionId: id } = options;
  if (options.noSession) return await SessionManager.inMemory(cwd, { ...storage, ...(id !== undefined && { id }) });
  if (options.resume !== undefined) {
    const { chooseSessionFile, findNamedSession } = await import("../commands/sessions-choose.ts");
    const path = await (options.resume === true
      ? chooseSessionFile(io, directory)
      : findNamedSession(options.resume, io, directory));
    return await SessionManager.open(path, storage);
  }
  if (options.continue) {
    const path = hasWorktrees(agentDir) ? await findInWorktrees(lookup) : undefined;
    return path === undefined
      ? await SessionManager.continueRecent(cwd, directory, storage)
      : await SessionManager.open(path, storage);
  }
  if (options.session !== undefined)
    return await SessionManager.open(await findSession(options.session, lookup), storage);
  if (options.fork !== undefined) {
    const { agent } = options;
    if (id !== undefined && (await SessionManager.findById(cwd, id, directory, storage)) !== undefined)
      throw new UsageError(
        "invalid_input",
        `There is already a session ${JSON.stringify(id)}. Choose another id for the copy.`,
      );
    return await SessionManager.forkFrom(await findSession(options.fork, lookup), cwd, directory, {
      ...storage,
      ...(id !== undefined && { id }),
      ...(agent !== undefined && { agentName: agent }),
      onDamage: (message) => problems.push(message),
    });
  }
  if (id !== undefined) {
    const existing = await SessionManager.findById(cwd, id, directory, storage);
    if (existing !== undefined) await mustBeSession(existing);
    return await SessionManager.continueById(cwd, id, directory, { ...storage, creates: true });
  }
  return await SessionManager.create(cwd, directory, storage);
}

/** The file of the last session in a worktree of this repository, if no session of `cwd` was used after it. */
async function findInWorktrees(lookup: { cwd: string; agentDir: string; directory: string | undefined }) {
  const { cwd, agentDir, directory } = lookup;
  const { listIdleWorktrees } = await import("@tau/features/agents");
  const findLast = async (place: string) =>
    SessionManager.findRecent(await SessionManager.list(place, directory, { agentDir }), place, { agentDir });
  const own = await findLast(cwd);
  const others = await Promise.all((await listIdleWorktrees({ cwd, agentDir })).map(findLast));
  const [last] = others
    .filter((session) => session !== undefined)
    .toSorted((a, b) => b.modified.getTime() - a.modified.getTime());
  return last && (!own || last.modified > own.modified) ? last.path : undefined;
}

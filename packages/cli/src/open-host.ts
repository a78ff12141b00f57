/** Creates the host with one open session from the flags: the one place where the parts of the program are connected. */
import { existsSync, realpathSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { systemIds } from "@tau/ai";
import { untilAborted } from "@tau/ai/internal";
import { type AgentSession, type AskChoice, HarnessError, loadNamedAgent, SessionManager } from "@tau/harness";
import { createHost, type Host, type HostOptions } from "@tau/harness/host";
import { findUnknownTools, openSettings } from "@tau/harness/policy";
import { findSession, getWorkingDirectory, mustBeSession } from "@tau/harness/session";
import type { ChildProgram, ExtensionPlace, ExtensionProblem, ExtensionsParams } from "@tau/harness/extensions";
import type { Settings } from "@tau/harness/settings";
import { getAgentDir, getSessionDir } from "./agent-dir.ts";
import type { SessionOptions } from "./args.ts";
import { isInteractive } from "./ask.ts";
import type { Io } from "./command.ts";
import { takePiNotice } from "./pi-notice.ts";
import { lendModule } from "./lend-module.ts";

export interface OpenedHost {
  host: Host;
  sessionId: string;
  /** The options, with those of extensions, which can change what the prompt is. */
  options: SessionOptions;
}

export interface OpenHostChoices {
  /** How the questions of the policy are answered. Default: they are denied. */
  ask?: AskChoice;
  /** Whether a person is asked about a project, where there is one. Default: true. */
  asksTrust?: boolean;
  /** What extensions are told. Default: the program started. */
  reason?: "startup" | "resume";
}

/**
 * Throws `HarnessError` for usage errors. Throws as soon as the program's signal is aborted: a session with a million
 * entries takes long to open, and nothing has been written yet.
 */
export async function openHost(options: SessionOptions, io: Io, choices: OpenHostChoices = {}): Promise<OpenedHost> {
  const opening = await untilAborted(openSessionHost(options, io, choices), io.signal);
  if (opening.kind === "aborted") throw new Error("The program was interrupted while it opened the session.");
  return opening.value;
}

async function openSessionHost(
  options: SessionOptions,
  io: Io,
  { ask, asksTrust = true, reason = "startup" }: OpenHostChoices,
): Promise<OpenedHost> {
  const agentDir = getAgentDir(io);
  // Other modes end soon, and need not see changes of the settings.
  const watch = options.mode === "rpc" || ask === "surface";
  const openSettingsOf = async (directory: string) => {
    const manager = await openSettings({
      cwd: directory,
      agentDir,
      watch,
      ...(options.approve !== undefined && { projectTrusted: options.approve }),
      askExtensions: (settings) => askExtensions({ cwd: directory, agentDir, settings }),
      ...(asksTrust &&
        canAnswer(options, io) && {
          askTrust: async (waiting) =>
            (await import("./ask-trust.ts")).askTrust(io, { cwd: directory, agentDir, waiting }),
        }),
    });
    manager.mustBeWhole();
    return manager;
  };
  const toPath = (path: string) => resolve(io.cwd, path);
  const extensions = createExtensionsParams(options, toPath);
  const askExtensions = async (place: ExtensionPlace) => {
    const { askProjectTrust } = await import("@tau/harness/extensions");
    const shown = ask === "surface" ? "tui" : "print";
    const mode = options.mode === "json" || options.mode === "rpc" ? options.mode : shown;
    const report = ({ extension, message }: ExtensionProblem) => io.err(`tau: ${extension}: ${message}\n`);
    return await askProjectTrust(extensions, { ...place, ids: systemIds, mode, report });
  };
  for (const path of [...options.skills, ...options.promptTemplates, ...options.extensions]) {
    if (!(await findStats(toPath(path)))) {
      throw new HarnessError("invalid_input", `There is no file or directory ${path}.`);
    }
  }
  for (const path of options.addDir) {
    if (!(await findStats(toPath(path)))?.isDirectory()) {
      throw new HarnessError("invalid_input", `There is no directory ${path}, which --add-dir names.`);
    }
  }
  const systemPrompt =
    options.systemPrompt === undefined ? undefined : await readTextOrFile(io.cwd, options.systemPrompt);
  const appendSystemPrompt = await Promise.all(
    options.appendSystemPrompt.map((value) => readTextOrFile(io.cwd, value)),
  );
  const here = await openSettingsOf(io.cwd);
  await checkUnknownFlags(options, extensions, { cwd: io.cwd, agentDir, settings: here });
  const sessionManager = await openSession(options, io, { ...here.get(), agentDir });
  const cwd = await getWorkingDirectory(sessionManager, io.cwd);
  const settingsManager = cwd === io.cwd ? here : await openSettingsOf(cwd);
  if (settingsManager !== here) await here.close();
  const resources: HostOptions["params"]["resources"] = {
    lists: () => {
      const { skills, prompts } = settingsManager.get();
      return { skills: options.noSkills ? [] : skills, prompts: options.noPromptTemplates ? [] : prompts };
    },
    skillPaths: options.skills.map(toPath),
    discoverSkills: !options.noSkills,
    promptPaths: options.promptTemplates.map(toPath),
    discoverPrompts: !options.noPromptTemplates,
    ...(options.noContextFiles && { contextFiles: "none" }),
  };
  const { provider, model } = options;
  const params: HostOptions["params"] = {
    cwd,
    agentDir,
    settingsManager,
    resources,
    watch,
    ...(options.agent !== undefined && { agentName: options.agent }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(options.thinking !== undefined && { thinkingLevel: options.thinking as "off" }),
    ...(options.noBuiltinTools && { tools: [] }),
    ...(options.tools && { tools: options.tools, allowedTools: options.tools }),
    ...(options.noTools && { tools: [], allowedTools: [] }),
    ...(options.excludeTools && { excludedTools: options.excludeTools }),
    additionalDirectories: options.addDir.map(toPath),
    ...(options.sequentialTools && { toolExecution: "sequential" }),
    ...(options.policy !== undefined && { policyProfile: options.policy }),
    ...(options.sandbox !== undefined && { sandbox: { mode: options.sandbox } }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    appendSystemPrompt,
    ...(ask && { ask }),
    abortSignal: io.signal,
    extensions,
  };
  const host = createHost({
    params,
    agentDir,
    ...(options.models && { models: options.models }),
    prepare: createPrepare(options),
  });
  const sessionId = await host.open(sessionManager, reason);
  const { session } = host.get(sessionId);
  try {
    const resolved = await resolveFlags(options, session, extensions.flags);
    await checkNames(session, options);
    session.override({ budgets: toBudgets(options) });
    if (cwd !== io.cwd) session.notify("directory", `This session belongs to ${cwd}. Its tools work there.`);
    const notice = await takePiNotice(io, { agentDir, settings: settingsManager });
    if (notice !== undefined) session.notify("packages", notice);
    if (options.name !== undefined) await session.sessionManager.appendSessionInfo(options.name);
    return { host, sessionId, options: resolved };
  } catch (error) {
    await host.dispose();
    throw error;
  }
}

/** What sessions are told about extensions. `flags` is filled when the extensions are loaded, because they say which there are. */
function createExtensionsParams(
  { extensions, namedPackages = [], noExtensions }: SessionOptions,
  toPath: (path: string) => string,
) {
  return {
    discovers: !noExtensions,
    paths: extensions.map(toPath),
    packages: namedPackages,
    flags: new Map<string, string | boolean>(),
    loadShared: lendModule,
    findChild,
  } satisfies ExtensionsParams;
}

/** The program of isolated extensions is a file beside that of tau. It is not there where the sources run as they are. */
function findChild(): ChildProgram | undefined {
  const path = join(dirname(realpathSync(process.argv[1] ?? "")), "extension-child.cjs");
  return existsSync(path) ? { path, readable: [] } : undefined;
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
  const { hasExtensions } = await import("@tau/harness/extensions");
  if (hasExtensions(params, place)) return;
  throw await (await import("./extension-flags.ts")).createUnknownFlagError(unknownFlags);
}

async function resolveFlags(
  options: SessionOptions,
  { extensions }: AgentSession,
  values: Map<string, string | boolean>,
): Promise<SessionOptions> {
  if (!options.unknownFlags) return options;
  const { resolveExtensionFlags } = await import("./extension-flags.ts");
  const loaded = { extensions: extensions?.list ?? [], problems: extensions?.problems ?? [] };
  const resolved = await resolveExtensionFlags(options, loaded);
  for (const [name, value] of resolved.extensionFlags) values.set(name, value);
  return resolved;
}

/** Whether a person can answer questions: the other modes are for programs. */
export const canAnswer = ({ mode }: SessionOptions, io: Io): boolean => mode === "text" && isInteractive(io);

/** `--api-key` is for the provider of the first session's model, in every session of this process. */
function createPrepare({ apiKey }: SessionOptions): (session: AgentSession) => void {
  let keyOwner: { provider: string; baseUrl: string } | undefined;
  return ({ authStorage, model }) => {
    if (apiKey === undefined) return;
    keyOwner ??= model;
    if (!keyOwner) throw new HarnessError("no_model", "--api-key needs a provider: add --model or --provider.");
    authStorage.setRuntimeApiKey(keyOwner.provider, apiKey, keyOwner.baseUrl || undefined);
  };
}

/** A misspelled name must not leave a tool enabled, or select no model at all. */
async function checkNames(session: AgentSession, options: SessionOptions): Promise<void> {
  const { excludeTools, models, tools: wanted = [] } = options;
  for (const { name, reason } of session.droppedTools.filter(({ layer }) => layer === 5)) {
    if (!wanted.includes(name)) continue;
    const advice = "Look at tools.yaml of the agent and at the settings tools.allowed and tools.excluded.";
    session.notify("tools", `The tool ${name} of --tools is left out: ${reason} ${advice}`);
  }
  if (excludeTools) {
    const { toolNames } = await import("@tau/tools");
    const tools = [...session.tools, ...session.droppedTools].map(({ name }) => name);
    const [problem] = findUnknownTools(excludeTools, [...toolNames, ...tools]);
    if (problem !== undefined) throw new HarnessError("invalid_input", problem);
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

/** The session that the flags choose; without such a flag, a new one. */
async function openSession(
  options: SessionOptions,
  io: Io,
  { agentDir, durability, sessionDir }: Settings & { agentDir: string },
) {
  const { cwd } = io;
  const directory = getSessionDir(io, options.sessionDir, sessionDir);
  const lookup = { cwd, agentDir, directory };
  const storage = { agentDir, durability };
  if (options.noSession) return await SessionManager.inMemory(cwd, storage);
  if (options.resume) {
    const { chooseSessionFile } = await import("./commands/sessions-choose.ts");
    return await SessionManager.open(await chooseSessionFile(io, directory), storage);
  }
  if (options.continue) return await SessionManager.continueRecent(cwd, directory, storage);
  if (options.session !== undefined)
    return await SessionManager.open(await findSession(options.session, lookup), storage);
  if (options.fork !== undefined) {
    const { agent } = options;
    // Before the copy is written.
    if (agent !== undefined) await loadNamedAgent(agentDir, agent);
    const fields = { ...storage, ...(agent !== undefined && { agentName: agent }) };
    return await SessionManager.forkFrom(await findSession(options.fork, lookup), cwd, directory, fields);
  }
  if (options.sessionId !== undefined) {
    const existing = await SessionManager.findById(cwd, options.sessionId, directory, storage);
    if (existing !== undefined) await mustBeSession(existing);
    return await SessionManager.continueById(cwd, options.sessionId, directory, storage);
  }
  return await SessionManager.create(cwd, directory, storage);
}

const findStats = (path: string) => stat(path).catch(() => undefined);

/** If the value is the path of a file, its content. A shell passes a pipe for `<(command)`. */
async function readTextOrFile(cwd: string, value: string): Promise<string> {
  if (value.length >= 4_096 || value.includes("\n")) return value;
  const path = resolve(cwd, value);
  const stats = await findStats(path);
  if (stats?.isFile() || stats?.isFIFO()) return await readFile(path, "utf8");
  if (!looksLikeFile(value)) return value;
  const advice = "If it is a text, write a blank into it and end it with a period.";
  throw new HarnessError("invalid_input", `There is no file ${path}. ${advice}`);
}

/** A misspelled path must not become the prompt. */
const looksLikeFile = (value: string): boolean => /\.(md|txt)$/i.test(value) || /^[^\s]*\/[^\s]*$/.test(value);

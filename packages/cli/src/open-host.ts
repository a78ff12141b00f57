/** From the flags to a host with one open session: the one place where the program is put together. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { didYouMean } from "@tau/ai";
import {
  type AgentSession,
  type AskChoice,
  createResourceLoader,
  HarnessError,
  SessionManager,
  SettingsManager,
} from "@tau/harness";
import { createHost, type Host, type HostOptions } from "@tau/harness/host";
import { findSession, mustBeSession } from "@tau/harness/session";
import { getAgentDir } from "./agent-dir.ts";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";

export interface OpenOptions {
  /** Who answers where the policy asks. Default: nobody, and what asks is denied. */
  ask?: AskChoice;
}

export interface OpenHost {
  host: Host;
  sessionId: string;
}

/** Throws `HarnessError` for what the user has to put right. */
export async function openHost(options: SessionOptions, io: Io, { ask }: OpenOptions = {}): Promise<OpenHost> {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  // A single run ends before the settings change.
  const watch = options.mode === "rpc";
  const settingsManager = await SettingsManager.create(cwd, agentDir, { watch });
  const { skills, prompts } = settingsManager.get();
  for (const path of [...options.skills, ...options.promptTemplates]) await mustExist(cwd, path);
  const resourceLoader = await createResourceLoader({
    cwd,
    agentDir,
    skillPaths: [...options.skills, ...skills],
    promptPaths: [...options.promptTemplates, ...prompts],
    ...(options.noContextFiles && { contextFiles: "none" }),
  });
  const sessionManager = await openLog(options, io, { agentDir, settings: settingsManager });
  const model = getModelSpec(options);
  const params: HostOptions["params"] = {
    cwd,
    agentDir,
    settingsManager,
    resourceLoader,
    watch,
    ...(model !== undefined && { model }),
    ...(options.thinking !== undefined && { thinkingLevel: options.thinking as "off" }),
    ...(options.tools && { tools: options.tools, allowedTools: options.tools }),
    ...(options.noTools && { tools: [], allowedTools: [] }),
    ...(options.excludeTools && { excludedTools: options.excludeTools }),
    ...(options.systemPrompt !== undefined && { systemPrompt: await readTextOrFile(cwd, options.systemPrompt) }),
    appendSystemPrompt: await Promise.all(options.appendSystemPrompt.map((value) => readTextOrFile(cwd, value))),
    ...(ask && { ask }),
    abortSignal: io.signal,
  };
  const host = createHost({
    params,
    agentDir,
    ...(options.models && { models: options.models }),
    prepare: createPrepare(options),
  });
  const sessionId = await host.open(sessionManager);
  const { session } = host.get(sessionId);
  try {
    await checkNames(session, options);
    session.override({ budgets: toBudgets(options) });
    if (options.name !== undefined) await session.sessionManager.appendSessionInfo(options.name);
    return { host, sessionId };
  } catch (error) {
    await host.dispose();
    throw error;
  }
}

/** `--api-key` is a key for the provider of the first session's model, in every session of this process. */
function createPrepare({ apiKey }: SessionOptions): (session: AgentSession) => void {
  let keyOwner: { provider: string; baseUrl: string } | undefined;
  return ({ authStorage, model }) => {
    if (apiKey === undefined) return;
    keyOwner ??= model;
    if (!keyOwner) {
      throw new HarnessError("no_model", "--api-key needs to know whose key it is: name a --model or a --provider.");
    }
    authStorage.setRuntimeApiKey(keyOwner.provider, apiKey, keyOwner.baseUrl || undefined);
  };
}

/** A misspelled name must not leave in what was to be out, nor stand for nothing at all. */
async function checkNames(session: AgentSession, { excludeTools, models }: SessionOptions): Promise<void> {
  if (excludeTools) await checkExcluded(session, excludeTools);
  const scope = models && session.modelRegistry.scope(models);
  const [problem] = scope?.models.length === 0 ? scope.problems : [];
  if (problem) throw new HarnessError("unknown_model", problem.message);
}

async function checkExcluded({ tools, droppedTools }: AgentSession, excluded: readonly string[]): Promise<void> {
  const { toolNames } = await import("@tau/tools");
  const known = [...new Set<string>([...toolNames, ...[...tools, ...droppedTools].map(({ name }) => name)])];
  const unknown = excluded.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new HarnessError("invalid_input", `There is no tool ${JSON.stringify(unknown)}.${didYouMean(unknown, known)}`);
}

const getModelSpec = ({ provider, model }: SessionOptions): string | undefined =>
  provider === undefined || model === undefined ? (model ?? provider) : `${provider}/${model}`;

const toBudgets = ({ maxTurns, maxCost, timeout }: SessionOptions) => ({
  ...(maxTurns !== undefined && { turns: maxTurns }),
  ...(maxCost !== undefined && { cost: maxCost }),
  ...(timeout !== undefined && { timeMs: timeout * 1_000 }),
});

interface LogOptions {
  agentDir: string;
  settings: SettingsManager;
}

async function openLog(options: SessionOptions, io: Io, { agentDir, settings }: LogOptions): Promise<SessionManager> {
  const { cwd } = io;
  const { durability, sessionDir: usual } = settings.get();
  const directory = options.sessionDir === undefined ? usual : resolve(cwd, options.sessionDir);
  const choices = { agentDir, durability };
  if (options.noSession) return await SessionManager.inMemory(cwd, choices);
  if (options.resume) return await SessionManager.open(await chooseSession(io, directory), choices);
  if (options.continue) return await SessionManager.continueRecent(cwd, directory, choices);
  if (options.session !== undefined) {
    return await SessionManager.open(await findSession(options.session, { cwd, agentDir, directory }), choices);
  }
  if (options.fork !== undefined) {
    const source = await findSession(options.fork, { cwd, agentDir, directory });
    return await SessionManager.forkFrom(source, cwd, directory, choices);
  }
  if (options.sessionId !== undefined) {
    const there = await SessionManager.findById(cwd, options.sessionId, directory, choices);
    if (there !== undefined) await mustBeSession(there);
    return await SessionManager.continueById(cwd, options.sessionId, directory, choices);
  }
  return await SessionManager.create(cwd, directory, choices);
}

/** Asks which of the sessions of this directory is meant. */
async function chooseSession(io: Io, directory: string | undefined): Promise<string> {
  const { chooseSessionFile } = await import("./commands/sessions-choose.ts");
  return await chooseSessionFile(io, directory);
}

async function mustExist(cwd: string, path: string): Promise<void> {
  const found = await stat(resolve(cwd, path)).catch(() => undefined);
  if (!found) throw new HarnessError("invalid_input", `There is no file or directory ${path}.`);
}

/** A file, or the pipe that a shell gives for `<(command)`. */
async function canBeRead(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.isFile() || found.isFIFO());
}

/** What is the name of a file stands for what is in it. */
async function readTextOrFile(cwd: string, value: string): Promise<string> {
  const path = resolve(cwd, value);
  const isPath = value.length < 4_096 && !value.includes("\n");
  return isPath && (await canBeRead(path)) ? await readFile(path, "utf8") : value;
}

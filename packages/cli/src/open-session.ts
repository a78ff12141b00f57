/** From the flags to an open session: the one place where the program is put together. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { didYouMean } from "@tau/ai";
import {
  type AgentSession,
  type AgentSessionParams,
  type AskChoice,
  createAgentSession,
  createResourceLoader,
  HarnessError,
  SessionManager,
  SettingsManager,
} from "@tau/harness";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { getAgentDir, findSession, mustBeSession } from "./find-session.ts";

export interface OpenOptions {
  /** Whom to ask where the policy asks. Default: nobody is there. */
  ask?: AskChoice;
}

/** Throws `HarnessError` for what a person has to put right. */
export async function openSession(options: SessionOptions, io: Io, { ask }: OpenOptions = {}): Promise<AgentSession> {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  // A single run ends before anybody has changed their settings.
  const watch = options.mode === "rpc";
  const settingsManager = await SettingsManager.create(cwd, agentDir, { watch });
  const { skills, prompts } = settingsManager.get();
  for (const path of [...options.skills, ...options.promptTemplates]) await mustBeThere(cwd, path);
  const resourceLoader = await createResourceLoader({
    cwd,
    agentDir,
    skillPaths: [...options.skills, ...skills],
    promptPaths: [...options.promptTemplates, ...prompts],
    ...(options.noContextFiles && { contextFiles: "none" }),
  });
  const sessionManager = await openLog(options, io, { agentDir, settings: settingsManager });
  const model = modelSpec(options);
  const params: AgentSessionParams = {
    cwd,
    agentDir,
    settingsManager,
    resourceLoader,
    sessionManager,
    watch,
    ...(model !== undefined && { model }),
    ...(options.thinking !== undefined && { thinkingLevel: options.thinking as "off" }),
    ...(options.tools && { tools: options.tools, allowedTools: options.tools }),
    ...(options.noTools && { tools: [], allowedTools: [] }),
    ...(options.excludeTools && { excludedTools: options.excludeTools }),
    ...(options.systemPrompt !== undefined && { systemPrompt: await textOrFile(cwd, options.systemPrompt) }),
    appendSystemPrompt: await Promise.all(options.appendSystemPrompt.map((given) => textOrFile(cwd, given))),
    ...(ask && { ask }),
    abortSignal: io.signal,
  };
  const session = await createAgentSession(params);
  try {
    useKey(session, options);
    await checkNames(session, options);
    session.override({ budgets: toBudgets(options) });
    if (options.name !== undefined) await session.sessionManager.appendSessionInfo(options.name);
    return session;
  } catch (error) {
    await session.dispose();
    throw error;
  }
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

const modelSpec = ({ provider, model }: SessionOptions): string | undefined =>
  provider === undefined || model === undefined ? (model ?? provider) : `${provider}/${model}`;

/** A key is for one provider, and so for the one whose model is used. */
function useKey({ authStorage, model }: AgentSession, { apiKey }: SessionOptions): void {
  if (apiKey === undefined) return;
  if (!model)
    throw new HarnessError("no_model", "--api-key needs to know whose key it is: name a --model or a --provider.");
  authStorage.setRuntimeApiKey(model.provider, apiKey, model.baseUrl || undefined);
}

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

async function mustBeThere(cwd: string, path: string): Promise<void> {
  const found = await stat(resolve(cwd, path)).catch(() => undefined);
  if (!found) throw new HarnessError("invalid_input", `There is no file or directory ${path}.`);
}

/** A file, or the pipe that a shell gives for `<(command)`. */
async function canBeRead(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.isFile() || found.isFIFO());
}

/** What is the name of a file stands for what is in it. */
async function textOrFile(cwd: string, given: string): Promise<string> {
  const path = resolve(cwd, given);
  const isPath = given.length < 4_096 && !given.includes("\n");
  return isPath && (await canBeRead(path)) ? await readFile(path, "utf8") : given;
}

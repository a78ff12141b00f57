/** Puts a session together. Everything is optional; what is not given is what a person at a terminal would expect. */
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { StreamFn, ThinkingLevel } from "@tau/agent";
import {
  clampThinkingLevel,
  type Clock,
  didYouMean,
  getEnvApiKey,
  type Ids,
  type Model,
  parseThinkingLevel,
  streamSimple,
  systemClock,
  systemIds,
} from "@tau/ai";
import type { LifecycleEvent } from "@tau/protocol";
import type { Tools } from "@tau/tools";
import { AgentSession } from "./agent-session.ts";
import { AuthStorage } from "./auth/auth-storage.ts";
import { keyCommands } from "./auth/key-command.ts";
import { resolveKey } from "./auth/key-value.ts";
import { HarnessError } from "./errors.ts";
import { ModelRegistry } from "./models/model-registry.ts";
import { describeProblem } from "./models/models-file.ts";
import type { DebugLog } from "./observe/debug-log.ts";
import { findTracer } from "./observe/opentelemetry.ts";
import type { ChannelBinding, GivenTool } from "./pipeline/layer.ts";
import { createAudit } from "./policy/audit.ts";
import { createDefaultPolicy, credentialReason } from "./policy/default-policy.ts";
import { Grants } from "./policy/grants.ts";
import { createGuard, createPathGuard } from "./policy/guard.ts";
import { type PathRules, pathStanding, realPathRules } from "./policy/paths.ts";
import type { Audit, Decide } from "./policy/policy.ts";
import { createExpandPort } from "./prompt/expand-port.ts";
import { createResourceLoader, type ResourceLoader } from "./resources/resource-loader.ts";
import type { AskChoice } from "./run/approvals.ts";
import { createKeeper } from "./run/bound-keep.ts";
import { type BudgetLimits, createBudget } from "./run/budget.ts";
import { liveSession } from "./run/live-sessions.ts";
import { createRequests } from "./run/request.ts";
import { countEntry, emptyStats } from "./run/stats.ts";
import { defaultAgentDir } from "./session/session-directory.ts";
import { SessionManager } from "./session/session-manager.ts";
import { SettingsManager } from "./settings/settings-manager.ts";
import { formatSettingsProblem } from "./settings/standing.ts";

export interface AgentSessionParams {
  /** Where commands run and relative paths begin. Default: the working directory of the process. */
  cwd?: string;
  /** Where settings, credentials, models and sessions are. Default: `TAU_DIR`, else `~/.tau`. */
  agentDir?: string;
  /** An agent of `agentDir` with its own prompt, tools and resources. */
  agentName?: string;
  authStorage?: AuthStorage;
  modelRegistry?: ModelRegistry;
  /** A model, or what stands for one: `provider/id:thinking`, or any part of it. Default: the session's, else the settings'. */
  model?: Model | string;
  /** `none` is read as `off`. Default: the session's, else the settings'. */
  thinkingLevel?: ThinkingLevel | "none";
  /** Built-in tools by name, or tools. Default: those of a coding agent. */
  tools?: readonly (GivenTool | string)[];
  /** Tools besides; one with the name of a built-in tool takes its place. */
  customTools?: readonly GivenTool[];
  /** Where the conversation is kept. Default: a new file for this directory. */
  sessionManager?: SessionManager;
  settingsManager?: SettingsManager;
  resourceLoader?: ResourceLoader;
  /** The session that started this one. If it is open in this process, this one ends and spends with it. */
  parentSessionId?: string;
  /** A session to go on with. Throws `session_not_found` when there is none. */
  sessionId?: string;
  /** Ends the session's runs; its reason `gateway_disconnected` says that nobody is there any more. */
  abortSignal?: AbortSignal;
  onEvent?: (event: LifecycleEvent) => void;

  /** What a channel lends to the session. */
  binding?: ChannelBinding;
  /** Only these tools are shown, by name. Default: what the settings say. */
  allowedTools?: readonly string[];
  /** Not these tools, besides what the settings say. */
  excludedTools?: readonly string[];
  /** What tools with a `requiredScope` are measured against. Default: scopes are not asked for. */
  scopes?: readonly string[];
  /** Directories besides `cwd` that tools may work in. */
  additionalDirectories?: readonly string[];
  /** Whom to ask where the policy asks. Default: nobody is there, and what asks is denied. */
  ask?: AskChoice;
  /** Default: the workspace is free, reading and writing outside asks, credentials are denied. */
  decide?: Decide;
  /** Default: what was asked for or denied is written into the session. */
  audit?: Audit;
  /** For this session and all that it starts, as long as it lives. What a run may use is in the settings. */
  budgets?: BudgetLimits;
  /** Takes the place of the default prompt. */
  systemPrompt?: string;
  appendSystemPrompt?: readonly string[];
  /** Whether the project's settings may execute and redirect. Default false. */
  projectTrusted?: boolean;
  /** Asks a model instead of `streamSimple`. Keys are then its own business. */
  streamFn?: StreamFn;
  /** Gets everything that happens but the deltas, without secrets. */
  debugLog?: DebugLog;
  clock?: Clock;
  ids?: Ids;
}

/** Resolves when the session can be prompted. Dispose of it when it is no longer needed. */
export async function createAgentSession(params: AgentSessionParams = {}): Promise<AgentSession> {
  const { clock = systemClock, ids = systemIds, agentName } = params;
  const cwd = resolve(params.cwd ?? process.cwd());
  const agentDir = resolve(params.agentDir ?? defaultAgentDir());
  const owned: (() => unknown)[] = [];
  try {
    const settings = params.settingsManager ?? (await ownSettings(params, { cwd, agentDir, clock, ids, owned }));
    const auth: AuthStorage =
      params.authStorage ??
      AuthStorage.create(agentDir, { clock, ids, modelsKey: (provider) => modelsKeyOf(registry, provider) });
    const registry: ModelRegistry = params.modelRegistry ?? (await ownRegistry(auth, { agentDir, clock, owned }));
    const resources =
      params.resourceLoader ??
      (await createResourceLoader({
        cwd,
        agentDir,
        skillPaths: settings.get().skills,
        promptPaths: settings.get().prompts,
        ...(agentName !== undefined && { agentName }),
      }));
    const sessionManager = await openLog(params, { cwd, agentDir, settings, clock, ids });
    const grants = new Grants();
    const wanted = pathRules(params, { cwd, agentDir, resources });
    const { files, tools, rules } = await createGround({ cwd, rules: wanted, grants, settings, clock, ids });
    owned.push(() => tools.dispose());
    const results = ownDirectory("tau-results-");
    owned.push(() => results.remove());
    const parent = params.parentSessionId === undefined ? undefined : liveSession(params.parentSessionId);
    const choice = await chooseModel(params, { registry, settings, sessionManager });
    const builtIn = (name: string) => builtInTool(tools, name);
    const session = new AgentSession({
      cwd,
      sessionManager,
      settingsManager: settings,
      modelRegistry: registry,
      authStorage: auth,
      resourceLoader: resources,
      expandPort: createExpandPort({
        loader: resources,
        cwd,
        files: files.mentions,
        offersSkills: () => settings.get().enableSkillCommands,
      }),
      ...choice,
      tools: params.tools?.map((tool) => (typeof tool === "string" ? builtIn(tool) : tool)) ?? tools.defaults,
      customTools: params.customTools ?? [],
      builtIn,
      binding: params.binding,
      allowedTools: params.allowedTools,
      excludedTools: params.excludedTools ?? [],
      scopes: params.scopes,
      systemPrompt: params.systemPrompt,
      appendSystemPrompt: params.appendSystemPrompt ?? [],
      decide: params.decide ?? createDefaultPolicy(rules),
      ask: params.ask,
      audit: params.audit ?? createAudit((type, data) => sessionManager.appendCustomEntry(type, data)),
      grants,
      realPath: (path) => files.free.realPath(path),
      keep: createKeeper({ directory: results.get, ids }),
      request:
        params.streamFn ??
        createRequests({
          auth,
          registry,
          settings: () => settings.get(),
          sessionId: sessionManager.id,
          clock,
          streamFn: streamSimple,
          ...(params.debugLog && { onKey: (key) => params.debugLog?.addSecret(key) }),
        }),
      budget: createBudget(params.budgets ?? {}, {
        clock,
        ...(parent && { parent: parent.budget }),
        ...(params.budgets && { spent: await spentBefore(sessionManager) }),
      }),
      parent,
      abortSignal: params.abortSignal,
      resumedFrom: sessionManager.getEntryCount() > 0 ? sessionManager.id : undefined,
      tracer: await findTracer({ enabled: settings.get().otel.enabled }),
      agentName,
      problems: problemsOf({ settings, registry, resources }),
      clock,
      ids,
      reopen: (other) => createAgentSession(sameWith(params, other)),
      close: () => closeAll(owned),
    });
    if (params.onEvent) session.onEvent(params.onEvent);
    if (params.debugLog) {
      for (const secret of await knownSecrets(auth, registry)) params.debugLog.addSecret(secret);
      logEvents(session, params.debugLog);
    }
    await session.open();
    return session;
  } catch (error) {
    await closeAll(owned);
    throw error;
  }
}

/** Every key that can be told without running anything: a person may type one before it is first used. */
async function knownSecrets(auth: AuthStorage, registry: ModelRegistry): Promise<string[]> {
  const providers = new Set(registry.getAll().map(({ provider }) => provider));
  const stored = await Promise.all((await auth.list()).map(({ provider }) => auth.get(provider)));
  const written = [...providers].flatMap((provider) => [registry.writtenKey(provider), getEnvApiKey(provider)]);
  const fields = stored.flatMap((credential) => Object.values(credential ?? {}));
  return [...written, ...fields].filter(
    (value): value is string => typeof value === "string" && value.length >= shortestSecret,
  );
}

/** What is shorter would take ordinary words out of a log. */
const shortestSecret = 8;

/** What each delta adds is in the message that they end in. */
function logEvents(session: AgentSession, log: DebugLog): void {
  session.onSessionEvent(({ type, ...fields }) => {
    if (!type.endsWith("_delta") && type !== "tool_execution_update") log.log(type, fields);
  });
}

type Owned = (() => unknown)[];

async function closeAll(owned: Owned): Promise<void> {
  for (const close of owned.splice(0).toReversed()) await close();
}

/** A branch has its own log and nothing of its own besides. */
function sameWith({ sessionId: _id, abortSignal, ...params }: AgentSessionParams, sessionManager: SessionManager) {
  return { ...params, sessionManager, ...(abortSignal && { abortSignal }) };
}

interface Place {
  cwd: string;
  agentDir: string;
  clock: Clock;
  ids: Ids;
  owned: Owned;
}

async function ownSettings(
  { projectTrusted = false }: AgentSessionParams,
  { cwd, agentDir, clock, ids, owned }: Place,
) {
  const settings = await SettingsManager.create(cwd, agentDir, { projectTrusted, clock, ids });
  owned.push(() => settings.close());
  return settings;
}

/** What can be used depends on keys, which are asked for often: so they are listed once, and again when models change. */
async function ownRegistry(auth: AuthStorage, { agentDir, clock, owned }: Omit<Place, "cwd" | "ids">) {
  const stored = new Set((await auth.list()).map(({ provider }) => provider));
  const registry = await ModelRegistry.create(agentDir, {
    clock,
    hasKey: (provider, written) =>
      written !== undefined || stored.has(provider) || getEnvApiKey(provider) !== undefined,
    resolveValue: async (written) => {
      const value = await resolveKey(written, {
        subject: "a value in models.json",
        env: (name) => process.env[name],
        run: keyCommands,
      });
      return value.kind === "value" ? value.value : undefined;
    },
  });
  owned.push(() => registry.close());
  return registry;
}

function modelsKeyOf(registry: ModelRegistry, provider: string) {
  const key = registry.writtenKey(provider);
  const host = registry.baseUrl(provider);
  return key === undefined ? undefined : { key, isOwn: true, ...(host !== undefined && { host }) };
}

async function openLog(
  params: AgentSessionParams,
  { cwd, agentDir, settings, clock, ids }: Omit<Place, "owned"> & { settings: SettingsManager },
): Promise<SessionManager> {
  const { sessionManager: given, sessionId, parentSessionId } = params;
  if (given) return sessionId === undefined || sessionId === given.id ? given : await given.loadSession(sessionId);
  const { sessionDir, durability } = settings.get();
  const options = { agentDir, durability, clock, ids };
  if (sessionId === undefined) {
    const parentId = parentSessionId === undefined ? {} : { parentId: parentSessionId };
    return await SessionManager.create(cwd, sessionDir, { ...options, ...parentId });
  }
  const path = await SessionManager.findById(cwd, sessionId, sessionDir, options);
  if (path !== undefined) return await SessionManager.open(path, options);
  throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(sessionId)} of ${cwd}.`);
}

/** Where tools may work, and where they may only read. */
function pathRules(
  { additionalDirectories = [] }: AgentSessionParams,
  { cwd, agentDir, resources }: { cwd: string; agentDir: string; resources: ResourceLoader },
): PathRules {
  const home = homedir();
  const skills = resources.resources.skills.map(({ baseDir }) => baseDir);
  const own = ["skills", "agents", "prompts"].map((name) => join(agentDir, name));
  return {
    roots: [cwd, tmpdir(), ...additionalDirectories.map((directory) => resolve(cwd, directory))],
    readable: [...own, join(home, ".agents", "skills"), ...skills],
    home,
    agentDir,
  };
}

interface GroundParts {
  cwd: string;
  rules: PathRules;
  grants: Grants;
  settings: SettingsManager;
  clock: Clock;
  ids: Ids;
}

/** The tools and the files they stand on. A person may mention what they like, but no credentials. */
async function createGround({ cwd, rules: given, grants, settings, clock, ids }: GroundParts) {
  const { createFiles, createTools } = await import("@tau/tools");
  const free = createFiles({ ids });
  const rules = await realPathRules(given, (path) => free.realPath(path));
  const isNoCredential = (path: string, access: "read" | "write") => pathStanding(path, access, rules) !== "denied";
  const mentions = createFiles({ ids, guard: createGuard({ isAllowed: isNoCredential, explain: credentialReason }) });
  const guarded = createFiles({ ids, guard: createPathGuard({ ...rules, grants }) });
  const { shellPath, shellCommandPrefix, shellEnv } = settings.get();
  const tools = createTools({
    cwd,
    files: guarded,
    clock,
    ids,
    ...(shellPath !== undefined && { shell: shellPath }),
    ...(shellCommandPrefix !== undefined && { commandPrefix: shellCommandPrefix }),
    addedEnv: shellEnv,
  });
  return { files: { free, mentions }, tools, rules };
}

function builtInTool(tools: Tools, name: string): GivenTool {
  const { byName } = tools;
  if (Object.hasOwn(byName, name)) return byName[name as keyof typeof byName];
  const hint = didYouMean(name, Object.keys(byName));
  throw new HarnessError("invalid_input", `There is no built-in tool ${JSON.stringify(name)}.${hint}`);
}

interface ModelChoice {
  model: Model | undefined;
  thinkingLevel: ThinkingLevel;
  noModelReason: string;
}

/** What is asked for, else what the session used, else what the settings say, else what can be used. */
async function chooseModel(
  params: AgentSessionParams,
  {
    registry,
    settings,
    sessionManager,
  }: { registry: ModelRegistry; settings: SettingsManager; sessionManager: SessionManager },
): Promise<ModelChoice> {
  const { defaultModel, defaultProvider, defaultThinkingLevel } = settings.get();
  const isNew = sessionManager.getEntryCount() === 0;
  const before = isNew ? undefined : await sessionManager.buildContext();
  const asked = parseLevel(params.thinkingLevel);
  const named = typeof params.model === "string" ? resolveSpec(registry, params.model) : undefined;
  const used = before?.model ? registry.find(before.model.provider, before.model.modelId) : undefined;
  const usual = () =>
    registry.defaultModel({
      ...(defaultModel !== undefined && { defaultModel }),
      ...(defaultProvider !== undefined && { defaultProvider }),
    });
  const given = typeof params.model === "object" ? params.model : named?.model;
  const fallback = (given ?? used) ? undefined : usual();
  const model = given ?? used ?? (fallback?.kind === "resolved" ? fallback.model : undefined);
  const level =
    asked ?? named?.thinkingLevel ?? parseThinkingLevel(before?.thinkingLevel ?? "") ?? defaultThinkingLevel;
  return {
    model,
    thinkingLevel: model ? clampThinkingLevel(model, level) : level,
    noModelReason: fallback?.kind === "none" ? fallback.message : "",
  };
}

function parseLevel(level: AgentSessionParams["thinkingLevel"]): ThinkingLevel | undefined {
  if (level === undefined) return undefined;
  const parsed = parseThinkingLevel(level);
  if (parsed) return parsed;
  throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
}

function resolveSpec(registry: ModelRegistry, spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
  const found = registry.resolve(spec);
  if (found.kind === "resolved") return found;
  throw new HarnessError("unknown_model", found.message);
}

/** A budget for the life of a session counts what it spent before it was opened. */
async function spentBefore(session: SessionManager) {
  const { tokens, cost, messages } = (await session.getEntries()).reduce(countEntry, emptyStats);
  return { tokens: tokens.total, cost, turns: messages.assistant };
}

/** What is wrong with the files that a session is made of, in words. */
function problemsOf(parts: { settings: SettingsManager; registry: ModelRegistry; resources: ResourceLoader }) {
  return [
    ...parts.settings.problems.map((problem) => ({ code: "settings", message: formatSettingsProblem(problem) })),
    ...parts.registry.problems.map((problem) => ({ code: "models", message: describeProblem(problem) })),
    ...parts.resources.problems.map(({ message }) => ({ code: "resources", message })),
  ];
}

/** A private directory among the temporary ones, made when it is first needed. */
function ownDirectory(prefix: string) {
  let made: Promise<string> | undefined;
  return {
    get: () => (made ??= mkdtemp(join(tmpdir(), prefix))),
    async remove() {
      if (made) await rm(await made, { recursive: true, force: true });
    },
  };
}

/** Puts a session together. Every parameter is optional; the defaults are those of a coding agent in a terminal. */
import { Closers } from "@tau/ai/internal";
import type { StreamFn } from "@tau/agent";
import { streamSimple } from "@tau/ai";
import {
  Availability,
  createTrustCheck,
  createUsedKeys,
  createWrittenValues,
  getAvailability,
  listKeys,
} from "@tau/config/internal";
import { createBudget } from "../budget/budget.ts";
import { SessionCosts } from "../cost/session-costs.ts";
import { withCostLimits } from "../cost/with-cost-limits.ts";
import type { ExtensionSlot, SessionStart } from "@tau/extensions/internal";
import type { DebugLog } from "../observe/debug-log.ts";
import { findTracer } from "../observe/opentelemetry.ts";
import type { Metrics } from "../observe/metrics.ts";
import { withMetrics } from "../observe/with-metrics.ts";
import { findUnknownTools } from "@tau/policy";
import { createSecretBroker } from "@tau/policy/internal";
import { createExpandPort } from "../prompt/expand-port.ts";
import { createMentionReader } from "../prompt/read-mention.ts";
import { withProviderHooks } from "../request/provider-hooks.ts";
import { createRequests, withRunOptions } from "../request/request.ts";
import { withRoutes } from "../request/route.ts";
import { SessionKeys } from "../request/session-keys.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { AgentSession } from "../agent-session/agent-session.ts";
import { createChildParams } from "./child-params.ts";
import { checkParams } from "./check-params.ts";
import { chooseModel } from "./choose-model.ts";
import { listFeatures, openExtensionSlot, openFeatures } from "./open-extension-slot.ts";
import { spentBefore } from "./open-log.ts";
import type { AgentSessionParams } from "./params.ts";
import { createPolicyParts } from "./policy-parts.ts";
import { openResults } from "./results.ts";
import { knownSecrets, listStartProblems, openResources } from "./open-services.ts";
import { findUnknownAgentTools } from "../agent-session/session-agent.ts";
import { describeUnread, type SessionSources } from "./session-sources.ts";
import { openSetup, type SessionSetup } from "./session-setup.ts";
import { checkTenantParams } from "./tenant.ts";
import { createToolSources } from "./tool-sources.ts";
import { createWorkspace } from "./workspace.ts";

/** Resolves when the session can be prompted. Dispose of it when it is no longer needed. */
export const createAgentSession = (params: AgentSessionParams = {}): Promise<AgentSession> => openSession(params);

/** `inherited` are the sources of the session that starts this one. */
function openSession(params: AgentSessionParams, inherited?: SessionSources): Promise<AgentSession> {
  return Closers.open(async (closers) => {
    checkParams(params);
    if (!inherited) checkTenantParams(params);
    const session = await putTogether(params, closers, inherited);
    if (params.onEvent) session.onEvent(params.onEvent);
    if (params.debugLog) await followSession(session, params.debugLog);
    await session.open().catch(async (error: unknown) => {
      await Promise.allSettled([session.dispose()]);
      throw error;
    });
    return session;
  });
}

async function putTogether(
  params: AgentSessionParams,
  closers: Closers,
  inherited: SessionSources | undefined,
): Promise<AgentSession> {
  let session!: AgentSession;
  const setup = await openSetup(params, { closers, getSession: () => session, inherited });
  const {
    cwd,
    projectDirectory,
    agentDir,
    readsUser,
    readsProject,
    env,
    tenant,
    clock,
    ids,
    services,
    sessionManager,
    parent,
    sessions,
    publisher,
    notices,
  } = setup;
  const { settings, resources } = services;
  const unread = describeUnread(params);
  const offered = listFeatures(setup);
  const extensions = await openExtensionSlot(setup, offered);
  const features = openFeatures(setup, offered, extensions);
  const { modelNotice, ...model } = await chooseModel(setup, extensions.current?.problems);
  const { keys, secrets } = createSecrets(setup, model.model?.provider);
  sessionManager.redactLines(keys.redactLine);
  const workspace = await createWorkspace(setup, { keys, secrets, features: offered });
  const { files, tools } = workspace;
  const policy = await createPolicyParts(setup, { secrets, workspace });
  const results = openResults(setup);
  const { debugLog } = params;
  const openAgent = (agentName: string, log: SessionManager) =>
    openResources(withAgent(params, agentName), setup, { settings, log });
  const availability = readsUser && !tenant ? getAvailability(agentDir) : new Availability();
  const sessionKeys = new SessionKeys({
    sessionId: sessionManager.id,
    availability,
    clock,
    listWritten: (provider) =>
      listKeys(provider, { settings: settings.get().apiKeys, yml: services.registry.modelsYml.apiKeys }),
    getHost: (provider) => services.registry.writtenBaseUrl(provider),
  });
  const tracer = await findTracer({ enabled: settings.get().otel.enabled, redact: keys.redact });
  const costs = createCosts(setup);
  session = new AgentSession({
    cwd,
    roots: setup.roots,
    isTrustedDirectory: createDirectoryTrust(setup),
    sessionManager,
    services,
    model,
    modelPatterns: params.models,
    tools: createToolSources(setup, { workspace, extensions, features }),
    spawn: workspace.spawn,
    policy,
    permissions: setup.permissions,
    getPolicyLimits: setup.getPolicyLimits,
    extensions,
    features,
    expandPort: createExpandPort({
      loader: resources,
      cwd: projectDirectory,
      agentDir,
      offersSkills: () => settings.get().enableSkillCommands,
    }),
    createMentionReader: (named) => createMentionReader({ cwd, files: named, seen: tools.seen }),
    fileAuthority: params.fileAuthority ?? (tenant ? "model" : "person"),
    personFiles: files.mentions,
    availability,
    keys: sessionKeys,
    toolChoice: params.toolChoice,
    request: createRequest(setup, { extensions, keys: sessionKeys, metrics: tracer?.metrics, costs }),
    readCostLimits: () => costs.readLimits(),
    waitsForBusyProvider: params.waitsForBusyProvider ?? false,
    keep: (text) => results.save(keys.redact(text)),
    keepBytes: results.save,
    restoreResults: results.restore,
    budget: createBudget(params.budgets ?? {}, {
      clock,
      ...(parent && { parent: parent.budget }),
      ...(params.budgets && { spent: await spentBefore(sessionManager) }),
    }),
    parent,
    sessions,
    abortSignal: params.abortSignal,
    afterCrash: params.afterCrash,
    admitRun: params.admitRun,
    problems: [
      ...listStartProblems(services),
      ...describeRestored(workspace.restoredPaths),
      ...(modelNotice === undefined ? [] : [{ code: "model", message: modelNotice }]),
      ...(unread === undefined ? [] : [{ code: "use", message: unread }]),
    ],
    publisher,
    notices,
    trace: {
      tracer,
      agentName: resources.resources.agent?.name,
    },
    clock,
    ids,
    logTool: debugLog && ((tool, level, message) => debugLog.log("tool", { tool, level, message })),
    jobs: tools.jobs,
    reloadGateway: params.reloadGateway,
    openChild: async (parentSession, options, definition) => {
      const childParams = await createChildParams(params, { parent: parentSession, sessions, openAgent }, options);
      const own = definition && { ...definition, provider: undefined };
      const all = { ...childParams, ...own } as AgentSessionParams;
      return await openSession(all, { readsUser, readsProject, agentDir, env, tenant });
    },
    reopen: (other, start) => createAgentSession(sameWith(params, other, start)),
    close: () => closers.close().finally(() => sessionManager.close()),
  });
  services.authNotices.report = ({ message }) => notices.add("auth", message);
  reportUnknownTools(session, params);
  return session;
}

/** Answers as for a working directory, without what applies to this process alone. */
const createDirectoryTrust =
  ({ agentDir, services }: SessionSetup) =>
  async (cwd: string): Promise<boolean> => {
    const { defaultProjectTrust } = services.settings.get();
    return defaultProjectTrust === "ask"
      ? await createTrustCheck({ agentDir, cwd })()
      : defaultProjectTrust === "always";
  };

/** Reports files that are not what the last session left: whoever looked at them since has seen other content. */
function describeRestored(paths: readonly string[]): { code: string; message: string }[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, 5).join(", ") + (paths.length > 5 ? ` and ${paths.length - 5} more` : "");
  const message = `A change of several files was interrupted when tau was killed. Those that were changed have their old content again: ${shown}.`;
  return [{ code: "recovered", message }];
}

/** The keys that tau uses, and the secrets that commands may be given: neither is stored, and no command gets the keys. */
function createSecrets({ params, services, env, getPolicy }: SessionSetup, provider: string | undefined) {
  const { auth, registry, settings } = services;
  const writtenValues = createWrittenValues(registry, () => settings.get());
  const keys = createUsedKeys({ auth, registry: { writtenValues }, provider, listGiven: () => secrets.listGiven() });
  const secrets = createSecretBroker({
    policy: () => getPolicy().secretBroker,
    isOwnKey: (name, value) => keys.createIsSecret()(name, value),
    listOwnForms: () => keys.listForms(),
    onGive: (value) => params.debugLog?.addSecret(value),
    env,
  });
  return { keys, secrets };
}

interface RequestParts {
  extensions: ExtensionSlot;
  keys: SessionKeys;
  metrics: Metrics | undefined;
  costs: SessionCosts;
}

/** Asks a model, with keys and headers, the hooks of extensions, and what every request of the session has. */
function createRequest(setup: SessionSetup, { extensions, keys, metrics, costs }: RequestParts): StreamFn {
  const { params, services, sessionManager, env, tenant, clock } = setup;
  const { auth, registry, settings } = services;
  const { debugLog } = params;
  const onKey = debugLog && { onKey: (key: string) => debugLog.addSecret(key) };
  const request =
    params.streamFn ?? createRequests({ auth, registry, env, clock, keys, streamFn: streamSimple, ...onKey });
  const run = withRunOptions(
    withProviderHooks(request, () => extensions.current),
    {
      settings: () => settings.get(),
      sessionId: sessionManager.id,
      env: params.env ?? {},
      ambientCredentials: tenant === undefined,
      clock,
    },
  );
  const getPatterns = () => params.models ?? settings.get().enabledModels;
  const limited = withCostLimits(withMetrics(run, metrics, clock), costs);
  return withRoutes(limited, { registry, getExtensions: () => extensions.current, getPatterns }, clock);
}

function createCosts(setup: SessionSetup): SessionCosts {
  const { sessionManager, agentDir, clock, ids, parent, notices, closers, services } = setup;
  return new SessionCosts({
    storage: sessionManager.customStorage,
    agentDir,
    clock,
    ids,
    getLimits: () => {
      const { day, month } = services.settings.get().budgets;
      return { day: day.cost, month: month.cost };
    },
    // The session that started this one warns by itself.
    warn: (message) => (parent ? undefined : notices.add("budget", message)),
    onClose: (close) => closers.add(close),
  });
}

/** Reports tools that are named and do not exist, because the error leaves a tool enabled, or out. */
function reportUnknownTools(session: AgentSession, params: AgentSessionParams): void {
  const { agent } = session.resourceLoader.resources;
  const { tools, defaultTools = [] } = session.settingsManager.get();
  const namedTools: Record<string, readonly string[]> = {
    "The parameter allowedTools": params.allowedTools ?? [],
    "The parameter excludedTools": params.excludedTools ?? [],
    "The setting tools.allowed": tools.allowed ?? [],
    "The setting tools.excluded": tools.excluded,
    "The setting tools.enabled": tools.enabled,
    "The setting defaultTools": defaultTools.map((entry) => entry.replace(/^[+-]/, "")),
  };
  const known = [...session.knownTools, ...session.tools, ...session.droppedTools].map(({ name }) => name);
  for (const [source, names] of Object.entries(namedTools)) {
    for (const problem of findUnknownTools(names, known)) session.notify("settings", `${source}: ${problem}`);
  }
  const unknown = agent ? findUnknownAgentTools(agent, known) : [];
  for (const problem of unknown) session.notify("settings", problem);
}

/** For resources of another agent than that of the session. */
const withAgent = ({ resourceLoader: _loader, ...params }: AgentSessionParams, agentName: string) => ({
  ...params,
  agentName,
});

/** A branch has its own log, which names its agent, and nothing of its own besides. */
function sameWith(
  { sessionId: _id, storage: _storage, session: _session, agentName: _agent, ...rest }: AgentSessionParams,
  sessionManager: SessionManager,
  start: SessionStart,
) {
  const { abortSignal, extensions, ...params } = rest;
  const own = extensions && { extensions: { ...extensions, start } };
  return { ...params, sessionManager, ...own, ...(abortSignal && { abortSignal }) };
}

/** Writes what happens into the debug log, without secrets. What each delta adds is in the message that they end in. */
async function followSession(session: AgentSession, log: DebugLog): Promise<void> {
  for (const secret of await knownSecrets(session)) log.addSecret(secret);
  session.onSessionEvent(({ type, ...fields }) => {
    if (!type.endsWith("_delta") && type !== "tool_execution_update") log.log(type, fields);
  });
}

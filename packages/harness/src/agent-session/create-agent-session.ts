/** Puts a session together. Every parameter is optional; the defaults are those of a coding agent in a terminal. */
import { join, resolve } from "node:path";
import { streamSimple, systemClock, systemIds } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { AgentSession } from "./agent-session.ts";
import { builtInTool, builtInTools, createGround, pathRules, resultsDirectory } from "./workspace.ts";
import { openLog, spentBefore } from "./open-log.ts";
import { chooseModel } from "./choose-model.ts";
import { Owned } from "./owned.ts";
import type { AgentSessionParams } from "./params.ts";
import { getSessionEnv } from "./session-env.ts";
import { knownSecrets, openResources, openServices, type SessionBase, describeProblems } from "./services.ts";
import { createUsedKeys } from "../auth/used-keys.ts";
import type { DebugLog } from "../observe/debug-log.ts";
import { findTracer } from "../observe/opentelemetry.ts";
import { createAudit } from "../policy/audit.ts";
import { createPolicy } from "../policy/create-policy.ts";
import { Grants } from "../policy/grants.ts";
import { PolicyReport } from "../policy/policy-report.ts";
import { createRememberedRules } from "../policy/remembered-rules.ts";
import { createSecretBroker } from "../policy/secret-broker.ts";
import { getSandboxSettings, getSessionPolicy } from "../policy/session-policy.ts";
import { SessionTaint } from "../policy/session-taint.ts";
import { createExpandPort } from "../prompt/expand-port.ts";
import { findUnknownTools } from "../pipeline/tool-patterns.ts";
import { createResultSaver } from "../request/save-result.ts";
import { createBudget } from "../budget/budget.ts";
import { standaloneSessions } from "./live-sessions.ts";
import type { NamedAgent } from "../resources/named-agent.ts";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import { type ExtensionsParams, hasExtensions } from "../extensions/has-extensions.ts";
import type { ExtensionProblem } from "../extensions/extension.ts";
import { ExtensionSlot, type SessionStart } from "../extensions/session/extension-slot.ts";
import type { OpenExtensionsParts } from "../extensions/open-extensions.ts";
import { getReadablePath } from "../resources/skills.ts";
import { getRealPath } from "../settings/locate.ts";
import { withProviderHooks } from "../request/provider-hooks.ts";
import { createRequests, withRunOptions } from "../request/request.ts";
import { describeSandbox, isSandboxMissing } from "../sandbox/describe-sandbox.ts";
import type { SandboxState } from "../sandbox/state.ts";
import { defaultAgentDir } from "../agent-dir.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { SessionManager } from "../session/session-manager.ts";

/** Resolves when the session can be prompted. Dispose of it when it is no longer needed. */
export async function createAgentSession(params: AgentSessionParams = {}): Promise<AgentSession> {
  const { clock = systemClock, ids = systemIds, sessions = standaloneSessions } = params;
  const cwd = resolve(params.cwd ?? process.cwd());
  const agentDir = resolve(params.agentDir ?? defaultAgentDir());
  const owned = new Owned();
  const place: SessionBase = { cwd, agentDir, clock, ids };
  try {
    const base = await openServices(params, place, owned);
    const { settings, auth, registry } = base;
    const sessionManager = await openLog(params, { ...place, settings });
    // A log that was passed in belongs to the caller until there is a session that closes it.
    if (sessionManager !== params.sessionManager) owned.add(() => sessionManager.close());
    const resources = await openResources(params, place, { settings, log: sessionManager });
    const services = { ...base, resources };
    const grants = new Grants();
    const getPolicy = () => getSessionPolicy(settings, params.policyProfile, sessionManager.policyProfile);
    const reportExtension = ({ extension, message }: ExtensionProblem) =>
      session.notify("extension", `${extension}: ${message}`);
    const extensions = new ExtensionSlot((start) =>
      loadExtensions(params.extensions, {
        ...place,
        settings,
        registry,
        start,
        judging: { getPolicy, getJudgeParts: () => session.judgeParts, getPathRules: () => rules },
        report: reportExtension,
        log: (extension, level, message) => params.debugLog?.log("extension", { extension, level, message }),
        addResources: async (paths) => resources.addPaths?.(paths),
      }),
    );
    await extensions.open(params.extensions?.start ?? { reason: "startup" });
    owned.add(() => extensions.current?.abandon());
    const extensionProblems = extensions.current?.problems ?? [];
    const { modelNotice, ...model } = await chooseModel(params, {
      registry,
      settings,
      sessionManager,
      extensionProblems,
    });
    const keys = createUsedKeys({
      auth,
      registry,
      provider: model.model?.provider,
      listGiven: () => secrets.listGiven(),
    });
    const secrets = createSecretBroker({
      policy: () => getPolicy().secretBroker,
      isOwnKey: (name, value) => keys.createIsSecret()(name, value),
      onGive: (value) => params.debugLog?.addSecret(value),
    });
    sessionManager.redactLines(keys.redactLine);
    const sessionFile = sessionManager.getSessionFile();
    const wanted = pathRules(params, { cwd, agentDir, resources, settings, sessionFile });
    const sandboxSettings = getSandboxSettings(settings, params.sandbox);
    const ground = await createGround({
      cwd,
      rules: wanted,
      grants,
      settings,
      sandbox: sandboxSettings,
      createIsSecret: keys.createIsSecret,
      secrets,
      getSessionEnv: () => getSessionEnv(session),
      clock,
      ids,
    });
    const { files, tools, rules, createCallContext, sandbox, shell } = ground;
    const parent = params.parentSessionId === undefined ? undefined : sessions.get(params.parentSessionId);
    const taint = new SessionTaint({ rules, cwd, log: sessionManager, parent: parent?.taint });
    owned.add(async () => taint.close());
    await taint.join();
    if (sandbox) owned.add(() => sandbox.close());
    owned.add(() => tools.dispose());
    owned.add(resources.subscribe(() => allowSkills(resources, grants)));
    const results = resultsDirectory(sessionFile);
    owned.add(() => results.remove());
    const isMissing = sandbox !== undefined && isSandboxMissing(cwd);
    const report = new PolicyReport({
      cwd,
      agentDir,
      getPolicy,
      getProfile: () => params.policyProfile ?? settings.get().policy.profile,
      mode: sandboxSettings.mode,
      trySandbox: sandbox && (() => sandbox.getState()),
      isSandboxMissing: isMissing,
    });
    const saveResult = createResultSaver({ directory: results.get, ids });
    let isTold = false;
    /** Whether commands run in the sandbox; if not, the user is told once why, and what helps. */
    const tellState = (state: SandboxState): boolean => {
      if (state.kind === "unavailable" && !isTold) {
        isTold = true;
        session.notify("sandbox", `Commands run without a sandbox. ${state.reason} ${state.fix}`);
      }
      return state.kind === "works";
    };
    const getBuiltIn = (name: string) => builtInTool(tools, name);
    const recording = new SerialQueue();
    const session: AgentSession = new AgentSession({
      cwd,
      sessionManager,
      services,
      model,
      modelPatterns: params.models,
      tools: {
        base: params.tools?.flatMap((tool) => (typeof tool === "string" ? builtInTools(tools, tool) : tool)),
        defaults: { text: tools.defaults, hashline: tools.hashlineDefaults },
        custom: params.customTools ?? [],
        getExtensionTools: (names) => extensions.current?.getTools(names) ?? [],
        getBuiltIn,
        builtIn: tools.byName,
        createCallContext,
        sandbox,
        commands: describeSandbox(sandboxSettings, isMissing),
        binding: params.binding,
        allowed: params.allowedTools,
        excluded: params.excludedTools ?? [],
        scopes: params.scopes,
        execution: params.toolExecution,
        systemPrompt: params.systemPrompt,
        appendSystemPrompt: params.appendSystemPrompt ?? [],
      },
      policy: {
        decide:
          params.decide ??
          createPolicy({
            rules,
            getPolicy,
            secrets,
            context: { cwd, home: rules.home, workspace: cwd },
            isSandboxed: async () => tellState(await report.trySandbox()),
            getNetwork: () => sandboxSettings.network,
            getTaint: () => taint.get(),
            shell,
          }),
        ask: params.ask,
        audit: taint.watch(
          params.audit ??
            createAudit({
              sessionId: sessionManager.id,
              append: (type, data) => sessionManager.appendCustomEntry(type, data),
              // One after the other: calls at the same time would wait for each other's lease.
              record: (fact) =>
                recording.add(async () =>
                  (await import("../policy/ledger.ts")).appendToLedger(fact, { agentDir, clock, ids }),
                ),
            }),
        ),
        grants,
        remembered: createRememberedRules({ agentDir, cwd, ids }),
        files: files.free,
        report,
        taint,
      },
      extensions,
      expandPort: createExpandPort({
        loader: resources,
        cwd,
        agentDir,
        files: files.mentions,
        seen: tools.seen,
        offersSkills: () => settings.get().enableSkillCommands,
      }),
      request: withRunOptions(
        withProviderHooks(
          params.streamFn ??
            createRequests({
              auth,
              registry,
              clock,
              streamFn: streamSimple,
              ...(params.debugLog && { onKey: (key) => params.debugLog?.addSecret(key) }),
            }),
          () => extensions.current,
        ),
        { settings: () => settings.get(), sessionId: sessionManager.id, clock },
      ),
      keep: (text) => saveResult(keys.redact(text)),
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
        ...describeProblems(services),
        ...(modelNotice === undefined ? [] : [{ code: "model", message: modelNotice }]),
      ],
      trace: {
        tracer: await findTracer({ enabled: settings.get().otel.enabled, redact: keys.redact }),
        agentName: resources.resources.agent?.name,
      },
      clock,
      ids,
      logTool: params.debugLog && ((tool, level, message) => params.debugLog?.log("tool", { tool, level, message })),
      hasJobs: () => tools.jobs.list().some(({ ended }) => !ended),
      reloadGateway: params.reloadGateway,
      reopen: (other, start) => createAgentSession(sameWith(params, other, start)),
      close: () => owned.close().finally(() => sessionManager.close()),
    });
    services.authNotices.report = ({ message }) => session.notify("auth", message);
    const toolNames = [...Object.values(tools.byName), ...session.tools, ...session.droppedTools].map(
      ({ name }) => name,
    );
    const names = listNamedTools(settings, resources.resources.agent);
    for (const [source, named] of Object.entries(names)) {
      for (const problem of findUnknownTools(named, toolNames)) session.notify("settings", `${source}: ${problem}`);
    }
    if (params.onEvent) session.onEvent(params.onEvent);
    if (params.debugLog) {
      for (const secret of await knownSecrets(services)) params.debugLog.addSecret(secret);
      logEvents(session, params.debugLog);
    }
    await session.open().catch(async (error: unknown) => {
      await session.dispose();
      throw error;
    });
    return session;
  } catch (error) {
    await owned.close();
    throw error;
  }
}

/** Late: most sessions have no extensions, and their code is not loaded then. */
async function loadExtensions(params: ExtensionsParams = {}, parts: OpenExtensionsParts) {
  if (!hasExtensions(params, parts)) return undefined;
  const { openExtensions } = await import("../extensions/open-extensions.ts");
  return await openExtensions(params, parts);
}

/** Skills that appear later may be read without a question too. */
function allowSkills({ resources }: ResourceLoader, grants: Grants): void {
  for (const path of resources.skills.map(getReadablePath)) {
    grants.grant({ capability: "read", target: { kind: "path", path: getRealPath(path) } }, "session");
  }
}

/** The tools that files of the user name. A name that does not exist is told, because it leaves a tool enabled, or out. */
function listNamedTools(settings: SettingsManager, agent: NamedAgent | undefined): Record<string, readonly string[]> {
  const { tools, defaultTools = [] } = settings.get();
  const { only = [], tools: choices = [] } = agent?.tools ?? {};
  return {
    "The setting tools.allowed": tools.allowed ?? [],
    "The setting tools.excluded": tools.excluded,
    "The setting defaultTools": defaultTools.map((entry) => entry.replace(/^[+-]/, "")),
    [join(agent?.directory ?? "", "tools.yaml")]: [...only, ...choices.map(({ name }) => name)],
  };
}

/** A branch has its own log, which names its agent, and nothing of its own besides. */
function sameWith(
  { sessionId: _id, agentName: _agent, abortSignal, extensions, ...params }: AgentSessionParams,
  sessionManager: SessionManager,
  start: SessionStart,
) {
  const own = extensions && { extensions: { ...extensions, start } };
  return { ...params, sessionManager, ...own, ...(abortSignal && { abortSignal }) };
}

/** What each delta adds is in the message that they end in. */
function logEvents(session: AgentSession, log: DebugLog): void {
  session.onSessionEvent(({ type, ...fields }) => {
    if (!type.endsWith("_delta") && type !== "tool_execution_update") log.log(type, fields);
  });
}

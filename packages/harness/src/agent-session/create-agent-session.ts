/** Puts a session together. Everything is optional; what is not given is what a person at a terminal would expect. */
import { resolve } from "node:path";
import { streamSimple, systemClock, systemIds } from "@tau/ai";
import { AgentSession } from "./agent-session.ts";
import { builtInTool, createGround, pathRules, resultsDirectory } from "./workspace.ts";
import { openLog, spentBefore } from "./open-log.ts";
import { chooseModel } from "./choose-model.ts";
import { Owned } from "./owned.ts";
import type { AgentSessionParams } from "./params.ts";
import { knownSecrets, openServices, type SessionBase, describeProblems } from "./services.ts";
import type { DebugLog } from "../observe/debug-log.ts";
import { findTracer } from "../observe/opentelemetry.ts";
import { createAudit } from "../policy/audit.ts";
import { createDefaultPolicy } from "../policy/default-policy.ts";
import { Grants } from "../policy/grants.ts";
import { createExpandPort } from "../prompt/expand-port.ts";
import { createKeeper } from "../request/bound-keep.ts";
import { createBudget } from "../budget/budget.ts";
import { liveSession } from "./live-sessions.ts";
import { createRequests } from "../request/request.ts";
import { defaultAgentDir } from "../agent-dir.ts";
import type { SessionManager } from "../session/session-manager.ts";

/** Resolves when the session can be prompted. Dispose of it when it is no longer needed. */
export async function createAgentSession(params: AgentSessionParams = {}): Promise<AgentSession> {
  const { clock = systemClock, ids = systemIds, agentName } = params;
  const cwd = resolve(params.cwd ?? process.cwd());
  const agentDir = resolve(params.agentDir ?? defaultAgentDir());
  const owned = new Owned();
  const place: SessionBase = { cwd, agentDir, clock, ids };
  try {
    const services = await openServices(params, place, owned);
    const { settings, auth, registry, resources } = services;
    const sessionManager = await openLog(params, { ...place, settings });
    // A log that was given stays the caller's until there is a session that closes it.
    if (sessionManager !== params.sessionManager) owned.add(() => sessionManager.close());
    const grants = new Grants();
    const wanted = pathRules(params, { cwd, agentDir, resources, sessionFile: sessionManager.getSessionFile() });
    const ground = await createGround({ cwd, rules: wanted, grants, settings, clock, ids });
    const { files, tools, rules, createCallContext } = ground;
    owned.add(() => tools.dispose());
    const results = resultsDirectory(sessionManager.getSessionFile());
    owned.add(() => results.remove());
    const parent = params.parentSessionId === undefined ? undefined : liveSession(params.parentSessionId);
    const { modelNotice, ...choice } = await chooseModel(params, { registry, settings, sessionManager });
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
      files: files.free,
      builtInTools: tools.byName,
      createCallContext,
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
      problems: [
        ...describeProblems(services),
        ...(modelNotice === undefined ? [] : [{ code: "model", message: modelNotice }]),
      ],
      clock,
      ids,
      reopen: (other) => createAgentSession(sameWith(params, other)),
      close: () => owned.close().finally(() => sessionManager.close()),
    });
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

/** A branch has its own log and nothing of its own besides. */
function sameWith({ sessionId: _id, abortSignal, ...params }: AgentSessionParams, sessionManager: SessionManager) {
  return { ...params, sessionManager, ...(abortSignal && { abortSignal }) };
}

/** What each delta adds is in the message that they end in. */
function logEvents(session: AgentSession, log: DebugLog): void {
  session.onSessionEvent(({ type, ...fields }) => {
    if (!type.endsWith("_delta") && type !== "tool_execution_update") log.log(type, fields);
  });
}

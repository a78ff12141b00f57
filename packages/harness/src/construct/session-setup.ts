/** Opens what the parts of a session are made with. */
import { resolve } from "node:path";
import { type Closers, getErrorMessage } from "@tau/ai/internal";
import { systemClock, systemIds } from "@tau/ai";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import type { ExtensionPolicy, PathRules } from "@tau/policy";
import { Grants, Permissions, type WorkspaceRoots } from "@tau/policy/internal";
import { getSandboxSettings, getSessionPolicy } from "@tau/config/trust";
import type { SettingsManager } from "@tau/config/settings";
import type { SandboxSettings } from "@tau/sandbox";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { type LiveSession, type LiveSessions, standaloneSessions } from "../agent-session/live-sessions.ts";
import { Notices } from "../agent-session/notices.ts";
import { Publisher } from "../run/publisher.ts";
import { openLog } from "./open-log.ts";
import type { AgentSessionParams } from "./params.ts";
import { openWorkspaceRoots } from "./path-rules.ts";
import { openSources, type SessionSources } from "./session-sources.ts";
import { canSandbox } from "./tenant.ts";
import { openResources, openServices, type SessionBase } from "./open-services.ts";
import { type PolicyLimits, resolvePolicyLimits } from "../agent-session/session-agent.ts";
import type { Services } from "../agent-session/services.ts";

export interface SessionSetup extends SessionBase {
  params: AgentSessionParams;
  /** Closed with the session, or when it cannot be created. */
  closers: Closers;
  services: Services;
  sessionManager: SessionManager;
  sessions: LiveSessions;
  sandboxSettings: SandboxSettings;
  /** Whether programs can be started. A tenant starts none without a sandbox. */
  canStartPrograms: boolean;
  parent: LiveSession | undefined;
  grants: Grants;
  roots: WorkspaceRoots;
  /** The rules of `roots`. */
  rules: Required<PathRules>;
  /** Called for each decision: settings change. */
  getPolicy: () => ExtensionPolicy;
  /** Called for each decision: an agent changes. */
  getPolicyLimits: () => PolicyLimits;
  permissions: Permissions;
  /** Publishes the events of the session. */
  publisher: Publisher;
  /** Notices for the user, also those from before there is a session. */
  notices: Notices;
  /** The session is made last of its parts. They call this when something happens in it, and not before. */
  getSession: () => AgentSession;
}

interface SetupParts extends Pick<SessionSetup, "closers" | "getSession"> {
  /** The sources of the session that starts this one. */
  inherited: SessionSources | undefined;
}

export async function openSetup(
  params: AgentSessionParams,
  { closers, getSession, inherited }: SetupParts,
): Promise<SessionSetup> {
  const { clock = systemClock, ids = systemIds, parentSessionId } = params;
  const cwd = resolve(params.cwd ?? process.cwd());
  await mustBeDirectory(cwd);
  const projectDirectory = resolve(cwd, params.projectDirectory ?? "");
  const sources = inherited ?? (await openSources(params, closers));
  const { tenant } = sources;
  const sessions = params.sessions ?? tenant?.sessions ?? standaloneSessions;
  const base: SessionBase = { cwd, projectDirectory, ...sources, clock, ids };
  const openedServices = await openServices(params, base, closers);
  const { settings } = openedServices;
  const sessionManager = await openLog(params, { ...base, settings }, closers);
  const resources = await openResources(params, base, { settings, log: sessionManager });
  const services = { ...openedServices, resources };
  const publisher = new Publisher((message) => warnOfListener(sessionManager.id, message));
  const parent = parentSessionId === undefined ? undefined : sessions.get(parentSessionId);
  const getPolicyLimits = () =>
    resolvePolicyLimits({
      profile: params.policyProfile,
      logged: sessionManager.policyProfile,
      agent: resources.resources.agent,
      parent: parent?.getPolicyLimits(),
    });
  const sandboxSettings = resolveSandbox(settings, params, tenant);
  const opened = {
    ...base,
    sandboxSettings,
    canStartPrograms: tenant === undefined || (await canSandbox(cwd, sandboxSettings)),
    params,
    closers,
    services,
    sessionManager,
    sessions,
    parent,
    grants: new Grants(),
    getPolicyLimits,
    getPolicy: () => {
      const { profile, restrictions } = getPolicyLimits();
      return getSessionPolicy(settings, profile, restrictions);
    },
    permissions: new Permissions({
      getOwn: () => settings.get().policy.permissionMode,
      getProjectLimit: () => settings.getRestrictions().policy?.permissionMode,
      getParent: () => parent?.permissions,
      chosen: params.permissionMode,
      plans: params.planMode ?? false,
      logged: await sessionManager.getPermissionMode(),
      loggedWriting: await sessionManager.getWritingMode(),
    }),
    publisher,
    notices: new Notices(publisher),
    getSession,
  };
  const roots = await openWorkspaceRoots(opened);
  return { ...opened, roots, rules: roots.rules };
}

/** A tenant's commands change nothing outside its directory, whatever the settings allow. */
function resolveSandbox(
  settings: SettingsManager,
  params: AgentSessionParams,
  tenant: SessionSources["tenant"],
): SandboxSettings {
  const sandbox = getSandboxSettings(settings, params.sandbox);
  return tenant ? { ...sandbox, mode: "required", allowedPaths: [] } : sandbox;
}

function warnOfListener(sessionId: string, message: string): void {
  // Not to the listeners: one that always fails would hear of it without end.
  process.emitWarning(`A listener of the session ${sessionId} failed: ${message}`, "TauWarning");
}

/** A directory that is not there would be noticed only by the first tool that uses it. */
async function mustBeDirectory(cwd: string): Promise<void> {
  const stats = await lookAt(nodeFileSystem, cwd).catch((error: unknown) => {
    const message = `The working directory ${cwd} cannot be used: ${getErrorMessage(error)}.`;
    throw new HarnessError("invalid_input", message, { cause: error });
  });
  if (stats?.isDirectory()) return;
  const why = stats ? "is not a directory" : "does not exist";
  throw new HarnessError("invalid_input", `The working directory ${cwd} ${why}.`);
}

/** Creates what decides about the calls of a session, and records the decisions. */
import { SerialQueue } from "@tau/ai/internal";
import {
  createAudit,
  createPolicy,
  PolicyReport,
  createRememberedRules,
  type SecretBroker,
  withPlanMode,
} from "@tau/policy/internal";
import { type AnswerStore, type Audit, createAnswerFile, createStoredAnswers } from "@tau/policy";
import { SessionTaint } from "../session/session-taint.ts";
import { describeSandbox, findRealPath } from "@tau/sandbox/internal";
import type { SandboxNetwork, SandboxSettings } from "@tau/sandbox";
import type { PolicyParts } from "../agent-session/call-judge.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { Workspace } from "./workspace.ts";

export async function createPolicyParts(
  setup: SessionSetup,
  { secrets, workspace }: { secrets: SecretBroker; workspace: Workspace },
): Promise<PolicyParts> {
  const {
    cwd,
    projectDirectory,
    agentDir,
    ids,
    params,
    services,
    sessionManager,
    parent,
    grants,
    roots,
    rules,
    getPolicy,
    getPolicyLimits,
    permissions,
    closers,
  } = setup;
  const { sandboxSettings, sandbox, isSandboxMissing, files } = workspace;
  const { settings } = services;
  const permissionsDirectory = params.permissionsDirectory ?? projectDirectory;
  const taint = new SessionTaint({ rules, cwd, log: sessionManager, parent: parent?.taint });
  closers.add(() => taint.close());
  await taint.join();
  const report = new PolicyReport({
    cwd: permissionsDirectory,
    agentDir,
    getPolicy,
    permissions,
    getProfile: () => getPolicyLimits().profile ?? settings.get().policy.profile,
    mode: sandboxSettings.mode,
    trySandbox: sandbox && (() => sandbox.getState()),
    isSandboxMissing,
  });
  const isSandboxed = createSandboxCheck(report, sandboxSettings, setup);
  const createOwnPolicy = () =>
    createPolicy({
      rules,
      getPolicy,
      getMode: () => permissions.writingMode,
      secrets,
      context: { cwd, home: rules.home, workspace: cwd, named: rules.named, agentDir: rules.agentDir },
      isSandboxed,
      getNetwork: () => widenNetwork(sandboxSettings.network, sandbox?.granted.hosts ?? []),
      getGrantedPaths: () => [
        ...sandboxSettings.allowedPaths.map((path) => findRealPath(path) ?? path),
        ...roots.added,
        ...(sandbox?.granted.paths ?? []),
      ],
      getTaint: () => taint.get(),
      shell: workspace.shell,
    });
  const { decide: given } = params;
  const decide = typeof given === "function" ? given : (given?.extend(createOwnPolicy()) ?? createOwnPolicy());
  const audit = taint.watch(params.audit ?? createSessionAudit(setup));
  // Other tenants may have the same storage: what one of them may do for good is in its own directory, or ends with it.
  const storage = setup.tenant ? undefined : sessionManager.customStorage;
  const remembered = createRememberedRules({ agentDir, cwd: permissionsDirectory, ids, ...(storage && { storage }) });
  return {
    decide: withPlanMode(decide, { isPlanning: () => permissions.isPlanning, isSandboxed }),
    ask: params.ask,
    answers: findAnswerStore(setup),
    audit,
    grants,
    remembered,
    files: files.free,
    home: rules.home,
    getMode: () => permissions.mode,
    listHosts: () => remembered.listHosts(),
    report,
    taint,
  };
}

/** With the session's log, so that whoever opens it finds the answers too. Undefined if nothing of this session outlives it. */
function findAnswerStore({ sessionManager, readsUser, agentDir, clock }: SessionSetup): AnswerStore | undefined {
  const { customStorage: storage } = sessionManager;
  if (storage) return createStoredAnswers({ storage, clock });
  return readsUser ? createAnswerFile({ directory: agentDir, clock }) : undefined;
}

/** The network of the settings with what a person allowed for the rest of the session. */
function widenNetwork(network: SandboxNetwork, hosts: readonly string[]): SandboxNetwork {
  if (network === "all" || hosts.length === 0) return network;
  return { allow: [...(network === "none" ? [] : network.allow), ...hosts] };
}

/** Whether commands run in the sandbox. If they cannot, one notice says why, and what helps. */
function createSandboxCheck(
  report: PolicyReport,
  settings: SandboxSettings,
  { notices }: SessionSetup,
): () => Promise<boolean> {
  let isTold = false;
  return async () => {
    const state = await report.trySandbox();
    if (state.kind === "unavailable" && !isTold) {
      isTold = true;
      notices.add("sandbox", `${describeSandbox(settings, true)} ${state.reason} ${state.fix}`);
    }
    return state.kind === "works";
  };
}

function createSessionAudit({ sessionManager: log, agentDir, clock, ids }: SessionSetup): Audit {
  const recording = new SerialQueue();
  const { customStorage: storage } = log;
  return createAudit({
    sessionId: log.id,
    append: (type, data) => log.appendCustomEntry(type, data),
    // One after the other: calls at the same time would wait for each other's lease.
    record: (fact) =>
      recording.add(async () => {
        const { appendToLedger } = await import("@tau/policy/internal");
        return await appendToLedger(fact, { agentDir, clock, ids, ...(storage && { storage }) });
      }),
  });
}

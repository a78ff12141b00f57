/** Builds the parts that hold the state of a session. None of them needs one that is built after it. */
import { ToolLifecycles, toToolBinding } from "@tau/extensions/internal";
import { HarnessError } from "@tau/protocol";
import type { ToolLogLevel, ToolSession } from "@tau/tools";
import { PrefixTracker } from "../request/prefix-tracker.ts";
import { Inbox } from "../run/inbox.ts";
import type { Publisher } from "../run/publisher.ts";
import { Transcript } from "../run/transcript.ts";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import { UsedModel } from "../run/used-model.ts";
import { readOnlyError } from "../session/read-only.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { type CallJudge, createCallJudge } from "./call-judge.ts";
import { CurrentRun } from "./current-run.ts";
import { JobReports } from "./job-reports.ts";
import { ModelChoice } from "./model-choice.ts";
import { resolveLater } from "./approvals.ts";
import type { Notices } from "./notices.ts";
import { OpenQuestions } from "./open-questions.ts";
import { PermissionModes } from "./permission-mode.ts";
import { RunChoices } from "./run-choices.ts";
import { RunRole } from "./run-role.ts";
import { RunScopes } from "./run-scopes.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionSettings } from "./session-settings.ts";
import { TreeMoves } from "./tree-moves.ts";

export interface SessionCore {
  /** Aborts when the session ends. */
  readonly lifetime: AbortController;
  readonly publisher: Publisher;
  readonly notices: Notices;
  readonly settings: SessionSettings;
  readonly permissionModes: PermissionModes;
  readonly model: ModelChoice;
  readonly runRole: RunRole;
  readonly runChoices: RunChoices;
  /** Says what requests use: the model, or another one in its place. */
  readonly used: UsedModel;
  readonly transcript: Transcript;
  readonly inbox: Inbox;
  readonly jobs: JobReports;
  readonly scopes: RunScopes;
  readonly judge: CallJudge;
  readonly questions: OpenQuestions;
  readonly lifecycles: ToolLifecycles;
  /** Passed to tools with each call. */
  readonly toolSession: ToolSession;
  readonly moves: TreeMoves;
  readonly currentRun: CurrentRun;
  /** The last request, for the next to be compared with. */
  readonly sent: PrefixTracker;
  /** Throws `closed` when the session has ended. */
  readonly mustBeOpen: () => void;
  /** Throws when the session has ended, has no model, or cannot be written. */
  readonly mustBeUsable: () => void;
}

export function createSessionCore(parts: SessionParts): SessionCore {
  const { sessionManager: session, services, tools, extensions, policy, permissions, cwd, parent, clock, ids } = parts;
  const { publisher, notices } = parts;
  const notice = (code: string, message: string) => notices.add(code, message);
  const settings = new SessionSettings(services.settings, tools.execution);
  const scopes = new RunScopes();
  const model = new ModelChoice({
    first: parts.model,
    session,
    registry: services.registry,
    notice,
    getExtensions: () => extensions.current,
  });
  const used = new UsedModel({
    selected: model,
    registry: services.registry,
    getExtensions: () => extensions.current,
    getChains: () => settings.get().retry.fallbackChains ?? services.registry.modelsYml.fallbackChains,
    getPatterns: () => parts.modelPatterns ?? settings.get().enabledModels,
    availability: parts.availability,
    keys: parts.keys,
    session,
    publisher,
    noticeOnce: (code, message) => notices.addNew(code, message),
    clock,
  });
  model.onChange((selected, previous) => used.takeSelection(selected, previous));
  const transcript = new Transcript();
  const toolSession: ToolSession = { id: session.id, cwd };
  const later = resolveLater(policy.ask, {
    store: policy.answers,
    // The run of a child is a call of its parent, which cannot wait.
    isChosen: () => parent === undefined && settings.get().approvals.later,
    sessionId: session.id,
  });
  const questions = new OpenQuestions({ session, later, publisher, transcript, clock });
  const lifetime = new AbortController();
  const mustBeOpen = () => {
    if (lifetime.signal.aborted) throw new HarnessError("closed", `The session ${session.id} is closed.`);
  };
  return {
    lifetime,
    publisher,
    notices,
    settings,
    permissionModes: new PermissionModes({ permissions, report: policy.report, session, publisher }),
    model,
    used,
    runRole: new RunRole({
      cwd,
      model,
      // A child has the model that its parent gave it.
      getRules: () => (parent ? [] : services.registry.modelsYml.pathRoles),
      isFile: async (path) => (await lookAt(nodeFileSystem, path).catch(() => undefined))?.isFile() ?? false,
      notice,
    }),
    runChoices: new RunChoices({ toolChoice: parts.toolChoice }),
    transcript,
    questions,
    inbox: new Inbox({
      session,
      ids,
      now: () => clock.now(),
      mode: (kind) => settings.get()[kind === "steer" ? "steeringMode" : "followUpMode"],
      onChange: (queue) => publisher.fact({ type: "queue_changed", ...queue }),
    }),
    jobs: new JobReports({
      jobs: parts.jobs,
      clock,
      notice,
      publish: (running) => publisher.fact({ type: "jobs_changed", running }),
    }),
    scopes,
    judge: createCallJudge({
      policy,
      sessionId: session.id,
      parent,
      cwd,
      ids,
      clock,
      publisher,
      scopes,
      questions,
      timeoutMs: () => settings.get().approvals.timeoutMs,
    }),
    lifecycles: new ToolLifecycles({
      clock,
      signal: lifetime.signal,
      notice,
      log: (tool, level, message) => logTool(parts, notices, { tool, level, message }),
      binding: tools.binding && toToolBinding(tools.binding),
      session: toolSession,
    }),
    moves: new TreeMoves({ session, publisher }),
    toolSession,
    currentRun: new CurrentRun(),
    sent: new PrefixTracker(),
    mustBeOpen,
    mustBeUsable() {
      mustBeOpen();
      model.mustHaveModel();
      const { readOnly } = session;
      if (readOnly) throw readOnlyError(session.getSessionFile() ?? session.id, readOnly);
    },
  };
}

/** Reads what the log says now, after it was opened or its leaf moved. */
export async function readLog({ model, used, transcript }: SessionCore, session: SessionManager): Promise<void> {
  used.forgetState();
  model.takeLogged(await transcript.load(session));
}

interface ToolLine {
  tool: string;
  level: ToolLogLevel;
  message: string;
}

function logTool(parts: SessionParts, notices: Notices, { tool, level, message }: ToolLine): void {
  parts.logTool?.(tool, level, message);
  if (level === "warn" || level === "error") notices.add("tool", `${tool}: ${message}`);
}

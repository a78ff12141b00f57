/** Builds the parts of a session that act: its tools, its runs, and the ways in. Each gets what it needs by name. */
import { getErrorMessage } from "@tau/ai/internal";
import { adaptTool, type GivenTool, type HarnessActions } from "@tau/extensions/internal";
import { HarnessError } from "@tau/protocol";
import { RunMessages } from "../extension-port/run-messages.ts";
import type { RunHost } from "../run/run-host.ts";
import { AddedDirectories } from "./added-directories.ts";
import { Activity, type ActivityParts } from "./activity.ts";
import { type ChangeHandlers, createChangeHandlers } from "./change-handlers.ts";
import { createRunHost } from "./create-run-host.ts";
import { findSummaryModel } from "./summary-model.ts";
import { createHarnessActions } from "./harness-actions.ts";
import { ExtensionMentions } from "./extension-mentions.ts";
import { createLiveSession, type LiveSession } from "./live-sessions.ts";
import { NamedFiles } from "./named-files.ts";
import { Navigation } from "./navigation.ts";
import { Prompts, type PromptsParts } from "./prompts.ts";
import { NearbyInstructions } from "../run/nearby-instructions.ts";
import { describeResourceProblems } from "./services.ts";
import { readLog, type SessionCore } from "./session-core.ts";
import type { SessionParts } from "./session-parts.ts";
import { ShownTools } from "./shown-tools.ts";
import { UserBash } from "./user-bash.ts";
import { createToolSandbox } from "./retry-outside.ts";

export interface SessionWork {
  readonly tools: ShownTools;
  /** Shared by the session and its runs. */
  readonly host: RunHost;
  readonly navigation: Navigation;
  readonly activity: Activity;
  readonly namedFiles: NamedFiles;
  readonly mentions: ExtensionMentions;
  readonly prompts: Prompts;
  readonly bash: UserBash;
  readonly directories: AddedDirectories;
  /** The session as its children see it. */
  readonly live: LiveSession;
  readonly changes: ChangeHandlers;
}

/** Actions that the session itself takes for its parts. */
interface SessionCallbacks {
  reload: HarnessActions["reload"];
  admitRun: ActivityParts["admitRun"];
  abort: PromptsParts["abort"];
}

export function createSessionWork(parts: SessionParts, core: SessionCore, callbacks: SessionCallbacks): SessionWork {
  const tools = createShownTools(parts, core, callbacks.reload);
  const host = createSessionRunHost(parts, core, tools);
  const navigation = createNavigation(parts, core, host);
  const activity = createActivity(parts, core, { tools, host, navigation, admitRun: callbacks.admitRun });
  const namedFiles = createNamedFiles(parts, core, tools);
  const { sessionManager: session, extensions, features, policy, cwd, clock } = parts;
  const { inbox, notices, scopes, transcript, mustBeUsable } = core;
  const { resources } = parts.services;
  const getExtensions = () => extensions.current;
  const mentions = new ExtensionMentions({
    getExtensions,
    features,
    namedFiles,
    addTaint: (detail) => policy.taint.add({ source: "tool", detail }),
    clock,
  });
  return {
    tools,
    host,
    navigation,
    activity,
    namedFiles,
    mentions,
    prompts: new Prompts({
      getExtensions,
      features,
      expandPort: parts.expandPort,
      namedFiles,
      mentions,
      createMentionReader: parts.createMentionReader,
      activity,
      inbox,
      notices,
      scopes,
      runRole: core.runRole,
      addTaint: (detail) => policy.taint.add({ source: "message", detail }),
      mustBeUsable,
      abort: callbacks.abort,
    }),
    bash: new UserBash({
      getTool: () => adaptTool(getUserBash(parts)),
      getExtensions,
      cwd,
      session,
      transcript,
      activity,
      notices,
      clock,
      readKeys: () => parts.services.auth.list(),
    }),
    directories: new AddedDirectories({
      cwd,
      roots: parts.roots,
      sandbox: parts.tools.sandbox,
      isTenant: parts.tools.isTenant,
      isChild: parts.parent !== undefined,
      isAttended: () => core.judge.parts.ask !== undefined,
      isTrusted: parts.isTrustedDirectory,
      readContextFile: resources.readContextFile?.bind(resources),
      session,
      transcript,
      activity,
      notices,
      clock,
    }),
    live: createLiveSession({
      sessionManager: session,
      parent: parts.parent,
      budget: parts.budget,
      taint: parts.policy.taint,
      permissions: parts.permissions,
      getPolicyLimits: parts.getPolicyLimits,
      beforeFilesChange: host.beforeFilesChange,
      currentRun: core.currentRun,
      lifetime: core.lifetime.signal,
    }),
    changes: createChangeHandlers({
      services: parts.services,
      host,
      model: core.model,
      tools,
      activity,
      notices,
      getExtensions,
    }),
  };
}

/** Follows the log, the resources and the background jobs. Returns how to stop. */
export function followChanges(parts: SessionParts, core: SessionCore, work: SessionWork): (() => void)[] {
  const { sessionManager: session, services } = parts;
  const { model, notices, jobs, lifetime, questions } = core;
  const { activity, changes, tools } = work;
  core.permissionModes.onChange(async (mode, previousMode) => {
    // The tools of a request depend on it: nothing else changes them.
    tools.rebuild();
    await parts.features.loadForMode(true);
    const { current } = parts.extensions;
    if (current?.isStarted) await current.emit({ type: "permission_mode_select", mode, previousMode });
  });
  /** Begins a run about a job that has ended, unless one is in progress: that one takes the report. */
  const wake = () => {
    // A call that waits for an answer must not lose it because a job has ended.
    if (activity.isBusy || questions.isWaiting || lifetime.signal.aborted || !model.model) return;
    activity.begin(jobs.take()).catch((error: unknown) => notices.add("run_failed", getErrorMessage(error)));
  };
  return [
    core.publisher.onSessionEvent((event) => {
      const { current } = parts.extensions;
      const facts = { reason: "ui_prompt", kind: "approval" } as const;
      if (event.type === "approval_requested")
        void current?.notify({ type: "ui_prompt_start", ...facts, title: event.approval.summary });
      if (event.type === "approval_resolved") void current?.notify({ type: "ui_prompt_end", ...facts });
    }),
    jobs.follow(wake),
    session.onAppend(changes.onAppend),
    session.onAppend(({ type }) => type === "compaction" && jobs.reportRunning()),
    services.resources.subscribe(changes.onResources),
  ];
}

function createShownTools(parts: SessionParts, core: SessionCore, reload: HarnessActions["reload"]): ShownTools {
  const { cwd, sessionManager, services, tools: sources, policy, clock } = parts;
  const { model, lifecycles, judge, moves, currentRun, lifetime } = core;
  const { sandbox, isTenant } = sources;
  return new ShownTools({
    cwd,
    sources,
    model,
    settings: services.settings,
    resources: services.resources,
    clock,
    actions: createHarnessActions({ sessionManager, moves, currentRun, reload }),
    lifecycles,
    sandbox:
      sandbox && createToolSandbox(sandbox, { getParts: () => judge.parts, listHosts: policy.listHosts, isTenant }),
    signal: lifetime.signal,
  });
}

function createSessionRunHost(parts: SessionParts, core: SessionCore, tools: ShownTools): RunHost {
  const {
    sessionManager: session,
    extensions,
    request,
    waitsForBusyProvider,
    keep,
    keepBytes,
    restoreResults,
    trace,
    clock,
    ids,
  } = parts;
  const { transcript, inbox, publisher, used, settings, judge, questions, jobs, sent, notices } = core;
  const { resources } = parts.services;
  const instructions = new NearbyInstructions({
    cwd: parts.cwd,
    listAdded: () => parts.roots.added,
    isTrusted: parts.isTrustedDirectory,
    readContextFile: resources.readContextFile?.bind(resources),
    getMessages: () => transcript.messages,
    report(problems) {
      for (const { code, message } of describeResourceProblems({ problems })) notices.addNew(code, message);
    },
  });
  return createRunHost({
    cwd: parts.cwd,
    findInstructions: (paths) => instructions.find(paths),
    session,
    extensions,
    features: parts.features,
    parent: parts.parent,
    builtIn: { ...parts.tools.builtIn, ...Object.fromEntries(parts.tools.internal.map((tool) => [tool.name, tool])) },
    used,
    tools,
    settings,
    judge,
    questions,
    runRole: core.runRole,
    runChoices: core.runChoices,
    transcript,
    inbox,
    publisher,
    takeReports: () => jobs.take(),
    getSummaryModel: () => findSummaryModel(parts.services.registry, settings.get()),
    ask: request,
    waitsForBusyProvider,
    keep,
    keepBytes,
    restoreResults,
    tracer: trace.tracer,
    agentName: trace.agentName,
    sent,
    clock,
    ids,
  });
}

function createNavigation(parts: SessionParts, core: SessionCore, host: RunHost): Navigation {
  const { sessionManager: session, extensions, features, request, budget } = parts;
  const { moves, model, settings, notices, jobs, transcript, questions, sent } = core;
  return new Navigation({
    session,
    moves,
    beforeMove: () => questions.settle(),
    getModel: () => model.mustHaveModel(),
    getSummaryModel: host.getSummaryModel,
    request,
    budget,
    touches: host.touches,
    settings: () => settings.get(),
    notice: (code, message) => notices.add(code, message),
    getExtensions: () => extensions.current,
    afterMove: async () => {
      await readLog(core, session);
      jobs.compareWith(transcript.messages);
      sent.forgetMessages();
    },
    loadFeatures: () => features.loadForMessages(transcript.messages),
  });
}

type ActivityWork = Pick<SessionWork, "tools" | "host" | "navigation"> & Pick<SessionCallbacks, "admitRun">;

function createActivity(parts: SessionParts, core: SessionCore, work: ActivityWork): Activity {
  const { extensions, abortSignal, parent, budget, clock } = parts;
  const { model, settings, currentRun, inbox, jobs, notices, lifetime, mustBeUsable } = core;
  const { tools, host, navigation, admitRun } = work;
  const getExtensions = () => extensions.current;
  const notice = (code: string, message: string) => notices.add(code, message);
  const messages = new RunMessages({ getExtensions, tools, host, notice });
  return new Activity({
    host,
    model,
    tools,
    settings,
    currentRun,
    inbox,
    lifetime: lifetime.signal,
    abortSignal,
    parent,
    budget,
    runChoices: core.runChoices,
    getMaxTurns: () => parts.services.resources.resources.agent?.definition?.maxTurns,
    clock,
    mustBeUsable,
    admitRun,
    beforeRun: async (prompts) => [...(await messages.beforeRun(prompts)), ...jobs.take()],
    takeSent: async (mayContinue) => {
      const sent = await messages.takeSent(mayContinue);
      return mayContinue && jobs.wakes ? [...sent, ...jobs.take()] : sent;
    },
    onSettled: async ({ kind }) => {
      await getExtensions()?.emit({ type: "agent_settled", aborted: kind === "aborted" });
    },
    afterRun: async () => {
      tools.setRunPrompt(undefined);
      core.runChoices.end();
      await core.runRole.end();
      await navigation.navigatePlanned(lifetime.signal);
    },
    notice,
  });
}

/** The person is not the user of this machine if the session is that of a tenant. */
function getUserBash({ tools }: SessionParts): GivenTool {
  if (!tools.isTenant) return tools.getBuiltIn("bash");
  throw new HarnessError("denied", 'A session with isolation "tenant" runs only the commands of its model.');
}

function createNamedFiles(parts: SessionParts, { judge }: SessionCore, tools: ShownTools): NamedFiles {
  const { fileAuthority, cwd, personFiles, ids } = parts;
  return new NamedFiles({
    authority: fileAuthority,
    cwd,
    personFiles,
    createCallFiles: (id) => parts.tools.createCallContext(id).files,
    getJudgeParts: () => judge.parts,
    endCall: (id) => judge.endCall(id),
    hasTool: (name) => tools.shown.tools.some((tool) => tool.name === name),
    ids,
  });
}

/** Creates what a session shares with its runs. */
import { createTouches, type ExtensionSlot, type SessionFeatures } from "@tau/extensions/internal";
import type { PrefixTracker } from "../request/prefix-tracker.ts";
import type { RunHost } from "../run/run-host.ts";
import { RunningCalls } from "../run/running-calls.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { CallJudge } from "./call-judge.ts";
import type { LiveSession } from "./live-sessions.ts";
import type { RunChoices } from "./run-choices.ts";
import type { RunRole } from "./run-role.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { ShownTools, ToolSources } from "./shown-tools.ts";

interface RunHostParts extends Pick<
  RunHost,
  | "cwd"
  | "findInstructions"
  | "transcript"
  | "inbox"
  | "publisher"
  | "takeReports"
  | "getSummaryModel"
  | "questions"
  | "used"
  | "ask"
  | "waitsForBusyProvider"
  | "keep"
  | "keepBytes"
  | "restoreResults"
  | "tracer"
  | "agentName"
  | "clock"
  | "ids"
> {
  session: SessionManager;
  extensions: ExtensionSlot;
  features: Pick<SessionFeatures, "loadBeforeChanges">;
  /** The session that this one works for. */
  parent: LiveSession | undefined;
  builtIn: ToolSources["builtIn"];
  tools: ShownTools;
  settings: SessionSettings;
  judge: CallJudge;
  runRole: RunRole;
  runChoices: RunChoices;
  sent: PrefixTracker;
}

export function createRunHost(parts: RunHostParts): RunHost {
  const { session, extensions, features, parent, builtIn, tools, settings } = parts;
  const { judge, endCall, getCallMessage } = parts.judge;
  const touches = createTouches({
    current: () => [...tools.shown.tools, ...tools.shown.unlisted, ...tools.found.called],
    builtIn,
  });
  return {
    get extensions() {
      return extensions.current;
    },
    cwd: parts.cwd,
    session,
    transcript: parts.transcript,
    inbox: parts.inbox,
    publisher: parts.publisher,
    takeReports: parts.takeReports,
    clock: parts.clock,
    ids: parts.ids,
    ask: parts.ask,
    getSummaryModel: parts.getSummaryModel,
    settings: () => settings.get(),
    used: parts.used,
    current: () => ({
      ...parts.used.current,
      systemPrompt: tools.prompt,
      tools: tools.shown.tools,
    }),
    findTool: (call) => tools.found.find(call),
    findInstructions: parts.findInstructions,
    touches,
    noteCall: (call) => {
      parts.runChoices.noteCall();
      parts.runRole.noteCall(call, touches);
    },
    getRequestChoices: () => parts.runChoices.current,
    takeCalls: () => parts.runRole.takeCalls(),
    judge,
    beforeFilesChange:
      parent?.beforeFilesChange ??
      (async ({ id: toolCallId, name: toolName }) => {
        await features.loadBeforeChanges();
        await extensions.current?.emit({ type: "before_files_change", toolCallId, toolName });
      }),
    questions: parts.questions,
    calls: new RunningCalls(),
    endCall,
    getCallMessage,
    keep: parts.keep,
    keepBytes: parts.keepBytes,
    restoreResults: parts.restoreResults,
    waitsForBusyProvider: parts.waitsForBusyProvider,
    tracer: parts.tracer,
    agentName: parts.agentName,
    resumedFrom: session.getEntryCount() > 0 ? session.id : undefined,
    sent: parts.sent,
  };
}

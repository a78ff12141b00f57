/** What a session lends to its runs. */
import { createTouches } from "@tau/extensions/internal";
import { PrefixTracker } from "../request/prefix-tracker.ts";
import type { RunHost } from "../run/run-host.ts";
import { RunningCalls } from "../run/running-calls.ts";
import type { CallJudge } from "./call-judge.ts";
import type { Choices } from "./choices.ts";
import type { AgentSessionParts } from "./session-parts.ts";

export interface RunHostParts
  extends
    Pick<
      AgentSessionParts,
      | "sessionManager"
      | "extensions"
      | "tools"
      | "request"
      | "waitsForBusyProvider"
      | "keep"
      | "trace"
      | "clock"
      | "ids"
    >,
    Pick<RunHost, "transcript" | "inbox" | "publisher" | "takeReports"> {
  choices: Choices;
  judge: CallJudge;
}

export function createRunHost(parts: RunHostParts): RunHost {
  const { sessionManager: session, extensions, tools, request, waitsForBusyProvider, keep, trace, clock, ids } = parts;
  const { transcript, inbox, publisher, choices, takeReports } = parts;
  const { judge, endCall, getCallMessage } = parts.judge;
  return {
    get extensions() {
      return extensions.current;
    },
    session,
    transcript,
    inbox,
    publisher,
    takeReports,
    clock,
    ids,
    ask: request,
    settings: () => choices.settings(),
    current: () => choices.current(),
    touches: createTouches({ current: () => choices.shown.tools, builtIn: tools.builtIn }),
    judge,
    calls: new RunningCalls(),
    endCall,
    getCallMessage,
    keep,
    waitsForBusyProvider,
    ...trace,
    resumedFrom: session.getEntryCount() > 0 ? session.id : undefined,
    sent: new PrefixTracker(),
  };
}

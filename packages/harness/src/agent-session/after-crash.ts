/** Settles what a killed process left behind when its session is opened. */
import { getErrorMessage } from "@tau/ai/internal";
import type { Termination } from "@tau/protocol";
import { isLogError } from "../session/read-only.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { UnfinishedCall } from "../session/unfinished-calls.ts";
import type { Inbox, KeepQueued } from "../run/inbox.ts";
import type { Notices } from "./notices.ts";
import type { OpenQuestions } from "./open-questions.ts";

/** For a program that outlives its sessions' processes. Its sessions leave their queue in the log when they are closed. */
export interface AfterCrash {
  /** Whether a crash has cut a run of this session: it is then closed in the log, with `gateway_disconnected`. */
  wasCut: (sessionId: string) => boolean;
  /** Decides about messages that were queued: those that are not kept are refused with a notice. */
  keepQueued: KeepQueued;
}

interface CrashParts {
  session: SessionManager;
  inbox: Inbox;
  notices: Notices;
  /** Finds the calls that wait for an answer, which stay as they are. */
  questions: Pick<OpenQuestions, "findWaiting">;
  afterCrash: AfterCrash | undefined;
}

/**
 * Gives outcomes to calls, runs and queued messages that have none. Answers with how the last run ended, if it was closed
 * here. A session that cannot be written, for example on a full disk, opens all the same: it is settled when it is opened
 * the next time.
 */
export async function settleAfterCrash(parts: CrashParts): Promise<Termination | undefined> {
  try {
    return await settle(parts);
  } catch (error) {
    if (!isLogError(error)) throw error;
    parts.notices.add(
      "session",
      `What was not finished when the program ended is not settled. ${getErrorMessage(error)}`,
    );
    return undefined;
  }
}

async function settle(parts: CrashParts): Promise<Termination | undefined> {
  const { session, inbox, notices, afterCrash, questions } = parts;
  const unfinished = await session.unfinishedCalls();
  const waiting = await questions.findWaiting(unfinished);
  await session.settleUnfinishedCalls(waiting);
  const calls = unfinished.filter(({ call }) => !waiting.has(call.id));
  for (const message of describeUnfinished(calls)) notices.add("call_not_finished", message);
  const cut: Termination = { terminationReason: "gateway_disconnected" };
  const isClosed = afterCrash?.wasCut(session.id) === true && (await session.closeCutRun(cut));
  await inbox.settleLeftovers(afterCrash?.keepQueued, (text) =>
    notices.add("message_not_said", `This message was queued when the program ended, and was not sent: ${text}`),
  );
  return isClosed ? cut : undefined;
}

/** Describes the calls to the user. The model gets their results. */
function describeUnfinished(calls: readonly UnfinishedCall[]): string[] {
  const list = (isOne: (call: UnfinishedCall) => boolean) => calls.filter(isOne).map(({ call }) => call.name);
  const isAsked = ({ hasStarted, questionIds }: UnfinishedCall) => !hasStarted && questionIds.length > 0;
  const sentences: [text: string, names: string[]][] = [
    [
      "These calls were not executed, because the program ended before they were started",
      list((call) => !call.hasStarted && !isAsked(call)),
    ],
    ["These calls were not executed, because nobody answered the questions about them", list(isAsked)],
    [
      "The program ended while these calls were running, so it is unknown what they did",
      list(({ hasStarted }) => hasStarted),
    ],
  ];
  return sentences.filter(([, names]) => names.length > 0).map(([text, names]) => `${text}: ${names.join(", ")}.`);
}

/** What a session does when it is opened about what a killed process left behind. */
import type { ImageContent, TextContent } from "@tau/ai";
import type { Termination } from "@tau/protocol";
import type { AcceptedEntry } from "../session/entry.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Inbox } from "./inbox.ts";
import type { Notices } from "./notices.ts";

/** For a program that outlives its sessions' processes. Its sessions leave their queue in the log when they are closed. */
export interface AfterCrash {
  /** Whether a crash has cut a run of this session: it is then closed in the log, with `gateway_disconnected`. */
  wasCut: (sessionId: string) => boolean;
  /** Answers with the ids of the messages that are queued again; the others are refused with a notice. */
  keepQueued: (sessionId: string, queued: readonly AcceptedEntry[]) => Promise<ReadonlySet<string>>;
}

export interface CrashParts {
  session: SessionManager;
  inbox: Inbox;
  notices: Notices;
  afterCrash: AfterCrash | undefined;
}

/**
 * Gives outcomes to calls, runs and queued messages that have none. Answers with how the last run ended, if it was closed
 * here.
 */
export async function settleAfterCrash({
  session,
  inbox,
  notices,
  afterCrash,
}: CrashParts): Promise<Termination | undefined> {
  await session.settleUnfinishedCalls();
  const cut: Termination = { terminationReason: "gateway_disconnected" };
  const isClosed = afterCrash?.wasCut(session.id) === true && (await session.closeCutRun(cut));
  const queued = await session.waitingMessages();
  const kept = queued.length > 0 ? await afterCrash?.keepQueued(session.id, queued) : undefined;
  for (const { queueId, content } of queued.filter(({ queueId: id }) => !kept?.has(id))) {
    const reason = "the program ended before it was sent";
    await session.append({ type: "queue", queueId, state: "refused", reason });
    const text = typeof content === "string" ? content : content.map(getWords).join("\n");
    notices.add("message_not_said", `This message was queued when the program ended, and was not sent: ${text}`);
  }
  inbox.restore(queued.filter(({ queueId }) => kept?.has(queueId)));
  return isClosed ? cut : undefined;
}

const getWords = (block: TextContent | ImageContent): string => (block.type === "text" ? block.text : "[image]");

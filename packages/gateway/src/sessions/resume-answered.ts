/** Resumes runs that have ended with questions, where a crash came between the answers and the run. */
import { getErrorMessage } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import type { AnswerRecords } from "@tau/policy";
import { isGatewayError } from "../errors.ts";
import type { OpenSessions } from "./open-sessions.ts";

interface ResumeParts {
  sessions: Pick<OpenSessions, "open">;
  answers: Pick<AnswerRecords, "listResuming">;
  isStopping: () => boolean;
  log: (line: string) => void;
}

/** How many sessions are opened at a time. */
const maxOpening = 4;

/** Called with each session that is opened: whoever opens it resumes it, also after the node of a cluster that had it was lost. */
export async function resumeOpened({ session }: HostedSession, log: ResumeParts["log"]): Promise<void> {
  await session.resumeAnswered().catch((error: unknown) => {
    log(`The session ${session.sessionId} is not resumed with the answer to its question: ${getErrorMessage(error)}`);
  });
}

/** Opens the sessions whose answers wait, which resumes them. Called once, when the gateway has started. */
export async function openAnswered({ sessions, answers, isStopping, log }: ResumeParts): Promise<void> {
  const waiting = [...(await answers.listResuming())];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined && !isStopping(); id = waiting.shift()) {
      await sessions.open(id).catch((error: unknown) => {
        // Another process or node runs it, and resumes it; or it was deleted.
        if (isGatewayError(error) && ["moved", "conflict", "not_found"].includes(error.code)) return;
        log(`The session ${id} is not resumed with the answer to its question: ${getErrorMessage(error)}`);
      });
    }
  };
  await Promise.all(Array.from({ length: maxOpening }, work));
}

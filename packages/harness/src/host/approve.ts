/** Answers a question, and resumes the run that has ended with it. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ApprovalAnswer } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";

interface ApproveOptions {
  answer: ApprovalAnswer;
  /** Whether a run that has ended with questions is resumed after the last answer. */
  resume: boolean;
}

/** False if the question is not open any more. */
export async function approve(session: AgentSession, id: string, { answer, resume }: ApproveOptions): Promise<boolean> {
  if (!(await session.approve(id, answer, { resumes: resume }))) return false;
  if (!resume || (await session.resumeAnswered()) || !session.isStreaming) return true;
  // The run that has asked is about to end.
  const resumed = session.waitForIdle().then(() => session.resumeAnswered());
  resumed.catch((error: unknown) => session.notify("approval", `The run is not resumed: ${getErrorMessage(error)}`));
  return true;
}

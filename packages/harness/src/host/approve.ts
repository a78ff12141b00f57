/** Answers a question, and resumes the run that has ended with it. */
import type { ApprovalAnswer } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";

interface ApproveOptions {
  answer: ApprovalAnswer;
  /** Whether a run that has ended with questions is resumed after the last answer. */
  resume: boolean;
}

/** False if the question is not open any more. */
export async function approve(session: AgentSession, id: string, { answer, resume }: ApproveOptions): Promise<boolean> {
  const isKept = resume && (await session.getQuestions()).some((question) => question.id === id);
  if (!(await session.approve(id, answer))) return false;
  if (!isKept || session.isStreaming || (await session.getQuestions()).length > 0) return true;
  const { outcome } = await session.startResuming();
  // A run that fails reports it in its events.
  outcome.catch(() => {});
  return true;
}

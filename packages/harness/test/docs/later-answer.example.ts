import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";
import { type AnswerStore, createAnswerFile } from "@tau/policy";
import type { Approval } from "@tau/protocol";

/** Tools must not be able to write into this directory. */
export const createStore = (directory: string): AnswerStore => createAnswerFile({ directory });

/** Sends a prompt. What it returns is to be answered by somebody, today or tomorrow. */
export async function startOrder(session: AgentSession, text: string): Promise<readonly Approval[]> {
  const outcome = await session.prompt(text);
  return outcome.kind === "ran" && outcome.end.kind === "asked" ? outcome.end.questions : [];
}

/** Called when somebody has clicked yes or no, in any process. Resolves with what is asked next. */
export async function takeAnswer(
  log: string,
  params: AgentSessionParams & { store: AnswerStore },
  { questionId, isAllowed }: { questionId: string; isAllowed: boolean },
): Promise<readonly Approval[]> {
  const { store, ...others } = params;
  const sessionManager = await SessionManager.open(log);
  const session = await createAgentSession({ ...others, sessionManager, ask: { later: store } });
  try {
    const isKept = await session.approve(questionId, { decision: isAllowed ? "allow" : "deny" });
    if (!isKept) return []; // it was answered before, or it has expired
    const { end } = await session.resume();
    return end.kind === "asked" ? end.questions : [];
  } finally {
    await session.dispose();
  }
}

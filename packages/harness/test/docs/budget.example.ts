import { type AgentSession, type AgentSessionParams, createAgentSession } from "@tau/harness";

/** Runs a task in a child session, which ends with the parent's run and spends from the parent's budget. */
export async function delegate(parent: AgentSession, task: string, params: AgentSessionParams) {
  const child = await createAgentSession({
    ...params,
    parentSessionId: parent.sessionId,
    budgets: { turns: 20, cost: 0.5, timeMs: 10 * 60_000 },
  });
  try {
    const outcome = await child.prompt(task);
    return outcome.kind === "ran" ? outcome.end : undefined; // { kind: "budget", limit: "turns" } after 20 turns
  } finally {
    await child.dispose();
  }
}

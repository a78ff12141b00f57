import { type AgentSession, type AgentSessionParams, createAgentSession } from "@tau/harness";

/** A session that works for another: it ends with its parent's run, and spends from it. */
export async function delegate(parent: AgentSession, task: string, params: AgentSessionParams) {
  const child = await createAgentSession({
    ...params,
    parentSessionId: parent.sessionId,
    budgets: { turns: 20, cost: 0.5, timeMs: 10 * 60_000 },
  });
  try {
    const outcome = await child.prompt(task);
    // A spent budget is `no_tool_calls` with the detail `budget_turns`, `budget_tokens`, `budget_cost` or `budget_time`.
    return outcome.kind === "ran" ? outcome.detail : undefined;
  } finally {
    await child.dispose();
  }
}

import type { AgentSession } from "@tau/harness";

export async function tryTwoWays(session: AgentSession): Promise<AgentSession> {
  await session.prompt("Suggest a design.");
  const design = session.sessionManager.getLeafId();
  if (design === null) throw new Error("The session is empty.");
  await session.prompt("Build it with a queue.");
  await session.navigate(design, { summarise: true }); // back, with a summary of the branch that is left
  await session.setThinkingLevel("high");
  await session.prompt("Build it with a table.");
  await session.compact("Keep the decisions.");
  return await session.branch(design); // another session, which can run at the same time
}

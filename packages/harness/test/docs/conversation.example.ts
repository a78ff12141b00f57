import type { AgentSession } from "@tau/harness";

export async function tryTwoWays(session: AgentSession): Promise<AgentSession> {
  await session.prompt("Suggest a design.");
  const design = session.sessionManager.getLeafId();
  if (design === null) throw new Error("Nothing was said.");
  await session.prompt("Build it with a queue.");
  await session.navigate(design, { summarise: true }); // back, with a summary of the way that is left
  await session.setThinkingLevel("high");
  await session.prompt("Build it with a table.");
  await session.compact("Keep the decisions.");
  return await session.branch(design); // a session of its own, to go on with at the same time
}

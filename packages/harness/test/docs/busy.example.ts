import type { AgentSession } from "@tau/harness";

export async function talkWhileBusy(session: AgentSession): Promise<number> {
  const done = session.prompt("Write the report.");
  await session.steer("Keep it short."); // sent before the next request
  const later = await session.followUp("Then say hello."); // sent when the model would stop
  if (later.kind === "queued") await session.editQueued(later.id, "Then translate it.");
  const { followUps } = session.queue;
  await done;
  return followUps.length; // 1: it was queued, and has been sent since
}

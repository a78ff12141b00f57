import { randomUUID } from "node:crypto";
import type { AgentSession } from "@tau/harness";

/** Sends a message, also while a run is in progress, and resolves with the answer to it. Undefined if there is none. */
export async function ask(session: AgentSession, text: string): Promise<string | undefined> {
  const messageId = randomUUID();
  let isSent = false;
  let answer: string | undefined;
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const stop = session.onSessionEvent((event) => {
    if (event.type === "agent_end" && isSent) end();
    if (event.type !== "entry_appended") return;
    const { entry } = event;
    if (entry.type === "queue" && entry.queueId === messageId && entry.state !== "accepted") end(); // it was taken back
    if (entry.type !== "message") return;
    if (entry.queueId === messageId) isSent = true;
    else if (isSent && entry.message.role === "user") end(); // what follows answers another message
    else if (isSent && entry.message.role === "assistant")
      answer = entry.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  });
  try {
    const { disposition } = await session.submit(text, { queue: "followUp", messageId });
    if (disposition !== "handled") await ended;
    return answer;
  } finally {
    stop();
  }
}

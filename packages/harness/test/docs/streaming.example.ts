import { createServer, type Server } from "node:http";
import type { SimpleAgent } from "@tau/harness";

/** Prints an answer while it comes. */
export async function printAnswer(agent: SimpleAgent, question: string, print: (text: string) => void): Promise<void> {
  const run = agent.stream(question);
  for await (const event of run) {
    if (event.type === "text_delta") print(event.delta);
    if (event.type === "tool_execution_start") print(`[${event.toolName}]`);
  }
  const { end } = await run.result();
  if (end.kind !== "done") print(`(${end.kind})`);
}

/** `GET /?question=…` answers with server-sent events. A browser that lost the connection continues where it was. */
export const createAnswerServer = (agent: SimpleAgent): Server =>
  createServer(async (request, response) => {
    const lastEventId = request.headers["last-event-id"];
    const question = new URL(request.url ?? "/", "http://localhost").searchParams.get("question") ?? "";
    const events = typeof lastEventId === "string" ? await agent.resume(lastEventId) : agent.stream(question);
    await events.pipeTo(response);
  });

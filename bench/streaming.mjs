/** Asks the stream server and measures what reading the answer costs this process. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { stream } from "@tau/ai";

export async function withServer(work) {
  const child = fork(join(import.meta.dirname, "stream-server.mjs"));
  const port = await new Promise((resolve) => child.once("message", resolve));
  try {
    return await work((answer) => readAnswer(`http://127.0.0.1:${port}/${answer.count}/${answer.size}/${answer.kind}`));
  } finally {
    child.disconnect();
  }
}

async function readAnswer(baseUrl) {
  const model = {
    id: "bench",
    name: "bench",
    api: "anthropic-messages",
    provider: "bench",
    baseUrl,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1e9,
    maxTokens: 1e6,
  };
  const context = { messages: [{ role: "user", content: "go", timestamp: 0 }] };
  const started = process.cpuUsage();
  const answer = stream(model, context, { apiKey: "none" });
  let deltas = 0;
  for await (const event of answer) if (event.type.endsWith("_delta")) deltas++;
  const message = await answer.result();
  const { user, system } = process.cpuUsage(started);
  if (message.stopReason === "error") throw new Error(message.errorMessage);
  return { cpuSeconds: (user + system) / 1e6, deltas, message };
}

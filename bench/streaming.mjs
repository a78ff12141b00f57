/** Asks the stream server and measures what reading the answer costs this process. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { stream } from "@tau/ai";

export const withServer = (work) => withModel((getModel) => work((answer) => readAnswer(getModel(answer))));

/** `work` gets a function from an answer to the model that gives it. */
export async function withModel(work) {
  const child = fork(join(import.meta.dirname, "stream-server.mjs"));
  const port = await new Promise((resolve) => child.once("message", resolve));
  try {
    return await work(({ count, size, kind }) => createModel(`http://127.0.0.1:${port}/${count}/${size}/${kind}`));
  } finally {
    child.disconnect();
  }
}

const createModel = (baseUrl) => ({
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
});

async function readAnswer(model) {
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

/** An assistant over HTTP: `POST /ask` with a question answers with server-sent events. Run it with `npx tsx sse-bot.ts`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AI, createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";

const maxQuestionBytes = 100_000;

export async function startBot(ai: AI, { token, port = 0 }: { token: string; port?: number }) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (request.method !== "POST" || request.url !== "/ask") return void response.writeHead(404).end();
    const question = await readText(request);
    if (question === undefined) return void response.writeHead(413).end();
    const agent = createAgent({
      ai,
      tools: [],
      systemPrompt: "Answer in a few sentences.",
      budgets: { tokens: 20_000, timeMs: 60_000 },
      abortSignal: closing.signal,
    });
    try {
      await agent.stream(question).pipeTo(response, { abortOnClose: true });
    } finally {
      await agent.dispose();
    }
  };
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = answer(request, response)
      .catch(() => void response.destroy())
      .finally(() => running.delete(work));
    running.add(work);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Takes no more questions, and ends the runs: each client still gets the end of its own. */
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      closing.abort();
      await Promise.all(running);
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxQuestionBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

if (process.argv[1] === import.meta.filename) {
  const ai = createAI({ provider: "anthropic", model: "claude-opus-4-5" });
  const bot = await startBot(ai, { token: process.env["BOT_TOKEN"]!, port: Number(process.env["PORT"] ?? 3000) });
  process.once("SIGTERM", () => void bot.close());
  process.stdout.write(`${bot.url}\n`);
}

/** A model whose answer the test sends in pieces, when it wants to. */
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createModelWorkspace, type Workspace } from "./kit.ts";

export interface StreamedModel extends Workspace {
  /** Resolves when a request waits for its answer. */
  isAsked(): Promise<void>;
  /** The next piece of the answer. */
  send(text: string): void;
  /** Ends the answer. The next request gets another one. */
  end(): void;
}

export async function createStreamedModel(): Promise<StreamedModel> {
  const { directory, agentDir } = await createModelWorkspace([]);
  let response: ServerResponse | undefined;
  const server = createServer((request, next) => {
    request.resume();
    next.writeHead(200, { "content-type": "text/event-stream" });
    next.flushHeaders();
    response = next;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const models = [{ id: "small", name: "Small", contextWindow: 64_000, maxTokens: 4_000 }];
  const acme = { baseUrl, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const write = (choice: object) => {
    const chunk = { id: "answer", object: "chat.completion.chunk", model: "small", choices: [{ index: 0, ...choice }] };
    response?.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  return {
    directory,
    agentDir,
    isAsked: async () => await expect.poll(() => response !== undefined).toBe(true),
    send: (text) => write({ delta: { role: "assistant", content: text }, finish_reason: null }),
    end: () => {
      write({ delta: {}, finish_reason: "stop" });
      response?.end("data: [DONE]\n\n");
      response = undefined;
    },
  };
}

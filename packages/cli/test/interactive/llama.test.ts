import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLlamaRouter } from "../../src/terminal/llama-router.ts";
import { openApp, type OpenedApp } from "./kit.ts";

/** A router with models that need two looks to load. `broken` never loads. */
async function startRouter(statuses: Record<string, string>) {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== "Bearer secret-key") return send(401, { error: { message: "no key" } });
    if (request.method === "GET") {
      const data = Object.entries(statuses).map(([id, value]) => ({ id, status: { value } }));
      for (const [id, value] of Object.entries(statuses))
        if (value === "loading") statuses[id] = id === "broken" ? "unloaded" : "loaded";
      return send(200, { data });
    }
    const { model } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { model: string };
    calls.push(`${request.url} ${model}`);
    statuses[model] = request.url === "/models/load" ? "loading" : "unloaded";
    return send(200, { success: true });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const router = (apiKey?: string) => createLlamaRouter({ address, apiKey, env: () => undefined, pollMs: 1 });
  return { calls, statuses, address, router };
}

const run = (app: OpenedApp, command: string) => {
  app.type(command);
  app.press("escape", "enter");
};

test("/llama lists the models of the router, unloads others first if asked to, loads one, and unloads it again", async () => {
  const { calls, router } = await startRouter({ big: "loaded", small: "unloaded" });
  const app = await openApp([], { columns: 120, program: { openLlamaRouter: async () => router("secret-key") } });
  run(app, "/llama");
  await app.sees(/big +loaded/);
  await app.sees(/small +unloaded/);
  app.type("small");
  app.press("enter");
  await app.sees("Loaded are: big");
  app.press("down", "enter");
  await app.sees("small is loaded. /model llamacpp/small uses it.");
  expect(calls).toEqual(["/models/unload big", "/models/load small"]);
  run(app, "/llama small");
  await app.sees("small is unloaded.");
  run(app, "/llama none");
  await app.sees("has no model none");
});

test("a model that does not load, a wrong key and a server that is not there are said", async () => {
  const { router, address } = await startRouter({ broken: "unloaded" });
  await expect(router("secret-key").load("broken")).rejects.toThrow("could not load broken");
  await expect(router("wrong").list()).rejects.toThrow(`llama.cpp at ${address} refused the request: no key`);
  const nobody = createLlamaRouter({ address: "http://127.0.0.1:9", env: () => undefined });
  await expect(nobody.list()).rejects.toThrow("does not answer");
  const { router: empty } = await startRouter({});
  await expect(empty("secret-key").list()).rejects.toThrow("is no router, or has no models");
});

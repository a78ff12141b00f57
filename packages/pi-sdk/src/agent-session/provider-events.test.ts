import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExtensionFactory } from "@tau/extensions";
import { AuthStorage } from "../auth/auth-storage.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { DefaultResourceLoader } from "../resources/resource-loader.ts";
import { SessionManager } from "@tau/pi/internal";
import { SettingsManager } from "../settings/settings-manager.ts";
import { createAgentSession } from "./create-agent-session.ts";

let directory: string;
let server: Server;
let requests: IncomingHttpHeaders[];
let registry: ModelRegistry;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "pi-provider-events-"));
  requests = [];
  server = createServer(({ headers }, response) => {
    requests.push(headers);
    const chunk = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream", "x-limit": "7" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  registry = ModelRegistry.inMemory(AuthStorage.inMemory());
  registry.registerProvider("local", {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    apiKey: "secret",
    api: "openai-completions",
    models: [{ id: "small" }],
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

test("the registry sends requests with the key of their provider", async () => {
  const model = registry.findOfType("chat", "local", "small")!;
  const { content } = await registry.complete(model, { messages: [{ role: "user", content: "x", timestamp: 0 }] });
  expect(content).toMatchObject([{ type: "text", text: "hi" }]);
  expect(requests).toMatchObject([{ authorization: "Bearer secret" }]);
  expect(registry.getProviderAuthStatus("local")).toEqual({ configured: true, source: "models_json_key" });
  expect(registry.getProviderAuthStatus("nobody")).toEqual({ configured: false });
  expect(registry.getModelsOfType("image")).toEqual([]);
  expect((await registry.getAvailableOfType("chat", "local")).map(({ id }) => id)).toEqual(["small"]);
});

test("extensions change the headers of a request, and learn how it was answered", async () => {
  const responses: unknown[] = [];
  const factory: ExtensionFactory = (pi) => {
    pi.on("before_provider_headers", ({ headers }) => void (headers["x-team"] = "tau"));
    pi.on("after_provider_response", ({ status, headers }) => void responses.push([status, headers["x-limit"]]));
    pi.on("message_end", ({ message }) =>
      message.role === "assistant" ? { message: { ...message, content: [{ type: "text", text: "HI" }] } } : undefined,
    );
  };
  const paths = { cwd: directory, agentDir: directory };
  const settingsManager = SettingsManager.inMemory();
  const resourceLoader = new DefaultResourceLoader({ ...paths, settingsManager, extensionFactories: [factory] });
  await resourceLoader.reload();
  const { session } = await createAgentSession({
    ...paths,
    settingsManager,
    resourceLoader,
    authStorage: registry.authStorage,
    modelRegistry: registry,
    model: registry.find("local", "small")!,
    sessionManager: SessionManager.inMemory(directory),
  });
  await session.prompt("hello");
  expect(requests).toMatchObject([{ "x-team": "tau" }]);
  expect(responses).toEqual([[200, "7"]]);
  expect(session.getLastAssistantText()).toBe("HI");
  expect(session.sessionManager.getEntries().at(-1)).toMatchObject({ message: { content: [{ text: "HI" }] } });
});

/** Providers that an extension or a file describes by how a request is built and an answer is read. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { unregisterApiProviders, unregisterModels } from "@tau/ai";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { writeModule } from "./extension-kit.ts";
import { createWorkspace, run, type Workspace } from "./kit.ts";

async function serve() {
  const requests: { path: string; key: string | undefined; body: unknown }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      requests.push({ path: request.url ?? "", key: request.headers.authorization, body: JSON.parse(body) });
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ success: true, result: { response: "Described." } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const describeProvider = (url: string) => `
  const acme = {
    name: "acme-cloud",
    displayName: "Acme Cloud",
    models: [{ id: "@acme/small", name: "Small" }, { id: "@acme/large", name: "Large" }],
    defaultModel: "@acme/small",
    auth: { type: "api-key", header: "Authorization", prefix: "Bearer", envVar: "ACME_CLOUD_KEY" },
    buildRequest: (config, model, messages) => ({
      url: \`${url}/accounts/\${config.accountId}/\${model}\`,
      headers: { Authorization: \`Bearer \${config.apiKey}\` },
      body: { messages },
    }),
    parseResponse: (response) => ({ content: response.result.response }),
  };`;

const ask = (workspace: Workspace, args: string[]) =>
  run(workspace, [...args, "--no-tools", "--model", "acme-cloud/@acme/large", "-p", "Hi"]);

beforeEach(() => void vi.stubEnv("ACME_CLOUD_KEY", "acme-fake-key-1"));
afterEach(() => {
  vi.unstubAllEnvs();
  // The tests of a worker share one registry.
  unregisterModels("acme-cloud");
  unregisterApiProviders("custom:acme-cloud");
});

const expected = (account: string) => [
  { path: `/accounts/${account}/@acme/large`, key: "Bearer acme-fake-key-1", body: { messages: expect.anything() } },
];

test.each([
  [
    "when its module is evaluated",
    `registerProvider("acme-cloud", acme, { accountId: "a-1" });\nexport default function () {}`,
  ],
  ["in its factory", `export default function () { registerProvider("acme-cloud", acme, { accountId: "a-1" }); }`],
  [
    "later in its factory",
    `export default async function () { await null; createProvider(acme, { accountId: "a-1" }); }`,
  ],
])("an extension registers one with pi's module %s", async (_name, end) => {
  const [{ url, requests }, workspace] = [await serve(), await createWorkspace()];
  const head = `import { createProvider, registerProvider } from "@earendil-works/pi-ai";`;
  await writeModule(join(workspace.directory, "acme.ts"), `${head}${describeProvider(url)}\n${end}\n`);
  expect(await ask(workspace, ["-e", "acme.ts"])).toEqual({ code: 0, out: "Described.\n", err: "" });
  expect(requests).toEqual(expected("a-1"));
});

test("a file that the settings name and that only exports one adds it", async () => {
  const [{ url, requests }, workspace] = [await serve(), await createWorkspace()];
  const source = `${describeProvider(url)}\nexport const config = { accountId: "a-2" };\nexport { acme };\n`;
  await writeModule(join(workspace.agentDir, "providers", "acme.ts"), source);
  await mkdir(workspace.agentDir, { recursive: true });
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ extensions: ["providers/acme.ts"] }));
  expect(await ask(workspace, [])).toMatchObject({ code: 0, out: "Described.\n" });
  expect(requests).toEqual(expected("a-2"));
  const { out } = await run(workspace, ["models", "acme-cloud", "--offline"]);
  expect(out).toContain("acme-cloud/@acme/small");
});

test("a file without an extension and without a provider says what is missing", async () => {
  const workspace = await createWorkspace();
  await writeModule(join(workspace.directory, "none.ts"), "export const x = { name: 'x', models: [] };\n");
  const { err } = await run(workspace, ["-e", "none.ts", "models", "--offline"]);
  expect((await ask(workspace, ["-e", "none.ts"])).err + err).toContain("or a provider");
});

test("an agent and an AI are created with pi's module names", async () => {
  const [{ url }, workspace] = [await serve(), await createWorkspace()];
  const source = `
    import { createAgent } from "@earendil-works/pi-agent-core";
    import { createAI, registerProvider } from "@earendil-works/pi-ai";${describeProvider(url)}
    registerProvider("acme-cloud", acme, { accountId: "a-3" });
    export default function (pi) {
      pi.on("session_start", async () => {
        const ai = createAI({ provider: "acme-cloud", model: "@acme/small", config: { accountId: "a-4", apiKey: "own-key-123" } });
        const agent = createAgent({ ai, tools: [], cwd: ${JSON.stringify(workspace.directory)}, agentDir: ${JSON.stringify(workspace.agentDir)} });
        console.log("nested: " + (await agent.run("Fix it")));
        await agent.dispose();
      });
    }`;
  await writeModule(join(workspace.directory, "acme.ts"), source);
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  expect(await ask(workspace, ["-e", "acme.ts"])).toMatchObject({ code: 0, out: "Described.\n" });
  expect(log.mock.calls).toEqual([["nested: Described."]]);
});

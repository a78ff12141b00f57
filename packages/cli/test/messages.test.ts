/** Tests the messages that the program prints when something cannot be done: what happened, to what, and what to do. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { WireReply } from "@tau/ai/testing";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply, toolReply } from "./kit.ts";

const rejected: WireReply = {
  kind: "status",
  status: 401,
  body: '{"error":{"message":"Incorrect API key provided."}}',
};

test("a missing key names the variable and the command that stores one, and no parameter of a library", async () => {
  vi.stubEnv("OPENAI_API_KEY", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { err } = await run(await createWorkspace(), ["-p", "Hi", "--model", "openai/gpt-4o"]);
  expect(err).toContain(
    "There is no API key for openai. Set OPENAI_API_KEY, or store a key with tau auth login openai.\n",
  );
  expect(err).not.toContain("apiKey");
});

test("a rejected key is described by where it is from", async () => {
  const workspace = await createModelWorkspace([rejected, rejected, rejected]);
  const { agentDir, server } = workspace;
  const ask = async (...args: string[]) => (await run(workspace, ["-p", "Hi", ...args])).err;
  const first = "tau: HTTP 401: Incorrect API key provided. The key is";
  expect(await ask()).toBe(`${first} from models.json. Correct it there.\n`);
  expect(await ask("--api-key", "sk-0123456789")).toBe(`${first} the one set for this process (--api-key).\n`);
  const acme = { type: "api_key", key: "stored-0123456789", host: server.url };
  await writeFile(join(agentDir, "auth.json"), JSON.stringify({ acme }), { mode: 0o600 });
  expect(await ask()).toBe(`${first} from ${agentDir}/auth.json. To use another one: tau auth login acme\n`);
});

test("a server that does not run is named once, with a question that helps, also while it is tried again", async () => {
  const workspace = await createModelWorkspace([]);
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const { port } = gone.address() as { port: number };
  await new Promise((resolve) => gone.close(resolve));
  const acme = {
    baseUrl: `http://127.0.0.1:${port}`,
    api: "openai-completions",
    apiKey: "k",
    models: [{ id: "small" }],
  };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const retry = { maxRetries: 1, baseDelayMs: 1 };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/small", retry }));
  const { code, err } = await run(workspace, ["-p", "Hi"]);
  expect(code).toBe(exitCodes.failed);
  const message = `127.0.0.1:${port} does not accept connections (ECONNREFUSED). Is the server running?`;
  expect(err).toBe(`tau: Trying again in 1 s (1 of 1): ${message}\ntau: ${message}\n`);
});

test("several mistakes in models.json are one line each, with line and column", async () => {
  const workspace = await createModelWorkspace([]);
  const file = join(workspace.agentDir, "models.json");
  await writeFile(file, '{ "providers": {\n  "acme": { "baseUrl": 5 },\n  "other": { "modelz": [] }\n} }');
  const { code, err } = await run(workspace, ["-p", "Hi", "--model", "acme/small"]);
  expect(code).toBe(exitCodes.usage);
  const lines = err.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^tau: There is no model "acme\/small"\./);
  expect(lines.slice(1).map((line) => line.slice(0, line.indexOf(": ")))).toEqual([
    `  ${file}:2:13`,
    `  ${file}:3:14`,
    `  ${file}:2:3`,
    `  ${file}:3:3`,
  ]);
});

test("tau doctor lists every mistake of a file on a line of its own", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir);
  const file = join(workspace.agentDir, "settings.json");
  await writeFile(file, '{ "theme": 5,\n"retry": { "maxRetries": -1 } }');
  const { out } = await run(workspace, ["doctor"]);
  expect(out).toMatch(/^settings +warn +2 errors$/m);
  for (const place of ["1:3", "2:12"]) expect(out).toContain(`\n      ${file}:${place}: `);
  expect(out).toContain("\n      Correct the file: tau config edit\n");
});

test.each([
  [["sessions", "import", "nowhere.jsonl"], /There is no file .*nowhere\.jsonl\.\n$/],
  [["sessions", "import", "."], / is a directory\. Name a session file in it\.\n$/],
  [["--tools", "zzzzzz", "-p", "Hi"], /There is no tool "zzzzzz"\. The tools are: read, .*bash/],
  [["--model", "zzzzzzzzzzzz", "-p", "Hi"], /There is no model "zzzzzzzzzzzz"\. tau models --all lists those/],
  [["--system-prompt", "./none.md", "-p", "Hi"], /There is no file .*none\.md\. If it is a text, /],
])("tau %j says what there is instead, or what to write", async (args, message) => {
  const { code, err } = await run(await createModelWorkspace([]), args);
  expect(code).toBe(exitCodes.usage);
  expect(err).toMatch(message);
});

test("a setting that a project may not make names the command that trusts the project", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  await mkdir(join(workspace.directory, ".tau"));
  await writeFile(join(workspace.directory, ".tau", "settings.json"), '{ "shellPath": "/bin/false" }');
  const { err } = await run(workspace, ["-p", "Hi"]);
  expect(err).toMatch(
    /\.tau\/settings\.json:1:3: A project may not set shellPath before it is trusted.*: tau trust\n$/,
  );
});

test("a file of credentials is refused to the user and to the model in different words", async () => {
  const workspace = await createModelWorkspace([toolReply("read", { path: "/etc/shadow" }), textReply("No.")]);
  const { err, code } = await run(workspace, ["-p", "Hi"]);
  expect(code).toBe(exitCodes.denied);
  expect(err).toContain(
    "read was not allowed to read /etc/shadow. It holds credentials, so no flag or setting allows it.",
  );
  expect(err).not.toContain("ask the user");
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("ask the user");
  const mentioned = await run(workspace, ["-p", "@/etc/shadow", "Hi"]);
  expect(mentioned).toMatchObject({ code: exitCodes.usage, err: expect.not.stringContaining("ask the user") });
});

test("a call of a tool that does not exist is answered with the tools that do", async () => {
  const workspace = await createModelWorkspace([toolReply("grap", {}), textReply("Sorry.")]);
  expect(await run(workspace, ["-p", "Hi"])).toMatchObject({ code: exitCodes.done });
  const told = JSON.stringify(workspace.server.requests[1]?.body);
  expect(told).toMatch(/Tool grap not found\. Did you mean \\"grep\\"\? The tools are: .*\bbash\b/);
});

test("a file that cannot be written is named, with the reason, by every command that writes one", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  await run(workspace, ["-p", "Hi"]);
  const blocked = join(workspace.directory, "file");
  await writeFile(blocked, "");
  const reason = /could not be written: (a part of the path is not a directory|there is no such directory) \(EN\w+\)\./;
  const elsewhere = { ...workspace, agentDir: join(blocked, "tau") };
  for (const [args, where, file] of [
    [["sessions", "export", "-o", join(blocked, "x.html")], workspace, join(blocked, "x.html")],
    [["config", "set", "retry.maxRetries", "1"], elsewhere, join(blocked, "tau", "settings.json")],
    [["trust"], elsewhere, join(blocked, "tau", "trusted-projects.json")],
  ] as const) {
    const { code, err } = await run(where, args);
    expect({ args, code }).toEqual({ args, code: exitCodes.failed });
    expect(err).toContain(file);
    expect(err).toMatch(reason);
  }
});

test("a thinking level that the model does not have is told, and one that it has is not", async () => {
  const workspace = await createModelWorkspace(Array.from({ length: 3 }, () => textReply("Yes.")));
  const ask = async (...args: string[]) => (await run(workspace, ["-p", "Hi", ...args])).err;
  expect(await ask("--thinking", "high")).toBe(
    "tau: acme/small does not think, so the thinking level high has no effect.\n",
  );
  const missing =
    "tau: acme/large has no thinking level max, so high is used. It has: off, minimal, low, medium, high.\n";
  expect(await ask("--model", "acme/large", "--thinking", "max")).toBe(missing);
  expect(await ask("--model", "acme/large", "--thinking", "high")).toBe("");
});

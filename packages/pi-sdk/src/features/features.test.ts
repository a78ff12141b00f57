/** pi's example of code mode, search and MCP servers in a session that a program embeds. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  AuthStorage,
  createAgentSession,
  createCodemodeExtension,
  createMcpExtension,
  createToolSearchExtension,
  DefaultResourceLoader,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from "../index.ts";

let directory: string;
let model: ScriptedModel | undefined;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-features-")));
  for (const name of ["agent", "project"]) mkdirSync(join(directory, name));
});
afterEach(() => {
  model?.dispose();
  rmSync(directory, { recursive: true });
});

/** A server with one tool, which answers with its argument. */
const server = `process.stdin.setEncoding("utf8");
let rest = "";
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    else if (method === "tools/list")
      answer(id, { tools: [{ name: "shout", description: "Says a word loudly", inputSchema: { type: "object", properties: { word: { type: "string" } } } }] });
    else if (method === "tools/call") answer(id, { content: [{ type: "text", text: params.arguments.word.toUpperCase() }] });
    else if (id !== undefined) answer(id, {});
  }
});`;

async function open(script: Parameters<typeof scriptedModel>[0], mode: "on" | "only" = "on") {
  model = scriptedModel(script);
  const [cwd, agentDir] = [join(directory, "project"), join(directory, "agent")];
  const modelRuntime = await ModelRuntime.create({ credentials: AuthStorage.inMemory(), modelsPath: null });
  const { id, api, provider } = model;
  modelRuntime.registerProvider(provider, { baseUrl: "http://localhost", apiKey: "key", models: [{ id, api }] });
  const resourceLoader = new DefaultResourceLoader({
    cwd,
    agentDir,
    extensionFactories: [
      createCodemodeExtension({ mode }),
      createToolSearchExtension(),
      createMcpExtension({ agentDir }),
    ],
  });
  await resourceLoader.reload();
  const settingsManager = SettingsManager.create(cwd, agentDir);
  settingsManager.applyOverrides({ defaultTools: ["+codemode", "+tool_search"] });
  const sessionManager = SessionManager.inMemory(cwd);
  const options = { cwd, agentDir, model, modelRuntime, resourceLoader, settingsManager, sessionManager };
  const { session, extensionsResult } = await createAgentSession(options);
  expect(extensionsResult.errors).toEqual([]);
  const results = () =>
    session.messages.flatMap((message) =>
      message.role === "toolResult" ? message.content.map((block) => (block.type === "text" ? block.text : "")) : [],
    );
  return { session, cwd, results };
}

test("a script calls tools of the session, and gets exit codes of commands", async () => {
  const code = `const [file, fine, wrong] = await Promise.all([
    tools.read({ path: "a.txt" }), tools.bash({ command: "echo hi" }), tools.bash({ command: "echo no; exit 3" })]);
  return { file, out: fine.output, code: fine.exit_code, failed: [wrong.output, wrong.exit_code] };`;
  const { session, cwd, results } = await open([[call("codemode", { code })], [text("done")]]);
  writeFileSync(join(cwd, "a.txt"), "content");
  await session.bindExtensions({});
  expect(session.getActiveToolNames()).toEqual(["read", "bash", "edit", "write", "codemode", "tool_search"]);
  const nested: unknown[] = [];
  session.subscribe((event) => {
    if (event.type === "tool_execution_start") nested.push(event.toolName);
  });
  await session.prompt("Go");
  expect(results()[0]).toContain('"file":"content"');
  expect(results()[0]).toMatch(/"out":"hi\\n?","code":0,"failed":\["no",3\]/);
  expect(nested).toEqual(["codemode", "read", "bash", "bash"]);
  session.dispose();
});

test("with the mode only, requests have code mode instead of the other tools", async () => {
  const { session, results } = await open(
    [[call("codemode", { code: "return (await tools.bash({ command: 'echo 1' })).output" })], [text("done")]],
    "only",
  );
  await session.bindExtensions({});
  expect(session.getActiveToolNames()).toEqual(["codemode"]);
  expect(session.agent.state.tools[0]!.description).toContain("bash(");
  await session.prompt("Go");
  expect(results()[0]).toContain("1");
});

test("a search loads tools of MCP servers, which scripts call too", async () => {
  writeFileSync(join(directory, "server.mjs"), server);
  const entry = { command: process.execPath, args: [join(directory, "server.mjs")], exposure: "deferred" };
  writeFileSync(join(directory, "agent", "mcp.json"), JSON.stringify({ mcpServers: { loud: entry } }));
  const script = `const found = await searchTools("loudly");
    return [found.map(({ name }) => name), (await tools.mcp__loud__shout({ word: "b" })).content[0].text];`;
  const { session, results } = await open([
    [call("tool_search", { query: "loud word" })],
    [call("mcp__loud__shout", { word: "a" })],
    [call("codemode", { code: script })],
    [text("done")],
  ]);
  const errors: unknown[] = [];
  await session.bindExtensions({ onError: (error) => void errors.push(error) });
  await session.prompt("Go");
  expect(errors).toEqual([]);
  expect(results()[0]).toContain("mcp__loud__shout");
  expect(results()[1]).toContain("A");
  expect(results()[2]).toContain('[["mcp__loud__shout"],"B"]');
  await session.extensionRunner?.emit({ type: "session_shutdown", reason: "quit" });
  session.dispose();
});

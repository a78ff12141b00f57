/** Tests what a model is sent besides the words of the user. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startWireServer, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import { SettingsManager, type SettingsInput } from "@tau/config/settings";
import { temporaryDirectory } from "./desk.ts";

interface Body {
  messages: { role: string; content: string }[];
  tools: { function: { name: string; parameters: { properties: Record<string, unknown> } } }[];
}

/** The body of the request for "hi". */
async function sayHi(settings: SettingsInput = {}, params: AgentSessionParams = {}): Promise<Body> {
  const server = await startWireServer("openai-completions", [{ kind: "answer", answer: { content: [text("Hi.")] } }]);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  const agentDir = join(cwd, "agent");
  await mkdir(agentDir);
  const models = [{ id: "small", name: "Small", contextWindow: 32_000, maxTokens: 4_000 }];
  const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const settingsManager = SettingsManager.inMemory(settings);
  const session = await createAgentSession({ cwd, agentDir, model: "acme/small", settingsManager, ...params });
  onTestFinished(() => session.dispose());
  await session.prompt("hi");
  return server.requests[0]!.body as Body;
}

const getNames = ({ tools }: Body) => tools.map((tool) => tool.function.name).join(" ");
const getReadParameters = ({ tools }: Body) => Object.keys(tools[0]!.function.parameters.properties);

test("the request for hi has at most 5,700 bytes, with one way to edit and nothing for channels", async () => {
  const body = await sayHi();
  expect(getNames(body)).toBe("read write edit bash jobs grep find ls");
  expect(getReadParameters(body)).toEqual(["path", "offset", "limit"]);
  expect(JSON.stringify(body)).not.toMatch(/hashline|session_|gateway_/);
  expect(body.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(5_700);
});

test.each<[string, SettingsInput]>([
  ["for all models", { tools: { edit: "hashline" } }],
  ["for one model", { tools: { models: { "acme/small": { edit: "hashline" } } } }],
])("a setting %s chooses edits by anchors, which read then shows", async (_name, settings) => {
  const body = await sayHi(settings);
  expect(getNames(body)).toBe("read write hashline_edit bash jobs grep find ls");
  expect(getReadParameters(body)).toContain("hashline");
});

test("tools for channels are there for a session that serves one, and where a list of tools names them", async () => {
  const binding = { channel: "chat", tools: [] };
  const own = "session_branch session_navigate gateway_reload agent_interrupt";
  expect(getNames(await sayHi({}, { tools: ["read"], binding }))).toBe(`read ${own}`);
  expect(getNames(await sayHi({ tools: { allowed: ["read", "agent_interrupt"] } }))).toBe("read agent_interrupt");
});

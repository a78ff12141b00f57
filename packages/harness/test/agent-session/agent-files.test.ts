/** Agents that are files: what they set applies to sessions and children, and never more than the root may do. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { call, startWireServer, text, type WireReply } from "@tau/ai/testing";
import type { ExtensionAPI } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { resolvePolicyLimits } from "../../src/agent-session/session-agent.ts";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { temporaryDirectory } from "./desk.ts";

const describeModel = (id: string) => ({ id, name: id, contextWindow: 32_000, maxTokens: 4_000, reasoning: true });

const says = (words: string): WireReply => ({ kind: "answer", answer: { content: [text(words)] } });
const calls = (name: string, args: Record<string, unknown>): WireReply => ({
  kind: "answer",
  answer: { content: [call(name, args)] },
});

interface Asked {
  model: string;
  reasoning_effort?: string;
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

async function open(
  files: Readonly<Record<string, string>>,
  params: AgentSessionParams = {},
  replies: readonly WireReply[] = [says("One."), says("Two."), says("Three.")],
) {
  const server = await startWireServer("openai-completions", replies);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  const agentDir = join(cwd, "agent");
  const models = ["tiny", "usual", "large"].map(describeModel);
  const house = { baseUrl: server.url, api: "openai-completions", apiKey: "house-key-0123456789", models };
  const all: Record<string, string> = {
    "agent/models.json": JSON.stringify({ providers: { house } }),
    "agent/settings.json": JSON.stringify({ defaultModel: "house/usual", defaultThinkingLevel: "low" }),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  let api!: ExtensionAPI;
  const session = await createAgentSession({
    cwd,
    use: ["user", "project"],
    agentDir,
    projectTrusted: true,
    extensions: { factories: [(tau) => void (api ??= tau)] },
    ...params,
  });
  onTestFinished(() => session.dispose());
  const getAsked = () =>
    server.requests.map(({ body }) => {
      const { model, reasoning_effort: effort, messages, tools = [] } = body as Asked;
      const prompt = String(messages[0]!.content).split("\n")[0];
      return { model, effort, prompt, tools: tools.map(({ function: { name } }) => name) };
    });
  return { session, api, getAsked, cwd, agentDir };
}

const reviewer = `---
name: reviewer
description: Reviews.
model: house/large
thinking: high
tools: [read, grep]
---
You review.`;

test("a session with an agent of a file has its prompt, tools, model and thinking level, and keeps them", async () => {
  const { session, getAsked, agentDir, cwd } = await open({ "agent/agents/r.md": reviewer }, { agentName: "reviewer" });
  await session.prompt("Hello?");
  const expected = { model: "large", effort: "high", prompt: "You review.", tools: ["read", "grep"] };
  expect(getAsked()).toEqual([expected]);
  const file = session.sessionFile!;
  await session.dispose();
  const again = await createAgentSession({ cwd, agentDir, sessionManager: await SessionManager.open(file) });
  onTestFinished(() => again.dispose());
  await again.prompt("And now?");
  expect(getAsked()[1]).toEqual(expected);
});

test("what is asked for comes before what the agent sets", async () => {
  const { session, getAsked } = await open(
    { "agent/agents/r.md": reviewer },
    { agentName: "reviewer", model: "house/tiny", thinkingLevel: "minimal", allowedTools: ["grep", "bash"] },
  );
  await session.prompt("Hello?");
  expect(getAsked()).toEqual([{ model: "tiny", effort: "minimal", prompt: "You review.", tools: ["grep"] }]);
});

test("unknown tools and models of a file are notices with the line, and the session has the default model", async () => {
  const agent = "---\ndescription: x\nmodel: gpt-99-zz\ntools: [read, reed]\n---\nYou read.";
  const { session, api, cwd } = await open({ "agent/agents/a.md": agent }, { agentName: "a" });
  const path = join(cwd, "agent/agents/a.md");
  expect(session.model?.id).toBe("usual");
  const messages = session.notices.map(({ message }) => message);
  expect(messages).toContainEqual(
    expect.stringMatching(new RegExp(`^${path}:3: .*gpt-99-zz.* of the session is used`)),
  );
  expect(messages).toContainEqual(`${path}:4: There is no tool "reed". Did you mean "read"?`);
  const info = (await api.getAgents()).find(({ name }) => name === "a");
  expect(info).toEqual({
    name: "a",
    description: "x",
    source: "user",
    path,
    model: "gpt-99-zz",
    tools: ["read", "reed"],
    isolated: false,
    problems: [expect.stringMatching(/:3: /), expect.stringMatching(/:4: .*"reed"/)],
  });
});

test("a child has what its agent sets, and of its parent what the agent leaves open", async () => {
  const { api, getAsked } = await open(
    { "agent/agents/r.md": reviewer, "agent/agents/plain.md": "You are plain." },
    { systemPrompt: "The parent's prompt.", model: "house/tiny" },
  );
  const run = async (options: object) => await (await api.openChild({ name: "x", ...options })).prompt("Look.");
  await run({ agentName: "reviewer" });
  await run({ agentName: "plain" });
  await run({ agentName: "reviewer", model: "house/usual", thinkingLevel: "medium", tools: ["read"] });
  expect(getAsked()).toEqual([
    { model: "large", effort: "high", prompt: "You review.", tools: ["read", "grep"] },
    {
      model: "tiny",
      effort: "low",
      prompt: "You are plain.",
      tools: expect.arrayContaining(["bash", "write"]) as never,
    },
    { model: "usual", effort: "medium", prompt: "You review.", tools: ["read"] },
  ]);
});

test("agents that come with tau only read, whatever their parent may do", async () => {
  const { api, getAsked } = await open({});
  await (await api.openChild({ name: "x", agentName: "explore" })).prompt("Look.");
  expect(getAsked()[0]).toMatchObject({ model: "usual", tools: ["read", "grep", "find", "ls"] });
  const agents = await api.getAgents();
  expect(agents.map(({ name, problems }) => [name, problems])).toEqual(
    ["explore", "general", "plan", "review"].map((name) => [name, []]),
  );
});

test("the tools of a parent's agent limit its children, also with other agents, and their children", async () => {
  const { session, getAsked } = await open(
    {
      "agent/agents/r.md": reviewer,
      "agent/agents/off.md": "---\ndescription: x\ndisallowedTools: grep\n---\nNo grep.",
    },
    { agentName: "reviewer" },
  );
  const child = await session.openChild({ name: "x", agentName: "off" });
  await child.prompt("Look.");
  const grandchild = await child.openChild({ name: "y", agentName: "general", tools: ["read", "grep", "bash"] });
  await grandchild.prompt("Look.");
  expect(getAsked().map(({ tools }) => tools)).toEqual([["read"], ["read"]]);
});

test("maxTurns ends a run of the agent, and the next run has as many again", async () => {
  const { session } = await open(
    { "agent/agents/a.md": "---\ndescription: x\nmaxTurns: 2\n---\nYou look." },
    { agentName: "a" },
    [calls("ls", {}), calls("ls", {}), says("Done.")],
  );
  const first = await session.prompt("Look.");
  expect(first).toMatchObject({ kind: "ran", end: { kind: "budget", limit: "turns" } });
  expect(await session.prompt("Go on.")).toMatchObject({ kind: "ran", end: { kind: "done" } });
});

const permissive = "---\ndescription: x\npolicy: permissive\n---\nYou may.";
const safe = "---\ndescription: x\npolicy: safe\n---\nYou may not.";

test("the policy of a project's agent can only restrict, and that of the user's own replaces the settings'", async () => {
  const getMode = async (files: Record<string, string>, params: AgentSessionParams = {}) => {
    const { session } = await open(files, { agentName: "a", ...params });
    return (await session.policy.describe()).mode;
  };
  expect(await getMode({ "agent/agents/a.md": permissive })).toBe("permissive");
  expect(await getMode({ ".tau/agents/a.md": permissive })).toBe("prompt");
  expect(await getMode({ ".claude/agents/a.md": safe })).toBe("strict");
  expect(await getMode({ "agent/agents/a.md": permissive }, { policyProfile: "safe" })).toBe("strict");
  expect(await getMode({ "agent/agents/a.md": safe }, { policyProfile: "permissive" })).toBe("strict");
});

test("no chain of agents has a looser policy than its root", () => {
  const define = (policyProfile: string, source: "user" | "project" | "package" | "built-in") =>
    ({ definition: { policyProfile, source } }) as never;
  const profiles = ["safe", "balanced", "permissive"];
  for (const first of profiles) {
    for (const second of profiles) {
      const root = resolvePolicyLimits({
        profile: undefined,
        logged: undefined,
        agent: define(first, "user"),
        parent: undefined,
      });
      expect(root).toEqual({ profile: first, restrictions: [] });
      const child = resolvePolicyLimits({
        profile: undefined,
        logged: undefined,
        agent: define(second, "user"),
        parent: root,
      });
      expect(child).toEqual({ profile: first, restrictions: [second] });
      const grandchild = resolvePolicyLimits({
        profile: undefined,
        logged: undefined,
        agent: undefined,
        parent: child,
      });
      expect(grandchild).toEqual(child);
    }
  }
});

test("a child with an agent has at most the policy of its parent", async () => {
  const { session } = await open({ "agent/agents/a.md": safe, "agent/agents/b.md": permissive }, { agentName: "a" });
  const child = await session.openChild({ name: "x", agentName: "b" });
  expect((await child.policy.describe()).mode).toBe("strict");
});

test("a child that is continued keeps its agent, and one whose agent there is not leaves nothing open", async () => {
  const { session, getAsked } = await open({ "agent/agents/r.md": reviewer });
  const child = await session.openChild({ name: "x", agentName: "reviewer" });
  await child.prompt("Look.");
  await child.dispose();
  const again = await session.openChild({ name: "x", sessionId: child.sessionId });
  await again.prompt("And there?");
  expect(getAsked()[1]).toEqual(getAsked()[0]);
  expect(getAsked()[1]).toMatchObject({ prompt: "You review.", tools: ["read", "grep"] });
  await expect(session.openChild({ name: "y", agentName: "reviwer" })).rejects.toThrow(/no agent "reviwer"/);
});

test("the role of an agent is a model of the settings", async () => {
  const settings = JSON.stringify({ defaultModel: "house/usual", roles: { smol: "house/tiny:minimal" } });
  const { session, api, getAsked } = await open({ "agent/settings.json": settings }, { agentName: "explore" });
  expect([session.model?.id, session.thinkingLevel]).toEqual(["tiny", "minimal"]);
  await (await api.openChild({ name: "x", agentName: "review" })).prompt("Look.");
  // The role slow has no model: that of the parent is used.
  expect(getAsked()[0]).toMatchObject({ model: "tiny", effort: "minimal" });
});

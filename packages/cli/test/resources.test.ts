import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, type ModelWorkspace, run, textReply } from "./kit.ts";
import { connect, serve } from "./rpc-kit.ts";

async function createProject(files: Record<string, string>) {
  const workspace = await createModelWorkspace(Array.from({ length: 6 }, () => textReply("ok")));
  await write(workspace.directory, files);
  return workspace;
}

async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

const getLastRequest = ({ server }: ModelWorkspace) => {
  const { tools = [], ...body } = server.requests.at(-1)!.body as { tools?: { function: { name: string } }[] };
  return { text: JSON.stringify(body), tools: tools.map((tool) => tool.function.name) };
};

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;

const agents = {
  ".agent/agents/reviewer/system-prompt.md": "You review.",
  ".agent/agents/reviewer/tools.yaml": "tools: [read]",
  ".agent/agents/writer/system-prompt.md": "You write.",
};

test("system-prompt.md, tools.yaml and resources of TAU_DIR count", async () => {
  const workspace = await createProject({
    ".agent/system-prompt.md": "You are mine.",
    ".agent/tools.yaml": "tools: [read]",
    ".agent/resources/skills/fix.md": skill("fix"),
  });
  await run(workspace, ["-p", "Hi"]);
  const { text, tools } = getLastRequest(workspace);
  expect(text).toMatch(/You are mine\..*does fix/);
  expect(tools).toEqual(["read"]);
});

test("a name in tools.yaml that is no tool's, and a tool of --tools that it leaves out, are told", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok")]);
  await writeFile(join(workspace.agentDir, "tools.yaml"), "tools: [raed, 'gr*']\n");
  const { code, err } = await run(workspace, ["-p", "Hi", "--tools", "bash,grep"]);
  expect(code).toBe(0);
  expect(err).toContain(`${join(workspace.agentDir, "tools.yaml")}: There is no tool "raed". Did you mean "read"?`);
  expect(err).toContain("The tool bash of --tools is left out");
  await writeFile(join(workspace.agentDir, "tools.yaml"), "tools: { bsh: { enabled: false }, session_branch: {} }\n");
  expect((await run(workspace, ["-p", "Hi"])).err.match(/There is no tool .*/g)).toEqual([
    expect.stringContaining('"bsh"'),
  ]);
});

test("--agent chooses a named agent, which a resumed session keeps, and which has to exist", async () => {
  const workspace = await createProject(agents);
  expect((await run(workspace, ["-p", "--agent", "reviewer", "Hi"])).code).toBe(0);
  expect(getLastRequest(workspace)).toMatchObject({ text: expect.stringContaining("You review."), tools: ["read"] });
  expect((await run(workspace, ["-p", "-c", "Again"])).code).toBe(0);
  expect(getLastRequest(workspace)).toMatchObject({ text: expect.stringContaining("You review."), tools: ["read"] });
  const other = await run(workspace, ["-p", "-c", "--agent", "writer", "Again"]);
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('uses the agent "reviewer"')]);
  const missing = await run(workspace, ["-p", "--agent", "reviwer", "Hi"]);
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining(
      'There is no agent "reviwer". Did you mean "reviewer" or "review"? There are: explore, general, plan, review, reviewer, writer.',
    ),
  ]);
  await rm(join(workspace.agentDir, "agents/reviewer"), { recursive: true });
  const gone = await run(workspace, ["-p", "-c", "Again"]);
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('There is no agent "reviewer".')]);
  expect(workspace.server.requests).toHaveLength(2);
});

test("a fork has the agent of its session, or another one that is named", async () => {
  const workspace = await createProject(agents);
  await run(workspace, ["-p", "--agent", "reviewer", "--session-id", "first", "Hi"]);
  await run(workspace, ["-p", "--fork", "first", "Again"]);
  expect(getLastRequest(workspace).tools).toEqual(["read"]);
  const missing = await run(workspace, ["-p", "--fork", "first", "--agent", "painter", "Again"]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('no agent "painter"')]);
  await run(workspace, ["-p", "--fork", "first", "--agent", "writer", "Again"]);
  expect(getLastRequest(workspace).text).toContain("You write.");
  const { out } = await run(workspace, ["sessions", "list", "--json"]);
  expect(JSON.parse(out)).toHaveLength(3);
});

test("over RPC a new session has the agent that is named, else that of the session before", async () => {
  const workspace = await createProject(agents);
  const { client } = connect(workspace, ["--agent", "writer"]);
  const getTools = async () => (await client.call("get_tools")).tools.filter(({ active }) => active).length;
  expect(await getTools()).toBeGreaterThan(1);
  await client.call("new_session", { agent: "reviewer" });
  expect(await getTools()).toBe(1);
  await client.call("new_session");
  expect(await getTools()).toBe(1);
  await expect(client.call("new_session", { agent: "painter" })).rejects.toThrow(/no agent "painter"/);
  expect(await getTools()).toBe(1);
});

test("over RPC a file that was saved counts in the next prompt, and cache_break names it", async () => {
  const workspace = await createProject({});
  const rpc = serve(workspace);
  const prompt = async (message: string, count: number) => {
    await rpc.ask("prompt", { message });
    await expect.poll(() => rpc.records.filter(({ type }) => type === "agent_settled")).toHaveLength(count);
  };
  await prompt("First.", 1);
  await write(workspace.directory, { ".agent/prompts/look.md": "Look.", "AGENTS.md": "Use tabs here." });
  const getCommands = async () => JSON.stringify(await rpc.ask("get_commands"));
  await expect.poll(getCommands).toContain('"look"');
  await rpc.ask("reload");
  await prompt("Second.", 2);
  expect(getLastRequest(workspace).text).toContain("Use tabs here.");
  const [cacheBreak] = rpc.records.filter(({ type }) => type === "cache_break");
  expect(cacheBreak).toMatchObject({ reason: expect.stringContaining(join(workspace.directory, "AGENTS.md")) });
});

test("skills and templates of a project count after trust, over RPC from the next prompt on", async () => {
  const workspace = await createProject({
    ".tau/skills/fix.md": skill("fix"),
    ".pi/skills/mend/SKILL.md": skill("mend"),
    ".agents/skills/heal/SKILL.md": skill("heal"),
    ".pi/npm/package.json": "{}",
    ".pi/settings.json": '{ "packages": ["npm:x"] } // pi',
  });
  const { err } = await run(workspace, ["-p", "Hi"]);
  expect(getLastRequest(workspace).text).not.toMatch(/does (fix|mend|heal)/);
  const [notice = "", ...others] = err.split("\n").filter((line) => line.includes("skills"));
  expect([notice, others]).toEqual([
    expect.stringMatching(/\.tau\/skills, \.pi\/skills, \.agents\/skills.*tau trust/),
    [],
  ]);
  const rpc = serve(workspace);
  await rpc.ask("set_trust", { trusted: true });
  const ignored = await rpc.seen(({ type, message }) => type === "notice" && String(message).includes(".pi/npm"));
  expect(ignored["message"]).toContain("Its settings.json, mcp.json, extensions, skills");
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_settled");
  await rpc.close();
  for (const name of ["fix", "mend", "heal"]) expect(getLastRequest(workspace).text).toContain(`does ${name}`);
  expect((await run(workspace, ["-p", "Hi"])).err).toMatch(/^.*npm:x is not installed, so it is skipped.*\n$/);
  const { out } = await run(workspace, ["trust"]);
  expect(out).toContain("tau does not use .pi/npm of");
  expect(out).toContain("Its settings.json, mcp.json, extensions, skills");
});

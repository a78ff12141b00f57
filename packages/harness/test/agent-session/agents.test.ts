import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createHost } from "../../src/host/index.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { SettingsManager } from "@tau/config/settings";
import { openDesk, temporaryDirectory } from "./desk.ts";

async function createAgents(): Promise<string> {
  const directory = await temporaryDirectory();
  const files = {
    "agent/agents/reviewer/system-prompt.md": "You review.",
    "agent/agents/reviewer/tools.yaml": "tools: [read]",
    "agent/agents/writer/system-prompt.md": "You write.",
    "agent/agents/writer/tools.yaml": "tools: [write]",
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

const getToolNames = ({ tools }: { tools: readonly { name: string }[] }) => tools.map(({ name }) => name);

test("the agent directory has the prompt, the tools and the skills of its sessions", async () => {
  const directory = await temporaryDirectory();
  const agentDir = join(directory, "my-agent");
  await mkdir(join(agentDir, "resources/skills"), { recursive: true });
  await writeFile(join(agentDir, "system-prompt.md"), "You are mine.");
  await writeFile(join(agentDir, "tools.yaml"), "tools: [read, grep]");
  await writeFile(join(agentDir, "resources/skills/fix.md"), "---\nname: fix\ndescription: repairs\n---\nDo it.");
  const { session } = await openDesk([], { cwd: directory, agentDir });
  expect(session.systemPrompt).toMatch(/^You are mine\./);
  expect(session.systemPrompt).toContain("repairs");
  expect(getToolNames(session)).toEqual(["read", "grep"]);
});

test("a session keeps its agent when it is resumed or branched, and cannot get another one", async () => {
  const cwd = await createAgents();
  const first = await openDesk([[text("one")]], { cwd, agentName: "reviewer" });
  await first.session.prompt("First.");
  const file = first.session.sessionFile!;
  const branch = await first.session.branch(first.session.sessionManager.getLeafId()!);
  expect([branch.systemPrompt.slice(0, 11), getToolNames(branch)]).toEqual(["You review.", ["read"]]);
  await branch.dispose();
  await first.session.dispose();

  const again = await openDesk([], { cwd, sessionManager: await SessionManager.open(file) });
  expect([again.session.systemPrompt.slice(0, 11), getToolNames(again.session)]).toEqual(["You review.", ["read"]]);
  await again.session.dispose();

  const sessionManager = await SessionManager.open(file);
  onTestFinished(() => sessionManager.close());
  const other = openDesk([], { cwd, agentName: "writer", sessionManager });
  await expect(other).rejects.toThrow(/uses the agent "reviewer"\. A session keeps its agent: .*fork/);
});

test("a session without a named agent cannot get one later", async () => {
  const cwd = await createAgents();
  const first = await openDesk([[text("one")]], { cwd });
  await first.session.prompt("First.");
  const file = first.session.sessionFile!;
  await first.session.dispose();
  const sessionManager = await SessionManager.open(file);
  onTestFinished(() => sessionManager.close());
  await expect(openDesk([], { cwd, agentName: "writer", sessionManager })).rejects.toThrow(/has no named agent/);
  const fork = await SessionManager.forkFrom(file, cwd, undefined, {
    agentDir: join(cwd, "agent"),
    agentName: "writer",
  });
  const { session } = await openDesk([], { cwd, sessionManager: fork });
  expect(getToolNames(session)).toEqual(["write"]);
});

test("a session whose agent is gone is not opened with other tools", async () => {
  const cwd = await createAgents();
  const first = await openDesk([[text("one")]], { cwd, agentName: "reviewer" });
  await first.session.prompt("First.");
  const file = first.session.sessionFile!;
  await first.session.dispose();
  await rm(join(cwd, "agent/agents/reviewer"), { recursive: true });
  const sessionManager = await SessionManager.open(file);
  onTestFinished(() => sessionManager.close());
  await expect(openDesk([], { cwd, sessionManager })).rejects.toThrow(
    /cannot be opened\. There is no agent "reviewer"\. .*There are: explore, general, plan, review, writer\./,
  );
});

test("one host has sessions of several agents beside each other, and creates a session like any of them", async () => {
  const cwd = await createAgents();
  const model = scriptedModel([]);
  onTestFinished(() => model.dispose());
  const agentDir = join(cwd, "agent");
  const settingsManager = SettingsManager.inMemory();
  const host = createHost({ agentDir, params: { cwd, agentDir, model, settingsManager, agentName: "writer" } });
  onTestFinished(() => host.dispose());
  const writer = await host.create();
  const reviewer = await host.create({ agentName: "reviewer" });
  const getTools = (id: string) => getToolNames(host.get(id).session);
  expect([getTools(writer), getTools(reviewer)]).toEqual([["write"], ["read"]]);
  const create = async (from: string, agent?: string) => {
    const command = { type: "new_session", ...(agent !== undefined && { agent }) } as const;
    return getTools((await host.execute(from, command)).sessionId);
  };
  expect(await create(reviewer)).toEqual(["read"]);
  expect(await create(reviewer, "writer")).toEqual(["write"]);
  await expect(create(reviewer, "painter")).rejects.toThrow(
    /no agent "painter"\. There are: explore, .*, reviewer, writer\./,
  );
});

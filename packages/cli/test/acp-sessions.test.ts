/** Sessions that an editor opens again, lists and deletes. */
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectClient, initialize, joinText, listUpdates, newSession, prompt } from "./acp-kit.ts";
import { writeExtension } from "./extension-kit.ts";
import { createModelWorkspace, type ModelWorkspace, temporaryDirectory, textReply, toolReply } from "./kit.ts";

const nothing = () => {};

async function open(workspace: ModelWorkspace) {
  const client = connectClient(workspace, nothing);
  await initialize(client.agent);
  const load = (sessionId: string, method: "session/load" | "session/resume" = "session/load") =>
    client.agent.request(method, { sessionId, cwd: workspace.directory, mcpServers: [] });
  return { ...client, load };
}

/** Runs a conversation with two calls, and ends the program. */
async function converse(workspace: ModelWorkspace): Promise<string> {
  const { agent, close } = await open(workspace);
  const { sessionId } = await newSession(agent, workspace);
  await prompt(agent, sessionId, "Change it.");
  await prompt(agent, sessionId, "/name The first one");
  await close();
  return sessionId;
}

const replies = [
  toolReply("write", { path: "n.txt", content: "new\n" }),
  toolReply("todo", { todos: [{ content: "Test it", status: "pending" }] }),
  textReply("Changed."),
  textReply("Still here."),
];

describe("session/load", () => {
  test("replays the conversation before it answers, and the session continues", async () => {
    const workspace = await createModelWorkspace(replies);
    const sessionId = await converse(workspace);
    const { agent, load, updates } = await open(workspace);
    const { modes, configOptions } = await load(sessionId);
    expect([modes?.currentModeId, configOptions?.length]).toEqual(["edit", 2]);
    expect(joinText(updates, "user_message_chunk")).toBe("Change it.");
    expect(joinText(updates)).toBe("Changed.");
    expect(listUpdates(updates, "tool_call").map(({ title, kind }) => [title, kind])).toEqual([
      ["Write n.txt", "edit"],
      ["To-do list", "think"],
    ]);
    expect(listUpdates(updates, "tool_call_update").map(({ status }) => status)).toEqual([
      "completed",
      undefined,
      "completed",
    ]);
    expect(listUpdates(updates, "plan")).toMatchObject([{ entries: [{ content: "Test it" }] }]);
    expect(listUpdates(updates, "session_info_update")).toMatchObject([{ title: "The first one" }]);
    expect(await prompt(agent, sessionId, "Are you there?")).toEqual({ stopReason: "end_turn" });
    expect(joinText(updates)).toBe("Changed.Still here.");
    expect(JSON.stringify(workspace.server.requests.at(-1)!.body)).toContain("Change it.");
  });

  test("of a session that is open shows it again", async () => {
    const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
    const { agent, load, updates } = await open(workspace);
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "Go.");
    updates.splice(0);
    await load(sessionId);
    expect(joinText(updates)).toBe("One.");
    await prompt(agent, sessionId, "More.");
    expect(joinText(updates)).toBe("One.Two.");
  });

  test("takes neither a path nor the beginning of an id", async () => {
    const workspace = await createModelWorkspace(replies);
    const sessionId = await converse(workspace);
    const { load } = await open(workspace);
    const [file] = (await readdir(join(workspace.agentDir, "sessions"), { recursive: true })).filter((name) =>
      name.endsWith(".jsonl"),
    );
    for (const wrong of [sessionId.slice(0, 12), join(workspace.agentDir, "sessions", file!), "../../etc/passwd"])
      await expect(load(wrong)).rejects.toMatchObject({ code: -32_002 });
  });

  test("of 10,000 entries replays all of them, in order", async () => {
    const workspace = await createModelWorkspace([textReply("First."), textReply("Last.")]);
    const first = await open(workspace);
    const { sessionId } = await newSession(first.agent, workspace);
    await prompt(first.agent, sessionId, "Go.");
    await first.close();
    const sessions = join(workspace.agentDir, "sessions");
    const [name] = (await readdir(sessions, { recursive: true })).filter((each) => each.endsWith(".jsonl"));
    const path = join(sessions, name!);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    let { id: parentId } = JSON.parse(lines.at(-1)!) as { id: string };
    const added: string[] = [];
    for (let index = 0; index < 10_000; index++) {
      const id = index.toString(16).padStart(8, "f");
      const message =
        index % 2 === 0
          ? { role: "user", content: `Q${index};`, timestamp: 0 }
          : {
              role: "assistant",
              content: [{ type: "text", text: `A${index};` }],
              api: "openai-completions",
              provider: "acme",
              model: "small",
              usage: {
                input: 1,
                output: 1,
                cacheRead: 0,
                cacheWrite: 0,
                totalTokens: 2,
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
              },
              stopReason: "stop",
              timestamp: 0,
            };
      added.push(JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message }));
      parentId = id;
    }
    await appendFile(path, `${added.join("\n")}\n`);
    const { agent, load, updates } = await open(workspace);
    await load(sessionId);
    const numbers = Array.from({ length: 10_000 }, (_each, index) => index);
    expect(joinText(updates, "user_message_chunk")).toBe(
      `Go.${numbers
        .filter((number) => number % 2 === 0)
        .map((number) => `Q${number};`)
        .join("")}`,
    );
    expect(joinText(updates)).toBe(
      `First.${numbers
        .filter((number) => number % 2 === 1)
        .map((number) => `A${number};`)
        .join("")}`,
    );
    expect(await prompt(agent, sessionId, "And now?")).toEqual({ stopReason: "end_turn" });
  });
});

test("session/resume opens a session without its conversation", async () => {
  const workspace = await createModelWorkspace(replies);
  const sessionId = await converse(workspace);
  const { agent, load, updates } = await open(workspace);
  expect(await load(sessionId, "session/resume")).toHaveProperty("configOptions");
  expect(joinText(updates)).toBe("");
  await prompt(agent, sessionId, "Are you there?");
  expect(joinText(updates)).toBe("Still here.");
});

test("session/list lists those of a directory or all of them, and session/delete moves one to the trash", async () => {
  const workspace = await createModelWorkspace(replies);
  const sessionId = await converse(workspace);
  const other = join(workspace.directory, "other");
  await mkdir(other);
  const { agent } = await open(workspace);
  const list = (cwd?: string) => agent.request("session/list", cwd === undefined ? {} : { cwd });
  const { sessions, nextCursor } = await list();
  expect(sessions).toMatchObject([{ sessionId, cwd: workspace.directory, title: "The first one" }]);
  expect(Date.parse(sessions[0]!.updatedAt!)).toBeGreaterThan(0);
  expect(nextCursor ?? undefined).toBeUndefined();
  expect([(await list(workspace.directory)).sessions.length, (await list(other)).sessions.length]).toEqual([1, 0]);
  await agent.request("session/delete", { sessionId });
  await agent.request("session/delete", { sessionId });
  await agent.request("session/delete", { sessionId: "never-was" });
  expect((await list()).sessions).toEqual([]);
});

test("session/list is continued after its cursor", async () => {
  const workspace = await createModelWorkspace([]);
  const sessions = join(workspace.agentDir, "sessions", "--made--");
  await mkdir(sessions, { recursive: true });
  const ids = Array.from({ length: 250 }, (_each, index) => `made-${String(index).padStart(3, "0")}`);
  for (const id of ids) {
    const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: workspace.directory };
    const entry = {
      type: "message",
      id: "aaaaaaaa",
      parentId: null,
      timestamp: header.timestamp,
      message: { role: "user", content: "Hi", timestamp: 0 },
    };
    await writeFile(
      join(sessions, `2026-01-01T00-00-00-000Z_${id}.jsonl`),
      `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`,
    );
  }
  const { agent } = await open(workspace);
  const found: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await agent.request("session/list", cursor ? { cursor } : {});
    expect(page.sessions.length).toBeLessThanOrEqual(100);
    found.push(...page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.nextCursor;
  } while (cursor);
  expect(found.toSorted()).toEqual(ids);
});

describe("session/close", () => {
  test("ends the run, answers its prompt, and the session can be loaded again", async () => {
    const workspace = await createModelWorkspace([{ kind: "raw", chunks: [], ending: "hang" }]);
    const { agent, load } = await open(workspace);
    const { sessionId } = await newSession(agent, workspace);
    const prompted = prompt(agent, sessionId, "Wait.");
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    await agent.request("session/close", { sessionId });
    expect(await prompted).toEqual({ stopReason: "cancelled" });
    await expect(prompt(agent, sessionId, "Hello?")).rejects.toMatchObject({ code: -32_002 });
    expect(await load(sessionId)).toHaveProperty("modes");
    await agent.request("session/close", { sessionId });
    await agent.request("session/close", { sessionId });
  });
});

test("tools may work in the additional directories of a session without a question", async () => {
  const root = await temporaryDirectory();
  const workspace = await createModelWorkspace([
    toolReply("write", { path: join(root, "a.txt"), content: "inside" }),
    textReply("Written."),
  ]);
  // Without a handler for permission requests, a question would deny the call.
  const { agent } = await open(workspace);
  const { sessionId } = await agent.request("session/new", {
    cwd: workspace.directory,
    mcpServers: [],
    additionalDirectories: [root],
  });
  await prompt(agent, sessionId, "Write it.");
  expect(await readFile(join(root, "a.txt"), "utf8")).toBe("inside");
});

test("MCP servers of the editor are registered in the session, like those of an extension", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(
    workspace,
    "looking",
    `tau.registerCommand("servers", { description: "Shows them", handler: async (args, ctx) => ctx.ui.notify(JSON.stringify(tau.getMcpServers())) });`,
  );
  const { agent, seen } = connectClient(workspace, nothing);
  await initialize(agent, { session: { notices: {} } });
  const open = (mcpServers: object[]) => agent.request("session/new", { cwd: workspace.directory, mcpServers });
  const { sessionId } = await open([
    { name: "files", command: "files-server", args: ["--all"], env: [{ name: "A", value: "1" }] },
    { type: "http", name: "web", url: "https://example.org/mcp", headers: [] },
  ]);
  await prompt(agent, sessionId, "/servers");
  const { title } = await seen("notice", (notice) => notice.title.startsWith("["));
  expect(JSON.parse(title)).toMatchObject([
    { name: "files", config: { command: "files-server", args: ["--all"], env: { A: "1" } } },
    { name: "web", config: { type: "http", url: "https://example.org/mcp" } },
  ]);
  await expect(open([{ type: "http", name: "web" }])).rejects.toMatchObject({ code: -32_602 });
});

test("a session is refused for a directory that is none", async () => {
  const workspace = await createModelWorkspace([]);
  const file = join(workspace.directory, "file");
  await writeFile(file, "");
  const { agent } = await open(workspace);
  for (const request of [
    { cwd: file },
    { cwd: "relative" },
    { cwd: workspace.directory, additionalDirectories: ["relative"] },
    { cwd: workspace.directory, additionalDirectories: [file] },
  ]) {
    await expect(agent.request("session/new", { mcpServers: [], ...request })).rejects.toMatchObject({ code: -32_602 });
  }
});

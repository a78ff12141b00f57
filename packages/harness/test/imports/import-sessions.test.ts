/** Sessions of other programs, as these programs wrote them, become sessions of tau. */
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complete, type Message, type Model } from "@tau/ai";
import { startWireServer, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  createDesk,
  describeMessages,
  lastUsed,
  loadSqlite,
  open,
  readMessages,
  readOpencodeRows,
  readSampleLines,
  sampleFiles,
  writeOpencodeDatabase,
  writeOpencodeFiles,
} from "./desk.ts";

type Desk = ReturnType<typeof createDesk>;

const readArguments = { "claude-code": '{"file_path":"/home/user/project/hello.txt"}' };

const conversations = {
  "claude-code": [
    "user: What is in hello.txt?",
    `assistant: (Let me look.) | I will read the file. | Read ${readArguments["claude-code"]}`,
    "toolResult: 1\thello\n2\t",
    "assistant: (Let me look.) | The file says hello.",
  ],
  codex: [
    "user: What is in hello.txt?",
    'assistant: (**Thinking** about it) | exec_command {"cmd":"cat hello.txt"}',
    expect.stringContaining("toolResult: Chunk ID"),
    "assistant: (**Thinking** about it) | The file says hello.",
  ],
  pi: [
    "user: What is in hello.txt?",
    expect.stringMatching(/^assistant: \(Let me look\.\) \| I will read the file\. \| read /),
    "toolResult: hello\n",
    "assistant: (Let me look.) | The file says hello.",
  ],
};

describe.each(Object.keys(sampleFiles) as (keyof typeof sampleFiles)[])("a session of %s", (tool) => {
  test("becomes ours, with calls, results, thinking and usage, in the directory that it was about", async () => {
    const desk = createDesk();
    desk.copySample(tool);
    const { outcomes, imported } = await desk.run();
    expect(outcomes).toEqual([expect.objectContaining({ kind: "imported", notes: [] })]);
    const { path } = outcomes[0] as { path: string };
    const session = await open(path, desk.agentDir);
    expect(session.getCwd()).toBe("/home/user/project");
    expect(session.id).toBe(imported[0]!.session.id);
    expect(path).toContain(join("sessions", "--home-user-project--"));
    const messages = await readMessages(session);
    expect(describeMessages(messages).slice(0, 4)).toEqual(conversations[tool]);
    expect(messages).toHaveLength(8);
    const [, first] = messages;
    expect(first).toMatchObject({ role: "assistant", stopReason: "toolUse" });
    expect((first as { usage: { totalTokens: number; output: number } }).usage).toMatchObject(
      tool === "codex"
        ? { input: 60, cacheRead: 40, output: 20, reasoning: 8, totalTokens: 120 }
        : { input: 12, cacheRead: 7, cacheWrite: 5, output: 42 },
    );
    // Lists show when it was used, not when it was imported.
    expect(statSync(path).mtime).toEqual(lastUsed);
  });

  test("is imported at most once, and gets what was added to it since", async () => {
    const desk = createDesk();
    const lines = readSampleLines(tool);
    const half = lines.findIndex((line) => line.includes("And again?"));
    desk.write(tool, sampleFiles[tool], lines.slice(0, half));
    const first = (await desk.run()).outcomes[0] as { path: string; entries: number };
    expect((await desk.run()).outcomes).toEqual([{ kind: "unchanged", path: first.path }]);
    const before = readFileSync(first.path);
    desk.write(tool, sampleFiles[tool], lines);
    const [second] = (await desk.run()).outcomes;
    expect(second).toMatchObject({ kind: "extended", path: first.path });
    // What was there stays as it was.
    expect(readFileSync(first.path).subarray(0, before.length).equals(before)).toBe(true);
    const session = await open(first.path, desk.agentDir);
    expect(await readMessages(session)).toHaveLength(8);
    await session.close();

    const whole = createDesk();
    whole.copySample(tool);
    const path = ((await whole.run()).outcomes[0] as { path: string }).path;
    const atOnce = await readMessages(await open(path, whole.agentDir));
    expect(describeMessages(await readMessages(await open(first.path, desk.agentDir)))).toEqual(
      describeMessages(atOnce),
    );
    expect((await desk.run()).outcomes[0]).toMatchObject({ kind: "unchanged" });
  });

  test("is never touched again once it was continued here", async () => {
    const desk = createDesk();
    const lines = readSampleLines(tool);
    const half = lines.findIndex((line) => line.includes("And again?"));
    desk.write(tool, sampleFiles[tool], lines.slice(0, half));
    const { path } = (await desk.run()).outcomes[0] as { path: string };
    const session = await SessionManager.open(path, { agentDir: desk.agentDir });
    await session.appendMessage({ role: "user", content: "And here?", timestamp: 1 });
    await session.close();
    const before = readFileSync(path);
    desk.write(tool, sampleFiles[tool], lines);
    expect((await desk.run()).outcomes).toEqual([{ kind: "continued", path }]);
    // Also where nobody remembers that it was imported.
    rmSync(join(desk.agentDir, "imports.json"));
    expect((await desk.run()).outcomes).toEqual([{ kind: "continued", path }]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("is continued by the next import if this one was killed, although nothing was recorded", async () => {
    const desk = createDesk();
    desk.copySample(tool);
    const { path } = (await desk.run()).outcomes[0] as { path: string };
    const whole = readFileSync(path);
    const lines = whole.toString("utf8").split("\n");
    rmSync(join(desk.agentDir, "imports.json"));
    writeFileSync(path, `${lines.slice(0, 4).join("\n")}\n`);
    expect((await desk.run()).outcomes[0]).toMatchObject({ kind: "extended", path });
    expect(readFileSync(path).equals(whole)).toBe(true);
  });

  test("does not come back after it was deleted here", async () => {
    const desk = createDesk();
    desk.copySample(tool);
    const { path } = (await desk.run()).outcomes[0] as { path: string };
    rmSync(path);
    expect((await desk.run()).outcomes).toEqual([{ kind: "deleted" }]);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["anthropic-messages", "anthropic", "claude-opus-4-8"],
    ["openai-responses", "openai", "gpt-5"],
    ["openai-completions", "acme", "small"],
    ["google-generative-ai", "google", "gemini"],
  ] as const)("can be sent to a model over %s", async (api, provider, id) => {
    const desk = createDesk();
    desk.copySample(tool);
    await expectAccepted(desk, { api, provider, id });
  });
});

/** Sends the first session to a server, and checks what it would refuse: signatures of others, calls without results. */
async function expectAccepted(
  desk: Desk,
  {
    api,
    provider,
    id,
  }: {
    api: "anthropic-messages" | "openai-responses" | "openai-completions" | "google-generative-ai";
    provider: string;
    id: string;
  },
) {
  const { path } = (await desk.run()).outcomes[0] as { path: string };
  const messages = await readMessages(await open(path, desk.agentDir));
  const server = await startWireServer(api, [{ kind: "answer", answer: { content: [text("Fine.")] } }]);
  onTestFinished(() => server.close());
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const limits = { contextWindow: 100_000, maxTokens: 1_000 };
  const model: Model = {
    id,
    name: id,
    api,
    provider,
    baseUrl: server.url,
    reasoning: true,
    input: ["text", "image"],
    cost,
    ...limits,
  };
  const prompt: Message = { role: "user", content: "Go on.", timestamp: 1 };
  const answer = await complete(model, { messages: [...messages, prompt] }, { apiKey: "key" });
  expect(answer.stopReason).toBe("stop");
  const body = JSON.stringify(server.requests[0]!.body);
  expect(body).toContain("hello.txt");
  // The signatures that the samples have.
  expect(body).not.toMatch(/c2lnbmF0dXJl|ZW5j/);
  const getIds = (pattern: RegExp) => [...body.matchAll(pattern)].map(([, callId]) => callId);
  const patterns = {
    "anthropic-messages": [/"type":"tool_use","id":"([^"]+)"/g, /"tool_use_id":"([^"]+)"/g],
    "openai-responses": [
      /"type":"function_call",[^}]*?"call_id":"([^"]+)"/g,
      /"type":"function_call_output","call_id":"([^"]+)"/g,
    ],
    "openai-completions": [/"tool_calls":\[\{"id":"([^"]+)"/g, /"tool_call_id":"([^"]+)"/g],
    "google-generative-ai": [/"functionCall":\{"name":"([^"]+)"/g, /"functionResponse":\{"name":"([^"]+)"/g],
  }[api];
  const [calls, results] = patterns.map((pattern) => getIds(pattern));
  expect(calls!.length).toBeGreaterThan(0);
  expect(results).toEqual(calls);
}

const opencodeConversation = [
  'user: "What is in hello.txt?"',
  'assistant: (Let me look.) | I will read the file. | read {"filePath":"/home/user/project/hello.txt","path":"hello.txt"}',
  expect.stringContaining("toolResult: <path>/home/user/project/hello.txt</path>"),
  "assistant: (Let me look.) | The file says hello.",
];

const sqlite = loadSqlite();

describe.each([
  ["the files of opencode", (directory: string) => writeOpencodeFiles(directory, readOpencodeRows())],
  ...(sqlite
    ? [
        [
          "the database of opencode",
          (directory: string) => writeOpencodeDatabase(directory, readOpencodeRows(), sqlite),
        ] as const,
      ]
    : []),
] as const)("%s", (_name, write) => {
  test("become sessions, once", async () => {
    const desk = createDesk();
    write(join(desk.root, "opencode"));
    const { outcomes } = await desk.run();
    expect(outcomes).toEqual([expect.objectContaining({ kind: "imported", notes: [] })]);
    const { path } = outcomes[0] as { path: string };
    const session = await open(path, desk.agentDir);
    expect(await session.getSessionName()).toBe("The file says hello.");
    const messages = await readMessages(session);
    expect(describeMessages(messages).slice(0, 4)).toEqual(opencodeConversation);
    expect(messages).toHaveLength(8);
    expect(messages[1]).toMatchObject({
      provider: "fake",
      model: "m1",
      usage: { input: 60, cacheRead: 40, output: 20 },
    });
    expect((await desk.run()).outcomes).toEqual([{ kind: "unchanged", path }]);
  });
});

test("a session of opencode grows, and what was changed there in between becomes another branch", async () => {
  const desk = createDesk();
  const rows = readOpencodeRows();
  const opencode = join(desk.root, "opencode");
  const call = rows.part.find(({ data }) => (data as { type: string }).type === "tool")!;
  const { data } = call as { data: { state: { status: string } } };
  // As it is while the tool runs.
  const running = {
    ...rows,
    message: rows.message.slice(0, 2),
    part: rows.part.map((row) =>
      row === call ? { ...row, data: { ...data, state: { ...data.state, status: "running" } } } : row,
    ),
  };
  writeOpencodeFiles(opencode, running);
  const { path } = (await desk.run()).outcomes[0] as { path: string };
  const first = await open(path, desk.agentDir);
  expect(describeMessages(await readMessages(first)).at(-1)).toContain("toolResult: The result of this call is not in");
  await first.close();
  rows.session[0]!["time_updated"] = 1_900_000_000_000;
  writeOpencodeFiles(opencode, rows);
  expect((await desk.run()).outcomes[0]).toMatchObject({ kind: "extended", path });
  const messages = await readMessages(await open(path, desk.agentDir));
  expect(describeMessages(messages).slice(0, 4)).toEqual(opencodeConversation);
  expect(messages).toHaveLength(8);
});

test("a database that cannot be read is named, with what to do", async () => {
  const desk = createDesk();
  desk.write("opencode", "opencode.db", ["SQLite format 3 but not really"]);
  const { skipped } = await desk.run();
  const reason = sqlite ? /^cannot be read: / : /from version 22\.13 on .* Start tau with a newer Node$/;
  expect(skipped).toEqual([
    { tool: "opencode", path: join(desk.root, "opencode", "opencode.db"), reason: expect.stringMatching(reason) },
  ]);
});

test("sessions go to the directory of the settings, if there is one", async () => {
  const desk = createDesk();
  desk.copySample("pi");
  const sessionDir = join(desk.root, "all");
  const { path } = (await desk.run({ sessionDir })).outcomes[0] as { path: string };
  expect(path.startsWith(sessionDir)).toBe(true);
});

test("an import that is aborted keeps what it has, and the next one does the rest", async () => {
  const desk = createDesk();
  desk.copySample("pi");
  desk.copySample("codex");
  const abort = new AbortController();
  const onProgress = () => abort.abort();
  await expect(desk.run({ signal: abort.signal, onProgress })).rejects.toThrow("aborted");
  const kinds = (await desk.run()).outcomes.map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["imported", "unchanged"]);
});

test("a session that another process has open is left alone, and imported later", async () => {
  const desk = createDesk();
  const lines = readSampleLines("pi");
  desk.write("pi", sampleFiles.pi, lines.slice(0, 7));
  const { path } = (await desk.run()).outcomes[0] as { path: string };
  const holder = await SessionManager.open(path, { agentDir: desk.agentDir });
  appendFileSync(join(desk.root, "pi", sampleFiles.pi), `${lines.slice(7).join("\n")}\n`);
  expect((await desk.run()).outcomes[0]).toMatchObject({
    kind: "failed",
    message: expect.stringContaining("another process"),
  });
  await holder.close();
  expect((await desk.run()).outcomes[0]).toMatchObject({ kind: "extended" });
});

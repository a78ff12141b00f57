/** Converts lines that the samples do not have. Their forms are those of the programs' documents and older versions. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDesk, describeMessages, open, readMessages } from "./desk.ts";

type Desk = ReturnType<typeof createDesk>;

/** Imports the one session there is, and returns its messages in short, and what was noted. */
async function importOne(desk: Desk) {
  const { outcomes } = await desk.run();
  expect(outcomes).toHaveLength(1);
  const outcome = outcomes[0]!;
  if (outcome.kind !== "imported" && outcome.kind !== "extended") throw new Error(JSON.stringify(outcome));
  const session = await open(outcome.path, desk.agentDir);
  const messages = await readMessages(session);
  return { session, messages, short: describeMessages(messages), notes: outcome.notes };
}

describe("Claude Code", () => {
  const file = "projects/-p/11111111-2222-4333-8444-555555555555.jsonl";
  const base = { cwd: "/p", sessionId: "s", timestamp: "2026-01-02T03:04:05.678Z", isSidechain: false };
  const user = (uuid: string, parentUuid: string | null, content: unknown, more = {}) => ({
    ...base,
    type: "user",
    uuid,
    parentUuid,
    message: { role: "user", content },
    ...more,
  });
  const assistant = (uuid: string, parentUuid: string | null, id: string, block: object, more = {}) => ({
    ...base,
    type: "assistant",
    uuid,
    parentUuid,
    message: { id, model: "claude-x", content: [block], usage: { input_tokens: 3, output_tokens: 4 } },
    ...more,
  });
  const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: id } });
  const result = (id: string, content: unknown = `out ${id}`) => ({ type: "tool_result", tool_use_id: id, content });
  const say = (text: string) => ({ type: "text", text });

  test("calls side by side and their results follow each other, and the usage of an answer counts once", async () => {
    const desk = createDesk();
    desk.write("claude-code", file, [
      user("u1", null, "go"),
      assistant("a1", "u1", "m1", use("t1")),
      assistant("a2", "a1", "m1", use("t2")),
      user("r2", "a2", [result("t2")]),
      // Written beside the other, and not behind it.
      user("r1", "a1", [result("t1")]),
      assistant("a3", "r2", "m2", say("done")),
    ]);
    const { short, messages } = await importOne(desk);
    expect(short).toEqual([
      "user: go",
      'assistant: Bash {"command":"t1"} | Bash {"command":"t2"}',
      "toolResult: out t2",
      "toolResult: out t1",
      "assistant: done",
    ]);
    const usage = messages.map((message) => (message.role === "assistant" ? message.usage.input : 0));
    expect(usage).toEqual([0, 3, 0, 0, 3]);
  });

  test("an answer that goes on after a result of its own is two answers, with the usage of one", async () => {
    const desk = createDesk();
    desk.write("claude-code", file, [
      user("u1", null, "go"),
      assistant("a1", "u1", "m1", use("t1")),
      user("r1", "a1", [result("t1")]),
      assistant("a2", "a1", "m1", use("t2")),
      user("r2", "a2", [result("t2")]),
    ]);
    const { short, messages } = await importOne(desk);
    expect(short.map((line) => line.split(":")[0])).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
    ]);
    expect(messages[3]).toMatchObject({ usage: { totalTokens: 0 } });
  });

  test("a call that was interrupted gets a result, before what follows it and at the end", async () => {
    const desk = createDesk();
    desk.write("claude-code", file, [
      user("u1", null, "go"),
      assistant("a1", "u1", "m1", use("t1")),
      user("u2", "a1", "stop that"),
      assistant("a2", "u2", "m2", use("t2")),
    ]);
    const { short, messages } = await importOne(desk);
    expect(short.map((line) => line.split(":")[0])).toEqual(
      "user assistant toolResult user assistant toolResult".split(" "),
    );
    expect(messages[2]).toMatchObject({ toolCallId: "t1", toolName: "Bash", isError: true });
    expect(messages[5]).toMatchObject({ toolCallId: "t2", isError: true });
  });

  test("the branch that was used last is shown, the others are kept", async () => {
    const desk = createDesk();
    desk.write("claude-code", file, [
      user("u1", null, "one"),
      assistant("a1", "u1", "m1", say("first")),
      user("u2", "a1", "two"),
      // The user went back.
      user("u3", "a1", "three"),
      assistant("a3", "u3", "m3", say("third")),
    ]);
    const { short, session } = await importOne(desk);
    expect(short).toEqual(["user: one", "assistant: first", "user: three", "assistant: third"]);
    expect(session.getEntryCount()).toBe(5);
  });

  test("a summary becomes a compaction, and lines that were copied for it count once", async () => {
    const desk = createDesk();
    const boundary = { ...base, type: "system", subtype: "compact_boundary", uuid: "b", parentUuid: null };
    desk.write("claude-code", file, [
      user("u1", null, "one"),
      assistant("a1", "u1", "m1", say("first")),
      { ...boundary, logicalParentUuid: "a1", compactMetadata: { trigger: "auto", preTokens: 1234 } },
      user("s", "b", "The summary.", { isCompactSummary: true }),
      user("u1", null, "one"),
      user("u2", "s", "two"),
    ]);
    const { short, session } = await importOne(desk);
    expect(short).toEqual([expect.stringContaining("The summary."), "user: two"]);
    expect(session.getEntryCount()).toBe(4);
  });

  test("images stay, and what was left out is counted", async () => {
    const desk = createDesk();
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } };
    desk.write("claude-code", file, [
      user("u1", null, [
        say("look"),
        image,
        { type: "document", source: {} },
        { type: "image", source: { type: "url" } },
      ]),
      assistant("a1", "u1", "m1", use("t1")),
      user("r1", "a1", [result("t1", [say("a picture"), image]), result("nobody")]),
      assistant("a2", "r1", "m2", say("(an error of the API)"), {
        message: { id: "m2", model: "<synthetic>", content: [say("no")] },
      }),
      assistant("x1", "r1", "mx", say("of a sub-agent"), { isSidechain: true }),
      user("u2", "a2", "a caveat", { isMeta: true }),
      { type: "something-new", uuid: "n", parentUuid: "u2", content: 1 },
      user("u3", "n", "next"),
      { type: "ai-title", aiTitle: "A title" },
    ]);
    const { short, session, notes } = await importOne(desk);
    expect(short).toEqual([
      "user: look | image",
      'assistant: Bash {"command":"t1"}',
      "toolResult: a picture | image",
      "user: a caveat",
      "user: next",
    ]);
    expect(await session.getSessionName()).toBe("A title");
    expect(
      notes.map(({ message, count }) => `${count} ${message.split(" ").slice(0, 4).join(" ")}`).toSorted(),
    ).toEqual([
      "1 a document that was",
      "1 a line of an",
      "1 a message of a",
      "1 a result has no",
      "1 an image is left",
    ]);
  });
});

describe("codex", () => {
  const file = "sessions/2025/05/06/rollout-2025-05-06T07-08-09-0196a1b2-0000-4000-8000-000000000000.jsonl";
  const line = (type: string, payload: object) => ({ timestamp: "2025-05-06T07:08:10.000Z", type, payload });
  const meta = line("session_meta", {
    id: "x",
    timestamp: "2025-05-06T07:08:09.000Z",
    cwd: "/p",
    model_provider: "openai",
  });
  const item = (payload: object) => line("response_item", payload);
  const prompt = (text: string) => item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
  const answer = (text: string) =>
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });

  test("the first version had no envelope", async () => {
    const desk = createDesk();
    desk.write("codex", file, [
      { id: "x", timestamp: "2025-05-06T07:08:09.000Z", instructions: null },
      { record_type: "state" },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>\n</environment_context>" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
      { type: "local_shell_call", call_id: "c1", action: { type: "exec", command: ["ls"] } },
      { type: "function_call_output", call_id: "c1", output: '{"output":"a\\nb","metadata":{"exit_code":2}}' },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
    ]);
    const { short, messages, session } = await importOne(desk);
    expect(short).toEqual([
      "user: go",
      'assistant: shell {"type":"exec","command":["ls"]}',
      "toolResult: a\nb",
      "assistant: done",
    ]);
    expect(messages[2]).toMatchObject({ isError: true });
    expect(session.getCwd()).toBe(join(desk.root, "fallback"));
  });

  test("prompts that were taken back are on another branch, and a summary is a compaction", async () => {
    const desk = createDesk();
    const usage = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 5 };
    desk.write("codex", file, [
      meta,
      line("turn_context", { model: "gpt-5" }),
      prompt("one"),
      answer("first"),
      line("event_msg", { type: "token_count", info: { last_token_usage: usage } }),
      prompt("two"),
      answer("second"),
      line("event_msg", { type: "thread_rolled_back", num_turns: 1 }),
      prompt("three"),
      item({ type: "custom_tool_call", call_id: "p", name: "apply_patch", input: "*** Begin Patch" }),
      item({
        type: "custom_tool_call_output",
        call_id: "p",
        output: [{ type: "input_image", image_url: "data:image/png;base64,iVBORw0=" }],
      }),
    ]);
    const first = await importOne(desk);
    expect(first.short).toEqual([
      "user: one",
      "assistant: first",
      "user: three",
      'assistant: apply_patch {"input":"*** Begin Patch"}',
      "toolResult: image",
    ]);
    expect(first.messages[1]).toMatchObject({ model: "gpt-5", usage: { input: 6, cacheRead: 4, output: 5 } });

    const other = createDesk();
    other.write("codex", file, [
      meta,
      prompt("one"),
      answer("first"),
      line("compacted", { message: "" }),
      prompt("two"),
      line("compacted", { message: "In short." }),
      prompt("three"),
    ]);
    expect((await importOne(other)).short).toEqual([expect.stringContaining("In short."), "user: three"]);
  });
});

test("opencode: what was taken back is left out, a summary is a compaction, and an answer with several steps is several", async () => {
  const desk = createDesk();
  const write = (path: string, value: unknown) => desk.write("opencode", `storage/${path}`, [JSON.stringify(value)]);
  const time = { created: 1_700_000_000_000, updated: 1_700_000_000_000 };
  write("session/p/ses_1.json", { id: "ses_1", directory: "/p", title: "T", time, revert: { messageID: "msg_5" } });
  const message = (id: string, info: object, parts: object[]) => {
    write(`message/ses_1/${id}.json`, { ...info, time });
    for (const [index, part] of parts.entries()) write(`part/${id}/prt_${index}.json`, part);
  };
  const tool = (callID: string, state: object) => ({
    type: "tool",
    tool: "bash",
    callID,
    state: { input: { n: callID }, ...state },
  });
  const text = (value: string) => ({ type: "text", text: value });
  message("msg_1", { role: "user" }, [text("old")]);
  message("msg_2", { role: "assistant", summary: true }, [text("In short.")]);
  message("msg_3", { role: "user" }, [
    text("go"),
    { type: "file", mime: "image/png", url: "data:image/png;base64,iVBORw0=" },
  ]);
  message("msg_4", { role: "assistant", providerID: "acme", modelID: "m" }, [
    { type: "step-start" },
    tool("c1", { status: "completed", output: "one" }),
    tool("c2", { status: "error", error: "no" }),
    {
      type: "step-finish",
      reason: "tool-calls",
      tokens: { input: 1, output: 2, cache: { read: 3, write: 4 } },
      cost: 0.5,
    },
    { type: "step-start" },
    text("done"),
  ]);
  message("msg_5", { role: "user" }, [text("never mind")]);
  const { short, messages } = await importOne(desk);
  expect(short).toEqual([
    expect.stringContaining("In short."),
    "user: go | image",
    'assistant: bash {"n":"c1"} | bash {"n":"c2"}',
    "toolResult: one",
    "toolResult: no",
    "assistant: done",
  ]);
  expect(messages[2]).toMatchObject({
    usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } },
  });
  expect(messages[4]).toMatchObject({ isError: true });
});

test("oh-my-pi: images come from its store, and its own kinds of lines do not break the branch", async () => {
  const desk = createDesk();
  const bytes = Buffer.from("an image");
  const hash = createHash("sha256").update(bytes).digest("hex");
  mkdirSync(join(desk.root, "omp", "blobs"), { recursive: true });
  writeFileSync(join(desk.root, "omp", "blobs", hash), bytes);
  const entry = (id: string, parentId: string | null, fields: object) => ({
    id,
    parentId,
    timestamp: "2026-02-16T10:20:30.000Z",
    ...fields,
  });
  const user = (content: unknown) => ({ type: "message", message: { role: "user", content, timestamp: 1 } });
  const image = (data: string) => ({ type: "image", mimeType: "image/png", data });
  desk.write("omp", "sessions/-p/2026-02-16T10-20-30-000Z_1f9d2a6b9c0d1234.jsonl", [
    { type: "title", title: "A title", pad: " ".repeat(100) },
    { type: "session", version: 3, id: "1f9d2a6b9c0d1234", timestamp: "2026-02-16T10:20:30.000Z", cwd: "/p" },
    entry("aaaaaaa1", null, user("before")),
    entry("aaaaaaa2", "aaaaaaa1", { type: "reset_boundary" }),
    entry("aaaaaaa3", "aaaaaaa2", { type: "model_change", model: "openai/gpt-4o", role: "default" }),
    entry("aaaaaaa4", "aaaaaaa3", { type: "service_tier_change", serviceTier: null }),
    entry(
      "aaaaaaa5",
      "aaaaaaa4",
      user([
        { type: "text", text: "look" },
        image(`blob:sha256:${hash}`),
        image(`blob:sha256:${"0".repeat(64)}`),
        image("blob:sha256:../../x"),
      ]),
    ),
  ]);
  const { messages, session, notes } = await importOne(desk);
  expect(messages).toHaveLength(1);
  expect(messages[0]!.content).toMatchObject([
    { text: "look" },
    { type: "image", data: bytes.toString("base64") },
    { type: "text", text: expect.stringContaining("was lost") },
    { data: "blob:sha256:../../x" },
  ]);
  expect(await session.getSessionName()).toBe("A title");
  expect(notes).toEqual([{ count: 1, message: expect.stringContaining("an image is left out") }]);
  const [model] = await session.getBranch();
  expect(model).toMatchObject({ type: "model_change", provider: "openai", modelId: "gpt-4o", parentId: null });
});

test("pi: a session of its first version, without ids, is imported and grows", async () => {
  const desk = createDesk();
  const file = "sessions/--p--/2025-01-01T00-00-00-000Z_0193-old.jsonl";
  const header = { type: "session", id: "0193-old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/p" };
  const say = (text: string) => ({
    type: "message",
    timestamp: "2025-01-01T00:00:01.000Z",
    message: { role: "user", content: text, timestamp: 1 },
  });
  desk.write("pi", file, [header, say("one"), say("two")]);
  expect((await importOne(desk)).short).toEqual(["user: one", "user: two"]);
  desk.write("pi", file, [header, say("one"), say("two"), say("three")]);
  expect((await importOne(desk)).short).toEqual(["user: one", "user: two", "user: three"]);
});

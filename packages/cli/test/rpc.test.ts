import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import fc from "fast-check";
import { commandNames } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { toolReply, type ModelWorkspace, createModelWorkspace, textReply, temporaryDirectory } from "./kit.ts";
import { connect, type Json, serve } from "./rpc-kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

/** Resolves when the model has got this many requests. */
async function waitForRequests({ requests }: ModelWorkspace["server"], count: number): Promise<void> {
  while (requests.length < count) await new Promise(setImmediate);
}

const isResponse = (record: Json) => record["type"] === "response";
const getTypes = (records: readonly Json[]) => records.map(({ type }) => type);

describe("pi's framing", () => {
  test("a run is sent as events of the engine, with deltas, and ends in agent_settled", async () => {
    const workspace = await createModelWorkspace([toolReply("ls"), textReply("Done.")]);
    const { ask, seen, records } = serve(workspace);
    expect(await ask("prompt", { message: "Look." })).toEqual({
      id: "kit-1",
      type: "response",
      command: "prompt",
      success: true,
      data: { disposition: "started" },
    });
    expect(await seen(({ type }) => type === "agent_settled")).toEqual({ type: "agent_settled", aborted: false });
    const events = records.filter((record) => !isResponse(record));
    const asides = ["message_update", "entry_appended", "model_changed", "cache_break", "tool_execution_update"];
    expect(getTypes(events).filter((type) => !asides.includes(String(type)))).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_end",
      "tool_execution_start",
      "tool_execution_end",
      "message_start",
      "message_end",
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    const updates = events.filter(({ type }) => type === "message_update");
    expect(updates.length).toBeGreaterThan(3);
    for (const update of updates) {
      expect(Object.keys(update)).toEqual(["type", "usage", "assistantMessageEvent"]);
      expect(update["assistantMessageEvent"]).not.toHaveProperty("partial");
    }
    const call = updates.map((update) => update["assistantMessageEvent"] as Json);
    expect(call.find(({ type }) => type === "toolcall_start")).toMatchObject({ contentIndex: 0, toolName: "ls" });
    expect(events.find(({ type }) => type === "agent_end")).toMatchObject({ willRetry: false });
  });

  test("a client can send a prompt as soon as it gets the end of a run", async () => {
    const workspace = await createModelWorkspace([textReply("One."), textReply("Two."), textReply("Three.")]);
    const { send, seen, records, close } = serve(workspace);
    for (const turn of [1, 2, 3]) {
      send({ id: `p${turn}`, type: "prompt", message: "Say it." });
      await seen(() => records.filter(({ type }) => type === "agent_end").length === turn);
    }
    await close();
    expect(records.filter(isResponse).map(({ success }) => success)).toEqual([true, true, true]);
  });

  test("an approval question is sent as a dialog, and only yes allows", async () => {
    // A link: its name does not tell where it leads.
    const read = toolReply("read", { path: "notes.txt" });
    const workspace = await createModelWorkspace([read, textReply("One."), read, textReply("Two.")]);
    await symlink("/etc/hostname", join(workspace.directory, "notes.txt"));
    const { ask, send, seen, records } = serve(workspace);
    for (const [count, confirmed] of [true, false].entries()) {
      records.splice(0);
      await ask("prompt", { message: "Read it." });
      const question = await seen(({ type }) => type === "extension_ui_request");
      expect(question).toMatchObject({ method: "confirm", title: "Allow read?", timeout: 30_000 });
      expect(question["message"]).toBe(
        "Read notes.txt\nReading /etc/hostname needs permission: it is outside the workspace.",
      );
      send({ type: "extension_ui_response", id: question["id"], confirmed });
      await seen(({ type }) => type === "agent_settled");
      const name = (await readFile("/etc/hostname", "utf8")).trim();
      const result = JSON.stringify(records.find(({ type }) => type === "tool_execution_end"));
      expect([count, result.includes(name)]).toEqual([count, confirmed]);
    }
  });

  test("a question that nobody answers is denied when its time is over, and the run goes on", async () => {
    const read = toolReply("read", { path: "/etc/hostname" });
    const workspace = await createModelWorkspace([read, textReply("Without it, then.")]);
    const settings = { defaultModel: "acme/small", approvals: { timeoutMs: 20 } };
    await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
    const { ask, seen } = serve(workspace);
    expect(await ask("execute", { prompt: "Read it." })).toMatchObject({ data: { answer: "Without it, then." } });
    expect(await seen(({ type }) => type === "extension_ui_request")).toMatchObject({ timeout: 20 });
    expect(await seen(({ type }) => type === "approval_resolved")).toMatchObject({ decision: "denied", by: "timeout" });
  });

  test("a message begins empty, and its deltas are all of it, however fast it arrives", async () => {
    const answer = "All of it at once. ".repeat(50);
    const workspace = await createModelWorkspace([textReply(answer)]);
    const { ask, records } = serve(workspace);
    await ask("execute", { prompt: "Say it." });
    const isAnswer = ({ message }: Json) => (message as Json | undefined)?.["role"] === "assistant";
    const [start, end] = ["message_start", "message_end"].map((name) =>
      records.find((record) => record["type"] === name && isAnswer(record)),
    );
    expect(start!["message"]).toMatchObject({ content: [], stopReason: "pending" });
    expect(end!["message"]).toMatchObject({ content: [{ type: "text", text: answer }], stopReason: "stop" });
    const deltas = records.flatMap(({ assistantMessageEvent }) => (assistantMessageEvent as Json)?.["delta"] ?? []);
    expect(deltas.join("")).toBe(answer);
  });

  test("each update of a command has its whole output so far", async () => {
    const command = "echo one; until [ -e two ]; do sleep 0.02; done; echo two >&2";
    const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("Done.")]);
    const { ask, seen, records } = serve(workspace);
    await ask("prompt", { message: "Count." });
    await seen(({ type }) => type === "tool_execution_update");
    await writeFile(join(workspace.directory, "two"), "");
    await seen(({ type }) => type === "agent_settled");
    const updates = records.filter(({ type }) => type === "tool_execution_update");
    expect(updates.at(-1)!["partialResult"]).toMatchObject({ content: [{ type: "text", text: "one\ntwo\n" }] });
  });

  test("the output of bash is that of the command, and nothing else", async () => {
    const { ask } = serve(await createModelWorkspace([]));
    const outputs: [command: string, data: object][] = [
      ["true", { output: "", exitCode: 0, truncated: false }],
      ["echo no; exit 3", { output: "no\n", exitCode: 3, truncated: false }],
      ["printf 'no break'", { output: "no break", exitCode: 0, truncated: false }],
      ["echo", { output: "\n", exitCode: 0, truncated: false }],
      ["printf 'two\\n\\n'", { output: "two\n\n", exitCode: 0, truncated: false }],
      ["kill -TERM $$", { output: "", truncated: false }],
      ["seq 3000", { output: expect.stringMatching(/^[\d\n]+\n3000\n$/), exitCode: 0, truncated: true }],
    ];
    for (const [command, data] of outputs) expect((await ask("bash", { command }))["data"]).toMatchObject(data);
  });

  test("bash is in the log when it is answered, also during a run, and the model is told after the run", async () => {
    const wait = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
    const workspace = await createModelWorkspace([wait, textReply("Done."), textReply("I see.")]);
    const { ask, seen } = serve(workspace);
    const { data: state } = await ask("get_state");
    const readLog = () => readFile((state as { sessionFile: string }).sessionFile, "utf8");
    await ask("prompt", { message: "Wait." });
    await seen(({ type }) => type === "tool_execution_start");
    expect(await ask("bash", { command: "echo quin''ce" })).toMatchObject({ data: { output: "quince\n" } });
    expect(await readLog()).toContain('"output":"quince"');
    await writeFile(join(workspace.directory, "go"), "");
    await seen(({ type }) => type === "agent_settled");
    expect(await ask("bash", { command: "echo med''lar" })).toMatchObject({ data: { output: "medlar\n" } });
    expect(await readLog()).toContain('"output":"medlar"');
    await ask("execute", { prompt: "And?" });
    const { requests } = workspace.server;
    expect(JSON.stringify(requests[1]?.body)).not.toContain("quince");
    expect(JSON.stringify(requests[2]?.body).match(/quince|medlar/g)).toEqual(["quince", "medlar"]);
  });

  test("retries, names, queues and compactions are sent in the form of pi", async () => {
    const workspace = await createModelWorkspace([
      { kind: "status", status: 503 },
      toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" }),
      textReply("Done."),
      textReply("## Summary\nAll of it."),
      textReply("## Summary\nThe beginning of it."),
    ]);
    const settings = {
      defaultModel: "acme/small",
      retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 },
      compaction: { enabled: true, keepRecentTokens: 1, reserveTokens: 2_000 },
    };
    await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
    const { ask, seen, records } = serve(workspace);
    await ask("prompt", { message: `Wait. ${"And wait. ".repeat(2_000)}` });
    await seen(({ type }) => type === "tool_execution_start");
    await ask("steer", { message: "Hurry." });
    expect(await seen(({ type }) => type === "queue_update")).toEqual({
      type: "queue_update",
      steering: ["Hurry."],
      followUp: [],
    });
    await writeFile(join(workspace.directory, "go"), "");
    await seen(({ type }) => type === "agent_settled");
    expect(await seen(({ type }) => type === "auto_retry_start")).toMatchObject({ attempt: 1, maxAttempts: 2 });
    expect(await seen(({ type }) => type === "auto_retry_end")).toEqual({
      type: "auto_retry_end",
      success: true,
      attempt: 1,
    });
    await ask("set_session_name", { name: "Waiting" });
    await seen(({ type, name }) => type === "session_info_changed" && name === "Waiting");
    const compacted = await ask("compact");
    expect(compacted["error"]).toBeUndefined();
    const compactions = records.filter(({ type }) => String(type).startsWith("compaction_"));
    expect(compactions).toMatchObject([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", aborted: false, result: compacted["data"] },
    ]);
    await ask("compact");
    expect(records.findLast(({ type }) => type === "compaction_end")).toHaveProperty("errorMessage");
  });
});

describe("JSON-RPC", () => {
  test("responses, errors and events use it, and a notification gets no response", async () => {
    const workspace = await createModelWorkspace([textReply("Four.")]);
    const { send, seen, records } = serve(workspace);
    send({ jsonrpc: "2.0", method: "set_session_name", params: { name: "Sums" } });
    send({ jsonrpc: "2.0", id: 1, method: "execute", params: { prompt: "Two and two?" } });
    const answer = { answer: "Four.", end: { kind: "done" }, terminationReason: "no_tool_calls" };
    expect(await seen(({ id }) => id === 1)).toEqual({ jsonrpc: "2.0", id: 1, result: answer });
    send({ jsonrpc: "2.0", id: "two", method: "get_state" });
    expect((await seen(({ id }) => id === "two"))["result"]).toMatchObject({ sessionName: "Sums" });
    const wrong: [object, number, unknown][] = [
      [{ jsonrpc: "2.0", id: 3, method: "set_mode" }, -32_601, 3],
      [{ jsonrpc: "2.0", id: 4, method: "set_model", params: { provider: 1 } }, -32_602, 4],
      [{ jsonrpc: "2.0", id: 5, method: "set_model", params: [] }, -32_602, 5],
      [{ jsonrpc: "1.0", id: 6, method: "abort" }, -32_600, 6],
      [{ jsonrpc: "2.0", id: 7, method: "fork", params: { entryId: "none" } }, -32_000, 7],
      [{ jsonrpc: "2.0", id: {}, method: "abort" }, -32_600, null],
    ];
    for (const [request, code, id] of wrong) {
      send(request);
      await seen(({ error, id: recordId }) => recordId === id && (error as Json | undefined)?.["code"] === code);
    }
    expect(await seen(({ id }) => id === 3)).toMatchObject({
      error: { message: expect.stringContaining("set_model") },
    });
    expect(records.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    const events = records.filter(({ method }) => method === "event").map(({ params }) => params as Json);
    expect(getTypes(events)).toContain("text_delta");
    expect(getTypes(events).at(-1)).toBe("agent_end");
    expect(records.some(({ method }) => method === "settled")).toBe(true);
    expect(records.filter(({ id }) => id !== undefined).length).toBe(2 + wrong.length);
  });

  test("an approval question is a request to the client, and a remembered answer is not asked for again", async () => {
    const read = toolReply("read", { path: "/etc/hostname" });
    const workspace = await createModelWorkspace([read, textReply("One."), read, textReply("Two.")]);
    const asked: string[] = [];
    const { client } = connect(workspace, [], {
      onApproval: ({ toolName }) => {
        asked.push(toolName);
        return { decision: "allow", choice: "session" };
      },
    });
    expect((await client.promptAndWait("Read.")).answer).toBe("One.");
    expect((await client.promptAndWait("Read again.")).answer).toBe("Two.");
    expect(asked).toEqual(["read"]);
    expect(JSON.stringify(workspace.server.requests[3]?.body)).toContain(
      (await readFile("/etc/hostname", "utf8")).trim(),
    );
  });

  test("a client that has not said that it answers questions is not asked", async () => {
    const read = toolReply("read", { path: "/etc/hostname" });
    const workspace = await createModelWorkspace([read, textReply("Not allowed.")]);
    const { send, seen, records } = serve(workspace);
    send({ jsonrpc: "2.0", id: 1, method: "execute", params: { prompt: "Read it." } });
    expect(await seen(({ id }) => id === 1)).toMatchObject({ result: { answer: "Not allowed." } });
    expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("No person is there to ask");
    expect(JSON.stringify(records)).not.toContain("approval_requested");
  });

  test("events use the framing of the first command, responses that of their command", async () => {
    const workspace = await createModelWorkspace([textReply("Hi.")]);
    const { send, seen, records } = serve(workspace);
    send({ id: "a", type: "get_state" });
    send({ jsonrpc: "2.0", id: 1, method: "execute", params: { prompt: "Hi." } });
    expect(await seen(({ id }) => id === 1)).toHaveProperty("result");
    await seen(({ type }) => type === "agent_settled");
    expect(records.some(({ method }) => method === "event")).toBe(false);
  });
});

describe("wrong input", () => {
  test("is answered with an explanation, and the next line works", async () => {
    const workspace = await createModelWorkspace([]);
    const { input, ask, records } = serve(workspace);
    const lines = [
      "{",
      "nonsense",
      "[]",
      "12",
      "null",
      '"text"',
      "\u0000\u0001",
      "{}",
      '{"type":5}',
      '{"type":"abort","id":{}}',
    ];
    input.write(`${lines.join("\n")}\n\n   \n\r\n`);
    expect(await ask("get_state")).toMatchObject({ success: true });
    expect(records.length).toBe(lines.length + 1);
    for (const record of records.slice(0, -1)) {
      expect(record).toMatchObject({ type: "response", success: false, error: expect.stringMatching(/\w+ \w+/) });
    }
    expect(await ask("get_stat")).toMatchObject({ success: false, error: expect.stringContaining('"get_state"') });
    expect(await ask("toString")).toMatchObject({ success: false });
    expect(await ask("__proto__")).toMatchObject({ success: false });
    expect(await ask("set_model", { provider: "acme" })).toMatchObject({
      error: '"modelId" has to be a string that is not empty, and is missing.',
    });
    expect(await ask("prompt", { message: "x", images: [{ type: "image" }] })).toMatchObject({ success: false });
    expect(await ask("prompt", { message: ["x"] })).toMatchObject({
      error: '"message" has to be a string, not a list.',
    });
    expect(await ask("set_steering_mode", { mode: "some" })).toMatchObject({
      error: '"mode" has to be "all" or "one-at-a-time", not "some".',
    });
  });

  test("a line of 50 MB is refused, and the next one works", async () => {
    const workspace = await createModelWorkspace([]);
    const { input, ask, seen } = serve(workspace);
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    for (let count = 0; count < 50; count++) {
      if (!input.write(megabyte)) await new Promise((resolve) => input.once("drain", resolve));
    }
    input.write("\n");
    expect(await seen(isResponse)).toMatchObject({ command: "parse", error: expect.stringContaining("32 MB") });
    expect(await ask("get_state")).toMatchObject({ success: true });
  });

  test("a session that is open elsewhere is refused, and the current one stays open", async () => {
    const workspace = await createModelWorkspace([textReply("One.")]);
    const first = serve(workspace);
    await first.ask("prompt", { message: "Hi." });
    await first.seen(({ type }) => type === "agent_settled");
    const { sessionFile, sessionId } = (await first.ask("get_state"))["data"] as Json;
    const second = serve(workspace);
    const refused = { success: false, error: expect.stringContaining("is being written by another part") };
    expect(await second.ask("switch_session", { sessionPath: sessionFile })).toMatchObject(refused);
    expect((await second.ask("get_state"))["data"]).not.toMatchObject({ sessionId });
    const third = serve(workspace, { args: ["--session", String(sessionFile)] });
    expect(await third.ask("prompt", { message: "Hi." })).toMatchObject(refused);
  });

  test("without a model everything except runs works", async () => {
    const directory = await temporaryDirectory();
    const { ask, close } = serve({ directory, agentDir: join(directory, "agent") }, { args: ["--no-session"] });
    expect((await ask("get_state"))["data"]).not.toHaveProperty("model");
    expect(await ask("bash", { command: "echo hello" })).toMatchObject({ success: true });
    const { error } = await ask("prompt", { message: "Hi." });
    expect(error).toMatch(/model/);
    expect(await close()).toBe(exitCodes.done);
  });

  test("a prompt on the command line is a usage error", async () => {
    const workspace = await createModelWorkspace([]);
    await expect(serve(workspace, { args: ["Hello"] }).done).rejects.toThrow("as a command on standard input");
  });
});

describe("the end", () => {
  test("when input closes, the run ends, every command gets a response, and the log is complete and unlocked", async () => {
    const workspace = await createModelWorkspace([hang, textReply("Again.")]);
    const { send, close, records } = serve(workspace, { args: ["--session-id", "one"] });
    send({ id: "a", type: "execute", prompt: "Never." });
    await waitForRequests(workspace.server, 1);
    expect(await close()).toBe(exitCodes.done);
    expect(records.find(({ id }) => id === "a")).toMatchObject({ success: false });
    expect(getTypes(records)).toContain("agent_settled");
    const again = serve(workspace, { args: ["--session-id", "one"] });
    expect((await again.ask("get_messages"))["data"]).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }],
    });
    expect(await again.ask("execute", { prompt: "Go on." })).toMatchObject({ data: { answer: "Again." } });
  });

  test("a last line without a line feed is a line", async () => {
    const workspace = await createModelWorkspace([]);
    const { input, close, records } = serve(workspace);
    input.write('{"type":"get_state"}');
    expect(await close()).toBe(exitCodes.done);
    expect(records).toMatchObject([{ command: "get_state", success: true }]);
  });

  test.each([
    ["SIGTERM", exitCodes.interrupted],
    ["SIGPIPE", exitCodes.done],
  ])("%s ends the run and the program in order", async (reason, code) => {
    const workspace = await createModelWorkspace([hang]);
    const controller = new AbortController();
    const { ask, seen, done, records } = serve(workspace, { signal: controller.signal });
    await ask("prompt", { message: "Never." });
    await seen(({ type }) => type === "message_end");
    controller.abort(reason);
    expect(await done).toBe(code);
    expect(records.at(-1)).toMatchObject({ type: "agent_settled", aborted: true });
  });

  test("the end does not wait for a reader that is gone", async () => {
    const workspace = await createModelWorkspace([]);
    const controller = new AbortController();
    const { ask, done } = serve(workspace, { signal: controller.signal, drained: () => new Promise(() => undefined) });
    await ask("get_state");
    controller.abort("SIGPIPE");
    expect(await done).toBe(exitCodes.done);
  });

  test("an input that breaks ends the program like one that closes", async () => {
    const workspace = await createModelWorkspace([]);
    const { input, ask, done } = serve(workspace);
    await ask("get_state");
    input.destroy(new Error("ECONNRESET"));
    expect(await done).toBe(exitCodes.done);
  });
});

describe("commands that arrive together", () => {
  test("start in their order, and abort also cancels a prompt that has not started", async () => {
    const workspace = await createModelWorkspace([hang]);
    const { send, seen, records } = serve(workspace);
    send({ id: "a", type: "prompt", message: "One." });
    send({ id: "b", type: "prompt", message: "Two." });
    send({ id: "c", type: "get_state" });
    send({ id: "d", type: "abort" });
    expect(await seen(({ id }) => id === "d")).toMatchObject({ success: true });
    expect(await seen(({ id }) => id === "a")).toMatchObject({ data: { disposition: "started" } });
    expect(await seen(({ id }) => id === "b")).toMatchObject({ success: false });
    expect(await seen(({ id }) => id === "c")).toMatchObject({ data: { isStreaming: true } });
    expect(records.find(({ type }) => type === "agent_settled")).toMatchObject({ aborted: true });
  });

  test("an abort cancels the prompts before it, and not those after it", async () => {
    const workspace = await createModelWorkspace([textReply("After.")]);
    const { send, seen } = serve(workspace);
    send({ id: "a", type: "execute", prompt: "Before." });
    send({ id: "b", type: "steer", message: "Also before." });
    send({ id: "c", type: "abort" });
    send({ id: "d", type: "clear_queue" });
    send({ id: "e", type: "execute", prompt: "Now." });
    expect(await seen(({ id }) => id === "e")).toMatchObject({ data: { answer: "After." } });
    expect(await seen(({ id }) => id === "a")).toMatchObject({ success: false });
    expect(workspace.server.requests.length).toBe(1);
  });

  test("queued messages keep their order", async () => {
    const workspace = await createModelWorkspace([hang]);
    await writeFile(join(workspace.directory, "big.txt"), "x".repeat(200_000));
    const { send, ask, seen } = serve(workspace);
    send({ type: "prompt", message: "Wait." });
    send({ type: "follow_up", message: "First, with @big.txt" });
    send({ type: "follow_up", message: "Second." });
    send({ id: "b", type: "prompt", message: "Third.", streamingBehavior: "followUp" });
    await seen(({ id }) => id === "b");
    const { data } = await ask("clear_queue");
    const { followUp } = data as { followUp: string[] };
    expect(followUp.map((text) => /First|Second|Third/.exec(text)?.[0])).toEqual(["First", "Second", "Third"]);
  });

  test("switching the session during a run ends the run first, and later commands go to the new session", async () => {
    const workspace = await createModelWorkspace([hang, textReply("New.")]);
    const { send, seen, records } = serve(workspace);
    send({ id: "a", type: "execute", prompt: "Never." });
    await waitForRequests(workspace.server, 1);
    send({ id: "b", type: "new_session" });
    send({ id: "c", type: "execute", prompt: "Fresh." });
    expect(await seen(({ id }) => id === "c")).toMatchObject({ data: { answer: "New." } });
    expect(await seen(({ id }) => id === "a")).toMatchObject({ success: false });
    expect(await seen(({ id }) => id === "b")).toMatchObject({ success: true });
    const settled = records.filter(({ type }) => type === "agent_settled");
    expect(settled[0]).toMatchObject({ aborted: true });
    expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).not.toContain("Never.");
  });

  test("commands of a client that does not read the responses wait", async () => {
    const workspace = await createModelWorkspace([]);
    let open = () => {};
    const full = new Promise<void>((resolve) => void (open = resolve));
    const { send, seen, records } = serve(workspace, { drained: () => full });
    send({ id: "a", type: "get_state" });
    send({ id: "b", type: "get_state" });
    await seen(({ id }) => id === "a");
    // Long enough to handle many commands, if they were read.
    for (let count = 0; count < 50; count++) await new Promise(setImmediate);
    expect(records.length).toBe(1);
    open();
    await seen(({ id }) => id === "b");
  });
});

/** Commands without an effect outside the test. */
const harmless = commandNames.filter(
  (name) => !["bash", "switch_session", "login", "import_session"].includes(name) && !/^(export|write)_/.test(name),
);

const anyRecord = fc.oneof(
  fc.record(
    {
      type: fc.oneof(fc.constantFrom(...harmless), fc.string(), fc.jsonValue()),
      id: fc.oneof(fc.string(), fc.jsonValue()),
      message: fc.oneof(fc.string(), fc.jsonValue()),
      level: fc.jsonValue(),
      entryId: fc.string(),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
      id: fc.oneof(fc.nat(), fc.string(), fc.jsonValue()),
      method: fc.oneof(fc.constantFrom(...harmless), fc.jsonValue()),
      params: fc.oneof(fc.jsonValue(), fc.record({ message: fc.string(), prompt: fc.string() })),
      result: fc.jsonValue(),
    },
    { requiredKeys: ["jsonrpc"] },
  ),
);

/** Replies and JSON-RPC notifications get no response. */
function wantsAnswer(record: Json): boolean {
  if (!Object.hasOwn(record, "jsonrpc")) return record["type"] !== "extension_ui_response";
  if (!Object.hasOwn(record, "method")) return !Object.hasOwn(record, "result") && !Object.hasOwn(record, "error");
  const isSound = record["jsonrpc"] === "2.0" && typeof record["method"] === "string";
  return !isSound || Object.hasOwn(record, "id");
}

const isAnswer = (record: Json) =>
  record["type"] === "response" || (record["jsonrpc"] === "2.0" && record["method"] === undefined);

test("any bytes are accepted, and every object on its own line gets exactly one response", async () => {
  const workspace = await createModelWorkspace([]);
  const line = fc.oneof(
    { weight: 3, arbitrary: anyRecord.map((record) => ({ record, bytes: Buffer.from(JSON.stringify(record)) })) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => ({ record: undefined, bytes: Buffer.from(bytes) })),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.nat(40), async (lines, cut) => {
      const { input, close, records } = serve(workspace, { args: ["--no-session"] });
      const bytes = Buffer.concat(lines.flatMap(({ bytes }) => [bytes, Buffer.from("\n")]));
      for (let from = 0; from < bytes.length; from += cut + 1) input.write(bytes.subarray(from, from + cut + 1));
      expect(await close()).toBe(exitCodes.done);
      const sent = bytes.toString("utf8").split("\n").flatMap(getObject);
      const noise = bytes
        .toString("utf8")
        .split("\n")
        .filter((text) => text.trim() !== "" && getObject(text).length === 0);
      expect(records.filter(isAnswer).length).toBe(sent.filter(wantsAnswer).length + noise.length);
    }),
    { numRuns: process.env["TAU_LONG"] ? 40 : 15 },
  );
});

function getObject(line: string): Json[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? [value as Json] : [];
  } catch {
    return [];
  }
}

/** Clients that misbehave: malformed lines, ids, order, and leaving in the middle of a run. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { type Json, serveLines } from "./acp-kit.ts";
import { createModelWorkspace, type ModelWorkspace, run, textReply, toolReply } from "./kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

async function open(replies: readonly WireReply[]) {
  const workspace = await createModelWorkspace(replies);
  const client = serveLines(workspace);
  await client.ask("initialize", { protocolVersion: 1 });
  const openSession = async () => {
    const { result } = await client.ask("session/new", { cwd: workspace.directory, mcpServers: [] });
    return (result as { sessionId: string }).sessionId;
  };
  return { workspace, client, openSession };
}

const say = (text: string) => [{ type: "text", text }];
const getCode = ({ error }: Json) => (error as Json | undefined)?.["code"];

async function readLog({ agentDir }: ModelWorkspace): Promise<string> {
  const files = await readdir(join(agentDir, "sessions"), { recursive: true });
  const path = files.find((name) => name.endsWith(".jsonl"))!;
  return await readFile(join(agentDir, "sessions", path), "utf8");
}

describe("a line", () => {
  test.each<[line: string, code: number, id: unknown]>([
    ["{not json", -32_700, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32_600, null],
    ['{"jsonrpc":"2.0","id":5,"method":"no/such/method"}', -32_601, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"toString"}', -32_601, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"session/new","params":{}}', -32_602, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"relative","mcpServers":[]}}', -32_602, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/no/such/place","mcpServers":[]}}', -32_602, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}', -32_002, 5],
    [
      '{"jsonrpc":"2.0","id":5,"method":"session/load","params":{"sessionId":"x","cwd":"/tmp","mcpServers":[]}}',
      -32_002,
      5,
    ],
    ['{"jsonrpc":"2.0","id":5,"method":"session/set_mode","params":{"sessionId":"x","modeId":"ask"}}', -32_002, 5],
    ['{"jsonrpc":"2.0","id":5,"method":"session/list","params":{"cursor":"gone"}}', -32_602, 5],
  ])("%s is answered with %d, and the next one works", async (line, code, id) => {
    const { client } = await open([]);
    client.records.splice(0);
    client.send(line);
    const answer = await client.seen((record) => record["error"] !== undefined);
    expect([getCode(answer), answer["id"]]).toEqual([code, id]);
    expect(JSON.stringify(answer)).not.toMatch(/\.ts:\d|node:internal|\\n *at /);
    expect(await client.ask("session/list")).toMatchObject({ result: { sessions: [] } });
    expect(await client.close()).toBe(exitCodes.done);
  });

  test("that answers nothing is ignored: a blank, a stray answer, an unknown notification", async () => {
    const { client } = await open([]);
    client.records.splice(0);
    for (const line of ["", "  ", '{"jsonrpc":"2.0","id":99,"result":{}}', '{"jsonrpc":"2.0","id":99,"error":{}}'])
      client.send(line);
    client.send({ method: "session/cancel", params: { sessionId: "nobody" } });
    client.send({ method: "$/cancel_request", params: { requestId: "nobody" } });
    client.send({ method: "_vendor/thing" });
    await client.ask("session/list");
    expect(client.records).toHaveLength(1);
  });

  test("that is longer than 32 MB is refused without being kept, and the next one works", async () => {
    const { client } = await open([]);
    const chunk = "x".repeat(1024 * 1024);
    for (let count = 0; count < 34; count++) client.input.write(chunk);
    client.input.write("\n");
    const answer = await client.seen((record) => record["error"] !== undefined);
    expect(answer).toMatchObject({ id: null, error: { code: -32_700, message: expect.stringContaining("32 MB") } });
    expect(await client.ask("session/list")).toHaveProperty("result");
  });

  test("before initialize is refused", async () => {
    const client = serveLines(await createModelWorkspace([]));
    expect(getCode(await client.ask("session/list"))).toBe(-32_600);
  });

  test("with the id of an open request is refused, and the request is still answered", async () => {
    const { client, openSession, workspace } = await open([hang]);
    const sessionId = await openSession();
    client.send({ id: 7, method: "session/prompt", params: { sessionId, prompt: say("Wait.") } });
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    client.send({ id: 7, method: "session/list", params: {} });
    expect(getCode(await client.seen(({ id }) => id === 7))).toBe(-32_600);
    client.send({ method: "session/cancel", params: { sessionId } });
    expect(await client.seen(({ result }) => (result as Json | undefined)?.["stopReason"] !== undefined)).toMatchObject(
      {
        id: 7,
        result: { stopReason: "cancelled" },
      },
    );
  });
});

describe("cancelling", () => {
  test("reaches a prompt that was sent a moment before, in the same piece of input", async () => {
    const { client, openSession } = await open([textReply("Too late.")]);
    const sessionId = await openSession();
    const lines = [
      { jsonrpc: "2.0", id: "p", method: "session/prompt", params: { sessionId, prompt: say("Go.") } },
      { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } },
    ];
    client.input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(await client.seen(({ id }) => id === "p")).toMatchObject({ result: { stopReason: "cancelled" } });
  });

  test("by the id of the request ends the run too", async () => {
    const { client, openSession, workspace } = await open([hang]);
    const sessionId = await openSession();
    client.send({ id: "p", method: "session/prompt", params: { sessionId, prompt: say("Go.") } });
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    client.send({ method: "$/cancel_request", params: { requestId: "p" } });
    expect(await client.seen(({ id }) => id === "p")).toMatchObject({ result: { stopReason: "cancelled" } });
    await workspace.server.clientLeft();
  });

  test("ends a command, and its call is reported as failed", async () => {
    const { client, openSession } = await open([toolReply("bash", { command: "sleep 600" })]);
    const sessionId = await openSession();
    client.send({ id: "p", method: "session/prompt", params: { sessionId, prompt: say("Go.") } });
    const getUpdate = ({ params }: Json) => ((params as Json | undefined)?.["update"] ?? {}) as Json;
    await client.seen((record) => getUpdate(record)["status"] === "in_progress");
    client.send({ method: "session/cancel", params: { sessionId } });
    expect(await client.seen(({ id }) => id === "p")).toMatchObject({ result: { stopReason: "cancelled" } });
    const ends = client.records.filter((record) =>
      ["completed", "failed"].includes(String(getUpdate(record)["status"])),
    );
    expect(ends).toHaveLength(1);
  });
});

test("requests about one session are carried out in their order, without waiting for answers", async () => {
  const { client, openSession, workspace } = await open([textReply("Hi.")]);
  const sessionId = await openSession();
  const set = (configId: string, value: string) => ({
    id: `${configId}`,
    method: "session/set_config_option",
    params: { sessionId, configId, value },
  });
  client.send(set("model", "acme/large"));
  client.send(set("thinking", "high"));
  client.send({ id: "p", method: "session/prompt", params: { sessionId, prompt: say("Hi") } });
  expect(await client.seen(({ id }) => id === "p")).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(workspace.server.requests[0]!.body).toMatchObject({ model: "large", reasoning_effort: "high" });
});

test("two sessions answer at once, and each update names its session", async () => {
  const { client, openSession, workspace } = await open([hang, textReply("Quick.")]);
  const [slow, quick] = [await openSession(), await openSession()];
  client.send({ id: "slow", method: "session/prompt", params: { sessionId: slow, prompt: say("Wait.") } });
  await expect.poll(() => workspace.server.requests.length).toBe(1);
  client.send({ id: "quick", method: "session/prompt", params: { sessionId: quick, prompt: say("Go.") } });
  expect(await client.seen(({ id }) => id === "quick")).toMatchObject({ result: { stopReason: "end_turn" } });
  const texts = client.records.filter((record) => JSON.stringify(record).includes("agent_message_chunk"));
  expect(new Set(texts.map(({ params }) => (params as Json)["sessionId"]))).toEqual(new Set([quick]));
  expect(client.records.some(({ id }) => id === "slow")).toBe(false);
});

describe("a client that leaves", () => {
  test("in the middle of a run ends it, and the session can be loaded", async () => {
    const { client, openSession, workspace } = await open([hang]);
    const sessionId = await openSession();
    client.send({ id: "p", method: "session/prompt", params: { sessionId, prompt: say("Remember me.") } });
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    expect(await client.close()).toBe(exitCodes.done);
    await workspace.server.clientLeft();
    expect(await readLog(workspace)).toContain("Remember me.");
    const again = serveLines(workspace);
    await again.ask("initialize", { protocolVersion: 1 });
    const loaded = await again.ask("session/load", { sessionId, cwd: workspace.directory, mcpServers: [] });
    expect(loaded).toHaveProperty("result");
    expect(JSON.stringify(again.records)).toContain("Remember me.");
  });

  test("while a session is being opened leaves nothing open", async () => {
    const { client, workspace } = await open([]);
    client.send({ id: "n", method: "session/new", params: { cwd: workspace.directory, mcpServers: [] } });
    expect(await client.close()).toBe(exitCodes.done);
  });

  test("before it says anything ends the program", async () => {
    expect(await serveLines(await createModelWorkspace([])).close()).toBe(exitCodes.done);
  });
});

test("a key that the model quotes does not reach the client", async () => {
  const { client, openSession } = await open([textReply("The key is acme-key-0123456789, keep it.")]);
  const sessionId = await openSession();
  client.send({ id: "p", method: "session/prompt", params: { sessionId, prompt: say("Which key?") } });
  await client.seen(({ id }) => id === "p");
  expect(JSON.stringify(client.records)).not.toContain("acme-key-0123456789");
  const chunks = client.records.map(({ params }) => (params as Json | undefined)?.["update"] as Json | undefined);
  const text = chunks.map((update) => (update?.["content"] as Json | undefined)?.["text"] ?? "").join("");
  expect(text).toMatch(/^The key is (?!acme).*, keep it\.$/);
});

test("on a terminal it explains itself, on standard error", async () => {
  const { code, out, err } = await run(await createModelWorkspace([]), ["acp"], {
    input: "",
    terminal: { input: true },
  });
  expect({ code, out }).toEqual({ code: exitCodes.done, out: "" });
  expect(err).toContain("tau help editors");
});

/** Sessions of a cluster have no files. What works on other gateways' files works on them too, at any node. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { findHookToken } from "@tau/gateway";
import type { MethodData } from "@tau/protocol/gateway";
import { formatLogId, placeLog } from "../src/names.ts";
import { checkStream, countEpochs, type GatewayNode, getFrames, useCluster } from "./kit.ts";
import { hasNats } from "./nats-servers.ts";

interface Listed {
  id: string;
  messageCount: number;
  name?: string;
  status?: string;
}

describe.skipIf(!hasNats)("sessions of a cluster", () => {
  const cluster = useCluster();
  const { openGateway, createSession } = cluster;

  test("are listed by use, renamed, deleted, restored and counted at any node", async () => {
    const answers = Array.from({ length: 4 }, () => [text("Said.")]);
    const a = await openGateway("a", scriptedModel(answers));
    const b = await openGateway("b", []);
    const [first, second] = [await createSession(a), await createSession(a)];
    for (const sessionId of [first, second, first]) {
      await b.client.must("session.execute", { sessionId, prompt: "Say it." });
    }
    const list = async ({ client }: GatewayNode) =>
      (await client.must<{ sessions: Listed[] }>("sessions.list")).sessions.filter(({ id }) =>
        [first, second].includes(id),
      );
    for (const node of [a, b]) {
      // All that was said is counted: the order does not change any more.
      await expect
        .poll(async () => (await list(node)).map(({ id, messageCount }) => [id, messageCount]))
        .toEqual([
          [first, 4],
          [second, 2],
        ]);
      const listed = await node.client.must<{ sessions: Listed[] }>("session.list_sessions", { sessionId: first });
      expect(listed.sessions.map(({ id }) => id)).toEqual([first, second]);
      expect(await node.client.must("session.list_sessions", { sessionId: first, query: "nowhere" })).toEqual({
        sessions: [],
      });
      await expect
        .poll(async () => await node.client.must("usage.get", { since: "2000-01-01T00:00:00Z" }))
        .toMatchObject({ sessions: [{ sessionId: first }, { sessionId: second }] });
    }
    const [here, there] = await Promise.all(
      [a, b].map(({ client }) => client.must<{ tokens: number }>("usage.get", { sessionId: first })),
    );
    expect([there, here!.tokens > 0]).toEqual([here, true]);

    // The session runs at the other node, and the one that is named too.
    await b.client.must("session.rename_session", { sessionId: first, session: second, name: "Second" });
    await expect.poll(async () => (await list(b)).find(({ id }) => id === second)?.name).toBe("Second");
    expect(await b.client.must("session.switch_session", { sessionId: first, sessionPath: second })).toEqual({
      sessionId: second,
      cancelled: false,
    });
    // Also the session that the command is for.
    await b.client.must("session.delete_session", { sessionId: second, session: second });
    expect((await list(a)).map(({ id }) => id)).toEqual([first]);
    await b.client.must("session.restore_session", { sessionId: second, session: second });
    await a.client.must("sessions.subscribe", { sessionId: second });
    expect(await b.client.must("session.delete_session", { sessionId: first, session: second.slice(0, 13) })).toEqual({
      id: second,
    });
    await expect.poll(() => getFrames(a.client, second).at(-1)).toMatchObject({ event: "session.closed" });
    for (const { client } of [a, b]) {
      expect(await client.call("sessions.open", { sessionId: second })).toMatchObject({ error: { code: "not_found" } });
      expect(await client.call("usage.get", { sessionId: second })).toMatchObject({ error: { code: "not_found" } });
    }
    expect((await list(a)).map(({ id }) => id)).toEqual([first]);
    await b.client.must("session.restore_session", { sessionId: first, session: second });
    expect(await b.client.call("session.restore_session", { sessionId: first, session: second })).toMatchObject({
      error: { code: "session_not_found" },
    });
    // To rename it was the last use of it.
    expect((await list(a)).map(({ name }) => name)).toEqual(["Second", undefined]);
    expect(await b.client.must("sessions.open", { sessionId: second })).toMatchObject({ name: "Second" });
  });

  test("are reported with what they have used, and what is left of the day, at any node", async () => {
    const directory = await mkdtemp(join(cluster.workspace, "used-"));
    const model = { cost: { input: 0, output: 10, cacheRead: 0, cacheWrite: 0 } };
    const usage = { input: 0, output: 100_000, cacheRead: 0, cacheWrite: 0 };
    const openNode = (name: string, answers: number) => {
      const turns = Array.from({ length: answers }, () => ({ content: [text("Said.")], usage }));
      return openGateway(name, scriptedModel(turns, { model }), { settings: { budgets: { day: { cost: 5 } } } });
    };
    const [a, b] = [await openNode("u", 2), await openNode("v", 1)];
    const create = async ({ client }: GatewayNode) =>
      (await client.must<{ sessionId: string }>("sessions.create", { cwd: directory })).sessionId;
    const [first, second, third] = [await create(a), await create(b), await create(a)];
    for (const sessionId of [first, second, third]) {
      await a.client.must("session.execute", { sessionId, prompt: "Say it." });
    }
    const checkReports = async (expected: { requests: number; cost: number }) => {
      for (const { client } of [a, b]) {
        const reports = await Promise.all([
          client.must<MethodData<"usage.report">>("usage.report", { by: "project" }),
          client.must<MethodData<"usage.report">>("session.get_usage_report", { sessionId: first, by: "project" }),
        ]);
        for (const { rows, limits } of reports) {
          expect(rows.find(({ name }) => name === directory)).toMatchObject(expected);
          // What a deleted session has cost is spent all the same.
          expect(limits).toEqual([{ period: "day", limit: 5, spent: 3, reserved: 0, left: 2 }]);
        }
      }
    };
    await checkReports({ requests: 3, cost: 3 });
    await b.client.must("session.delete_session", { sessionId: first, session: second });
    await checkReports({ requests: 2, cost: 2 });
    // The sessions of a node that has left are counted too.
    await b.client.must("sessions.close", { sessionId: first });
    await a.close();
    const { rows } = await b.client.must<MethodData<"usage.report">>("usage.report", { by: "project" });
    expect(rows.find(({ name }) => name === directory)).toMatchObject({ requests: 2, cost: 2 });
  });

  test("are listed at any node from their creation on, before anything was said", async () => {
    const [a, b] = [await openGateway("a", []), await openGateway("b", [])];
    const sessionId = await createSession(a);
    for (const { client } of [a, b]) {
      await expect
        .poll(async () => (await client.must<{ sessions: Listed[] }>("sessions.list")).sessions)
        .toContainEqual(expect.objectContaining({ id: sessionId, status: "idle" }));
    }
  });

  test("are free when they could not be opened", async () => {
    const a = await openGateway("o", ["Said."]);
    const sessionId = await createSession(a);
    await a.client.must("session.execute", { sessionId, prompt: "Say it." });
    await a.client.must("sessions.close", { sessionId });
    const { inbox } = a.cluster;
    inbox.load = () => Promise.reject(new Error("The servers do not answer."));
    expect(await a.client.call("sessions.open", { sessionId })).toMatchObject({ ok: false });
    inbox.load = () => Promise.resolve();
    expect(await a.client.call("sessions.open", { sessionId })).toMatchObject({ ok: true });
  });

  test("that run are not deleted, and those that do not exist are not found", async () => {
    const a = await openGateway("c", scriptedModel([[text("Said.")], () => new Promise(() => {})]));
    const b = await openGateway("d", []);
    const [idle, busy] = [await createSession(a), await createSession(a)];
    await a.client.must("session.execute", { sessionId: busy, prompt: "Say it." });
    await a.client.must("session.prompt", { sessionId: busy, message: "Work." });
    await expect.poll(() => a.model.asked.length).toBe(2);
    expect(await b.client.call("session.delete_session", { sessionId: idle, session: busy })).toMatchObject({
      error: { code: "busy" },
    });
    for (const method of ["delete_session", "restore_session", "rename_session"]) {
      const name = method === "rename_session" ? { name: "x" } : {};
      const params = { sessionId: idle, session: "00000000-0000-4000-8000-000000000000", ...name };
      const { error } = (await b.client.call(`session.${method}`, params)) as { error?: { code: string } };
      expect(error?.code).toMatch(/not_found/);
    }
    expect(await b.client.call("session.rename_session", { sessionId: idle, session: busy })).toMatchObject({
      error: { code: "invalid_parameters" },
    });
    await a.client.must("session.abort", { sessionId: busy });
  });

  test("a request that comes again at another node has its effect once, also while the first is under way", async () => {
    const [a, b] = await Promise.all([openGateway("e", ["Once."]), openGateway("f", ["Twice."])]);
    const create = { cwd: cluster.workspace, idempotencyKey: "create" };
    const [here, there] = await Promise.all([a, b].map(({ client }) => client.must("sessions.create", create)));
    expect(there).toEqual(here);
    expect(await b.client.must("sessions.create", create)).toEqual(here);
    const { sessionId } = here as { sessionId: string };
    const prompt = { sessionId, prompt: "Say it.", idempotencyKey: "say" };
    const answers = await Promise.all([a, b, a].map(({ client }) => client.must("session.execute", prompt)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(a.model.asked.length + b.model.asked.length).toBe(1);
    expect(await b.client.call("session.execute", { ...prompt, prompt: "Say more." })).toMatchObject({
      error: { code: "conflict" },
    });
    // A failure that may be tried again frees its key; others are answered again.
    const wrong = { sessionId: "nobody", idempotencyKey: "wrong" };
    for (const { client } of [a, b]) {
      expect(await client.call("sessions.close", wrong)).toMatchObject({ error: { code: "not_found" } });
    }
  });

  test("a node that stops does not wait for the answer of another", async () => {
    const [a, b] = await Promise.all([openGateway("p", []), openGateway("q", [])]);
    const [own, other] = [a, b].map(({ cluster }) => cluster.requestKeys);
    let finish = () => {};
    const working = new Promise<void>((begun) => {
      const answer = new Promise((resolve) => (finish = () => resolve("Done.")));
      void other!.once("key", { body: "body", run: () => (begun(), answer) });
    });
    await working;
    const waiting = own!.once("key", { body: "body", run: async () => "Again." });
    waiting.catch(() => undefined);
    await own!.close();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    finish();
    await other!.close();
  });

  test("what a lost node has begun has an unknown outcome", async () => {
    const never: ScriptedTurn = () => new Promise(() => {});
    const [a, b] = await Promise.all([
      openGateway("g", scriptedModel([never])),
      openGateway("h", scriptedModel([[text("Again.")]])),
    ]);
    const sessionId = await createSession(a);
    const prompt = { sessionId, prompt: "Work.", idempotencyKey: "work" };
    void a.client.call("session.execute", prompt).catch(() => undefined);
    await expect.poll(() => a.model.asked.length).toBe(1);
    const repeated = b.client.call("session.execute", prompt);
    const [own, other] = [a, b].map(({ cluster }) => cluster.requestKeys);
    let finish: (() => void) | undefined;
    const run = () => new Promise<void>((resolve) => (finish = resolve));
    void own!.once("message", { body: "x", run }).catch(() => undefined);
    await expect.poll(() => finish).toBeDefined();
    const recover = async () => ({ kind: "payload" as const, payload: "It was said." });
    const recovered = other!.once("message", { body: "x", run: async () => "Again.", recover });
    a.cable.cut();
    expect(await repeated).toMatchObject({ error: { code: "unknown_outcome" } });
    expect(await recovered).toBe("It was said.");
    finish!();
    expect(b.model.asked.length).toBe(0);
  });

  test("that are imported from a file are those of the cluster, and no file is written", async () => {
    const [a, b] = await Promise.all([openGateway("t", []), openGateway("u", ["Known."])]);
    const source = await mkdtemp(join(tmpdir(), "tau-import-"));
    onTestFinished(() => rm(source, { recursive: true, force: true }));
    const file = join(source, "talk.jsonl");
    const header = {
      type: "session",
      version: 3,
      id: "imported-1",
      timestamp: "2026-01-02T03:04:05.000Z",
      cwd: source,
    };
    const message = { role: "user", content: [{ type: "text", text: "From elsewhere." }], timestamp: 1 };
    const entry = { type: "message", id: "e1", parentId: null, timestamp: header.timestamp, message };
    await writeFile(file, [header, entry].map((line) => `${JSON.stringify(line)}\n`).join(""));
    const sessionId = await createSession(a);
    const ids: string[] = [];
    for (let times = 0; times < 2; times++) {
      const imported = await a.client.must<{ sessionId: string }>("session.import_session", { sessionId, path: file });
      ids.push(imported.sessionId);
      await a.client.must("sessions.close", { sessionId: imported.sessionId });
    }
    expect([ids[0], ids[1] === ids[0]]).toEqual(["imported-1", false]);
    for (const id of ids) {
      const { entries } = await b.client.must<{ entries: { text?: string }[] }>("sessions.tree", { sessionId: id });
      expect(entries.map((each) => each.text)).toContain("From elsewhere.");
    }
    expect(existsSync(join(a.agentDir, "sessions"))).toBe(false);
  });

  test("what a node has stored for a session that another node runs is said there, and is never given up", async () => {
    const [a, b] = await Promise.all([openGateway("r", []), openGateway("s", ["Said there."])]);
    const sessionId = await createSession(b);
    await b.client.must("session.set_session_name", { sessionId, name: "There" });
    const { inbox, cluster: node } = a.gateway.parts;
    const base = { sessionId, mode: "followup", origin: { kind: "client" }, state: "waiting" } as const;
    await node!.inbox.accept({ ...base, id: "stored", text: "Say it.", acceptedAt: Date.now() });
    await inbox.start();
    await expect.poll(() => b.model.asked.length).toBe(1);
    await expect.poll(() => b.client.must("inbox.list", {})).toEqual({ messages: [] });
    expect([inbox.counts, a.model.asked.length]).toEqual([{ waiting: 0, dead: 0 }, 0]);
  });

  test("that cannot be written for a while can be used when it is over", async () => {
    const a = await openGateway("i", ["First.", "Second.", "Third.", "Fourth."]);
    const b = await openGateway("j", ["Elsewhere."]);
    const sessionId = await createSession(a);
    for (const { client } of [a, b]) await client.must("sessions.subscribe", { sessionId });
    const { bus } = a.cluster.node;
    const { stream, subject } = placeLog(sessionId);
    const manager = await jetstreamManager(bus.nats);
    const { config, state } = await manager.streams.info(stream);
    await manager.streams.update(stream, { ...config, max_bytes: state.bytes + 500 });
    const long = { sessionId, prompt: "long ".repeat(500) };
    expect(await a.client.call("session.execute", long)).toMatchObject({
      error: { message: expect.stringMatching(/refused it \(maximum bytes exceeded\)/) },
    });
    await manager.streams.update(stream, { ...config, max_bytes: -1 });
    await a.client.must("session.execute", long);

    // Somebody else has written to the log, and this node was not declared dead.
    const { seq: after } = (await bus.readLast(stream, subject))!;
    const { size } = (await (await a.cluster.storage.open(`session/${sessionId}`)).stat())!;
    const id = formatLogId({ unique: "stranger", position: size, epoch: 0, hasMore: false });
    const message = { stream, subject, after, id, giveUpAfterMs: 5_000 };
    expect(await bus.publish(message)).toMatchObject({ kind: "stored" });
    expect(await a.client.call("session.execute", { sessionId, prompt: "Say more." })).toMatchObject({ ok: false });
    await b.client.must("session.execute", { sessionId, prompt: "Say more." });
    for (const { client } of [a, b]) {
      await expect.poll(() => countEpochs(client, sessionId)).toBe(2);
      checkStream(getFrames(client, sessionId));
    }
  });

  test("that webhooks share are the same at every node, wherever they run", async () => {
    const settings = { gateway: { hooks: { deploy: { session: "shared" } }, queue: { debounceMs: 1 } } };
    const a = await openGateway("k", ["Noted.", "Noted."], { settings });
    const b = await openGateway("l", ["Noted.", "Noted."], { settings });
    const post = async ({ gateway, token }: GatewayNode) => {
      const { hooks } = gateway.parts.getSettings();
      const hookToken = findHookToken(hooks, "deploy", () => token);
      if (hookToken.kind !== "token") throw new Error("The webhook has no token.");
      const response = await fetch(`${gateway.url.replace(/^ws/, "http")}/hooks/deploy`, {
        method: "POST",
        body: "deployed",
        headers: { authorization: `Bearer ${hookToken.token}` },
      });
      return { status: response.status, ...((await response.json()) as { sessionId: string }) };
    };
    // Both begin a session, and one of them counts.
    const [{ sessionId }, second] = await Promise.all([post(a), post(b)]);
    expect(second).toMatchObject({ status: 202, sessionId });
    const owner = [a, b].find(({ gateway }) => gateway.parts.sessions.find(sessionId))!;
    const other = owner === a ? b : a;
    expect(await post(other)).toMatchObject({ status: 202, sessionId });
    expect(other.gateway.parts.sessions.list()).toEqual([]);
    const count = async () => {
      const { entries } = await owner.client.must<{ entries: { type: string }[] }>("session.get_entries", {
        sessionId,
      });
      // One that comes during a run is in the log twice: when it is accepted, and when it is said.
      return JSON.stringify(entries.filter(({ type }) => type === "message")).split("deployed").length - 1;
    };
    await expect.poll(count).toBe(3);
    await owner.client.must("session.abort", { sessionId });
    await other.client.must("sessions.close", { sessionId });
    // One that was deleted is not used again.
    const elsewhere = await createSession(other);
    await other.client.must("session.delete_session", { sessionId: elsewhere, session: sessionId });
    const next = await post(owner);
    expect([next.status, next.sessionId === sessionId]).toEqual([202, false]);
  });

  test("answer chat completions at every node, also in pieces, and end with the node that runs them", async () => {
    let finish = () => {};
    const waiting: ScriptedTurn = () => new Promise((resolve) => (finish = () => resolve([text("Late.")])));
    const a = await openGateway("m", scriptedModel([[text("One.")], [text("Two.")], waiting]));
    const b = await openGateway("n", []);
    const sessionId = await createSession(a);
    const ask = (content: string, stream = false) =>
      fetch(`${b.gateway.url.replace(/^ws/, "http")}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "scripted/scripted", stream, messages: [{ role: "user", content }] }),
        headers: { authorization: `Bearer ${b.token}`, "content-type": "application/json", "x-tau-session": sessionId },
      });
    const whole = await ask("Say one.");
    expect([whole.status, whole.headers.get("x-tau-session")]).toEqual([200, sessionId]);
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: "One." }, finish_reason: "stop" }] });
    const streamed = await (await ask("Say two.", true)).text();
    expect(streamed).toMatch(/"role":"assistant".*"content":"Two\.".*"finish_reason":"stop".*data: \[DONE\]/s);
    expect(b.gateway.parts.sessions.list()).toEqual([]);
    // A client cannot call what only nodes may.
    for (const method of ["http.chat", "http.accept", "http.wait"]) {
      expect(await b.client.call(method, { sessionId })).toMatchObject({ error: { code: "unknown_method" } });
    }
    // A node of another version may send other parameters, and is told what is wrong with them.
    const draft = { sessionId, text: "Say it.", mode: "followup", origin: { kind: "scheduled", scopes: [] } };
    const chat = { sessionId, model: "scripted/scripted", prompt: { text: "Say it.", images: [] } };
    const wrong: [method: string, params: Record<string, unknown>, field: string][] = [
      ["http.accept", { ...draft, text: 7 }, "text"],
      ["http.accept", { ...draft, priority: 1 }, "priority"],
      ["http.accept", { ...draft, origin: { ...draft.origin, scopes: ["root"] } }, "scopes"],
      ["http.chat", { ...chat, prompt: "Say it." }, "prompt"],
      ["http.chat", { ...chat, temperature: 1 }, "temperature"],
      ["http.wait", { sessionId, forMs: 1 }, "forMs"],
    ];
    const context = { client: b.gateway.parts.connections.list()[0]!, requestId: "1" };
    for (const [method, params, field] of wrong) {
      const answer = b.cluster.callSession(context, { method, sessionId, params }, async () => "here");
      await expect(answer).rejects.toMatchObject({
        code: "invalid_parameters",
        message: expect.stringContaining(field),
      });
    }
    const wait = { method: "http.wait", sessionId, params: { sessionId } };
    const waited = await b.cluster.callSession(context, wait, async () => "here").then((value) => value ?? "there");
    expect(waited).toBe("there");
    expect(a.model.asked.length).toBe(2);
    // A node is found dead after seconds.
    if (process.env["TAU_LONG"] !== "1") return;
    const lost = ask("Say three.");
    await expect.poll(() => a.model.asked.length).toBe(3);
    a.cable.cut();
    const answer = await lost;
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(await answer.json()).toMatchObject({ error: { code: "unknown_outcome" } });
    finish();
    a.cable.heal();
  });

  test("whose runs a stopping node does not wait for are interrupted, and the next node says why", async () => {
    const model = scriptedModel([() => new Promise(() => {})]);
    const a = await openGateway("a", model);
    const b = await openGateway("b", ["Going on."]);
    const sessionId = await createSession(a);
    await a.client.must("session.prompt", { sessionId, message: "Work for ever." });
    const getStatus = async () =>
      (await b.client.must<{ sessions: Listed[] }>("sessions.list")).sessions.find(({ id }) => id === sessionId)
        ?.status;
    await expect.poll(getStatus).toBe("running");
    await a.gateway.stop();
    await expect.poll(getStatus).toBe("interrupted");
    await b.client.must("sessions.open", { sessionId });
    const entries = await b.client.must("session.get_entries", { sessionId });
    expect(JSON.stringify(entries)).toContain("gateway_disconnected");
    await b.client.must("session.execute", { sessionId, prompt: "Go on." });
    await expect.poll(getStatus).toBe("idle");
  });
});

/** A gateway whose sessions, messages and schedules are in a storage that is no directory. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createMemoryStorage } from "@tau/harness/session";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw } from "../src/testing/raw-client.ts";
import { openTestGateway, type TestGateway } from "../src/testing/test-gateway.ts";

const storage = () => createMemoryStorage();

/** Opens a gateway with an empty directory of its own, as another machine would. */
async function open(options: Parameters<typeof openTestGateway>[0]): Promise<TestGateway> {
  const opened = await openTestGateway(options);
  onTestFinished(() => opened.close());
  return opened;
}

const connect = async ({ gateway, token }: TestGateway) => {
  const client = await connectRaw(gateway.url, { token });
  onTestFinished(() => client.close());
  return client;
};

test("another machine with the same storage lists the sessions and continues them, and no file has them", async () => {
  const shared = storage();
  const first = await open({ model: scriptedModel([[text("Four.")]]), options: { storage: shared } });
  const client = await connect(first);
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  await client.must("session.prompt", { sessionId, message: "Two and two?" });
  const said = async ({ gateway }: TestGateway) =>
    (await gateway.parts.sessions.open(sessionId)).hosted.session.messages.map(({ role }) => role);
  await expect.poll(() => said(first)).toEqual(["user", "assistant"]);
  await first.gateway.stop();
  const own = readdirSync(first.agentDir, { recursive: true }).map(String);
  expect(own.filter((name) => name.endsWith(".jsonl") || name.startsWith("sessions"))).toEqual([]);

  const second = await open({ model: scriptedModel([[text("Five.")]]), options: { storage: shared } });
  const other = await connect(second);
  const { sessions } = await other.must<{ sessions: { id: string; firstMessage: string }[] }>("sessions.list", {});
  expect(sessions).toMatchObject([{ id: sessionId, firstMessage: "Two and two?" }]);
  const usage = await other.must<{ sessions: unknown[] }>("usage.get", { sessionId });
  expect(usage.sessions).toHaveLength(1);
  await other.must("session.prompt", { sessionId, message: "And one?" });
  await expect.poll(() => said(second)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("a message that waits when a gateway is stopped is said by the next one with the same storage", async () => {
  const shared = storage();
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const never = async () => {
    await gate;
    return [text("Begun.")];
  };
  const first = await open({ model: scriptedModel([never]), options: { storage: shared } });
  const client = await connect(first);
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  await client.must("session.prompt", { sessionId, message: "Begin." });
  await client.must("session.prompt", { sessionId, message: "Later.", queueMode: "collect" });
  expect((await shared.list("gateway")).map(({ key }) => key)).toContain("gateway/inbox");
  await first.gateway.stop();
  release();
  const second = await open({ model: scriptedModel([[text("Done.")], [text("Done.")]]), options: { storage: shared } });
  const listSaid = async () => {
    const { hosted } = await second.gateway.parts.sessions.open(sessionId);
    return JSON.stringify(hosted.session.messages);
  };
  await expect.poll(listSaid).toContain("Later.");
  await expect.poll(() => second.gateway.parts.inbox.counts).toEqual({ waiting: 0, dead: 0 });
});

test("two gateways never share a storage", async () => {
  const shared = storage();
  const first = await open({ options: { storage: shared } });
  const client = await connect(first);
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  expect(sessionId).not.toBe("");
  expect(existsSync(join(first.agentDir, "sessions"))).toBe(false);
  await expect(openTestGateway({ options: { storage: shared } })).rejects.toMatchObject({ code: "unavailable" });
});

test("a search and a report of usage are refused where sessions are in a storage, because they need files", async () => {
  const opened = await open({ model: scriptedModel([[text("Four.")]]), options: { storage: storage() } });
  const client = await connect(opened);
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: opened.workspace });
  const refused = {
    ok: false,
    error: { code: "unavailable", message: expect.stringContaining("Only sessions in files") },
  };
  expect(await client.call("sessions.search", { text: "two" })).toMatchObject(refused);
  expect(await client.call("session.search_sessions", { sessionId, text: "two" })).toMatchObject(refused);
  expect(await client.call("usage.report")).toMatchObject(refused);
  expect(await client.call("session.get_usage_report", { sessionId })).toMatchObject(refused);
});

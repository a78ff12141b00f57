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

test("sessions of a storage are listed, named, switched to, deleted and restored, also by the next gateway", async () => {
  const shared = storage();
  const first = await open({ options: { storage: shared } });
  const client = await connect(first);
  const [own, other] = await Promise.all(
    ["Own", "Other"].map(async (name) => {
      const created = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace, name });
      return created.sessionId;
    }),
  );
  const at = (more: object) => ({ sessionId: own, ...more });
  const listNames = async (from: typeof client, method: "sessions.list" | "session.list_sessions") => {
    const { sessions } = await from.must<{ sessions: { name: string }[] }>(
      method,
      method === "sessions.list" ? {} : at({}),
    );
    return sessions.map(({ name }) => name).toSorted();
  };
  for (const isOpen of [true, false]) {
    if (!isOpen) await client.must("sessions.close", { sessionId: other });
    await client.must("session.rename_session", at({ session: other, name: `Renamed ${isOpen}` }));
    expect(await listNames(client, "sessions.list")).toEqual(["Own", `Renamed ${isOpen}`]);
    expect(await listNames(client, "session.list_sessions")).toEqual(["Own", `Renamed ${isOpen}`]);
    const switched = await client.must("session.switch_session", at({ sessionPath: other!.slice(0, 13) }));
    expect(switched).toEqual({ sessionId: other, cancelled: false });
  }
  expect(await client.must("session.delete_session", at({ session: other }))).toEqual({ id: other });
  expect(await listNames(client, "sessions.list")).toEqual(["Own"]);
  expect(await client.call("sessions.open", { sessionId: other })).toMatchObject({ error: { code: "not_found" } });
  expect(await client.call("session.delete_session", at({ session: other }))).toMatchObject({
    error: { code: "session_not_found" },
  });
  await first.gateway.stop();

  const second = await open({ options: { storage: shared } });
  const next = await connect(second);
  expect(await listNames(next, "sessions.list")).toEqual(["Own"]);
  // As the page does: the deleted session is the one that the command is for.
  await next.must("session.restore_session", { sessionId: other, session: other });
  expect(await listNames(next, "sessions.list")).toEqual(["Own", "Renamed false"]);
  await next.must("session.delete_session", { sessionId: other, session: other });
  await next.must("session.restore_session", at({ session: other!.slice(0, 13) }));
  await next.must("sessions.open", { sessionId: other });
  expect(await next.call("session.restore_session", at({ session: other }))).toMatchObject({
    error: { code: "session_not_found" },
  });
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

test("a search is refused where sessions are in a storage, because it needs files", async () => {
  const opened = await open({ options: { storage: storage() } });
  const client = await connect(opened);
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: opened.workspace });
  const refused = {
    ok: false,
    error: { code: "unavailable", message: expect.stringContaining("Only sessions in files") },
  };
  expect(await client.call("sessions.search", { text: "two" })).toMatchObject(refused);
  expect(await client.call("session.search_sessions", { sessionId, text: "two" })).toMatchObject(refused);
});

test("what the sessions of a storage have used is reported, without those that were deleted", async () => {
  const shared = storage();
  const opened = await open({ model: scriptedModel([[text("Four.")], [text("Five.")]]), options: { storage: shared } });
  const client = await connect(opened);
  const create = async () => {
    const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: opened.workspace });
    await client.must("session.execute", { sessionId, prompt: "Two and two?" });
    return sessionId;
  };
  const [sessionId, other] = [await create(), await create()];
  const count = async () => {
    const reports = [await client.must("usage.report"), await client.must("session.get_usage_report", { sessionId })];
    return reports.map((report) => (report as { total: { requests: number } }).total.requests);
  };
  expect(await count()).toEqual([2, 2]);
  await client.must("session.delete_session", { sessionId, session: other });
  expect(await count()).toEqual([1, 1]);
});

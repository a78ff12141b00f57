import { scriptedModel } from "@tau/ai/testing";
import { appendFile, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AgentSession } from "../../src/agent-session/agent-session.ts";
import { createHost, type HostParams } from "../../src/host/host.ts";
import { createFileStorage } from "../../src/session/file-storage.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { StoredSessions } from "../../src/session/stored-sessions.ts";
import { trashSession } from "../../src/session/trash.ts";
import { createMemoryStorage, type Storage } from "@tau/tools/storage";
import { SettingsManager } from "@tau/config/settings";

async function openHost() {
  const directory = await mkdtemp(join(tmpdir(), "tau-host-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const agentDir = join(directory, "agent");
  const model = scriptedModel([]);
  onTestFinished(() => model.dispose());
  const prepared: AgentSession[] = [];
  const host = createHost({
    agentDir,
    params: { cwd: directory, model, settingsManager: SettingsManager.inMemory({}) },
    prepare: (session) => void prepared.push(session),
  });
  onTestFinished(() => host.dispose());
  const writeSession = async (content: string) => {
    const session = await SessionManager.create(directory, undefined, { agentDir, durability: "none" });
    await session.appendMessage({ role: "user", content, timestamp: 1 });
    await session.close();
    return session.getSessionFile()!;
  };
  return { host, directory, prepared, writeSession };
}

test("the sessions of a host are in its agent directory, without being told so once more", async () => {
  const { host } = await openHost();
  const { sessionFile } = host.get(await host.create()).session;
  expect(sessionFile).toMatch(new RegExp(`^${host.agentDir}/`));
});

test("a tenant does not see what other sessions have used", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-host-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const model = scriptedModel([]);
  onTestFinished(() => model.dispose());
  const host = createHost({ agentDir: directory, params: { cwd: directory, model, isolation: "tenant" } });
  onTestFinished(() => host.dispose());
  const report = host.execute(await host.create(), { type: "get_usage_report" });
  await expect(report).rejects.toMatchObject({ code: "denied" });
});

describe("sessions of a storage", () => {
  async function openStored(storage: Storage, params: Partial<HostParams> = {}) {
    const directory = await mkdtemp(join(tmpdir(), "tau-host-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
    const model = scriptedModel([]);
    onTestFinished(() => model.dispose());
    const settingsManager = SettingsManager.inMemory({});
    const host = createHost({ agentDir: directory, params: { cwd: "/", model, settingsManager, storage, ...params } });
    onTestFinished(() => host.dispose());
    const create = async (name: string) => {
      const id = await host.create();
      await host.execute(id, { type: "set_session_name", name });
      return id;
    };
    const list = async (sessionId: string, more: object = {}) => {
      const { sessions } = await host.execute(sessionId, { type: "list_sessions", ...more });
      return sessions.map(({ name }) => name).toSorted();
    };
    return { host, create, list };
  }

  test("are listed, named, switched to, deleted and restored by the commands, and only those that are not open", async () => {
    const { host, create, list } = await openStored(createMemoryStorage());
    const [own, other] = [await create("Own"), await create("Other")];
    expect(await list(own)).toEqual(["Other", "Own"]);
    expect(await list(own, { query: "oth" })).toEqual(["Other"]);
    const page = await host.execute(own, { type: "list_sessions", limit: 1 });
    expect(await list(own, { limit: 1, cursor: page.cursor })).toHaveLength(1);
    for (const session of [own, other]) {
      const deleted = host.execute(own, { type: "delete_session", session });
      await expect(deleted).rejects.toMatchObject({ code: "busy" });
    }
    await host.execute(own, { type: "rename_session", session: other, name: "Open" });
    expect(host.get(other).view.log.name).toBe("Open");
    await host.close(other);
    await host.execute(own, { type: "rename_session", session: other, name: "Closed" });
    expect(await host.execute(own, { type: "delete_session", session: other.slice(0, 13) })).toEqual({ id: other });
    expect(await list(own)).toEqual(["Own"]);
    for (const type of ["delete_session", "rename_session"] as const)
      await expect(host.execute(own, { type, session: other, name: "x" })).rejects.toMatchObject({
        code: "session_not_found",
      });
    await expect(host.execute(own, { type: "switch_session", sessionPath: other })).rejects.toMatchObject({
      code: "session_not_found",
    });
    expect(await host.execute(own, { type: "restore_session", session: other })).toMatchObject({ id: other });
    expect(await list(own)).toEqual(["Closed", "Own"]);
    expect(await host.execute(own, { type: "switch_session", sessionPath: other })).toEqual({
      sessionId: other,
      cancelled: false,
    });
    expect(host.get(other).view.log.name).toBe("Closed");
  });

  test("are not deleted while another process writes them, and a deleted one is not opened by any way", async () => {
    const storage = createMemoryStorage();
    const sessions = new StoredSessions(storage);
    const writer = await SessionManager.continueStored("/", "busy", { storage });
    await writer.appendMessage({ role: "user", content: "Hello.", timestamp: 1 });
    await expect(sessions.delete("busy")).rejects.toMatchObject({ code: "read_only" });
    await expect(sessions.rename("busy", "x")).rejects.toMatchObject({ code: "read_only" });
    await writer.close();
    await sessions.delete("busy");
    expect([await sessions.has("busy"), await sessions.list()]).toEqual([false, []]);
    const gone = { code: "session_not_found", message: expect.stringContaining("Restore it first") };
    await expect(SessionManager.continueStored("/", "busy", { storage })).rejects.toMatchObject(gone);
    await expect(sessions.open("busy")).rejects.toMatchObject(gone);
    const beside = await SessionManager.create("/", undefined, { storage });
    await expect(beside.openSession("busy")).rejects.toMatchObject(gone);
    expect(await sessions.list({ deleted: true })).toMatchObject([{ id: "busy", isDeleted: true, messageCount: 1 }]);
    await sessions.restore("bu");
    const again = await sessions.open("busy");
    expect((await again.buildContext()).messages).toMatchObject([{ role: "user", content: "Hello." }]);
    await again.close();
    expect(await storage.remove("session/busy")).toEqual({ kind: "removed" });
  });

  test("go to the trash of their directory where the storage is files", async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-host-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
    const storage = createFileStorage({ directory });
    const manager = await SessionManager.continueStored("/", "one", { storage });
    await manager.appendSessionInfo("One");
    await manager.close();
    const sessions = new StoredSessions(storage);
    expect((await sessions.delete("one")).path).toMatch(/\/trash\//);
    expect(await sessions.list()).toEqual([]);
    await sessions.restore("one");
    expect(await sessions.list()).toMatchObject([{ id: "one", name: "One" }]);
  });

  test("are not shown to a tenant", async () => {
    const { host } = await openStored(createMemoryStorage(), { isolation: "tenant" });
    const sessionId = await host.create();
    const listing = host.execute(sessionId, { type: "list_sessions", all: true });
    await expect(listing).rejects.toMatchObject({ code: "denied" });
  });
});

test("a session that is opened twice at the same time is opened once, and the other log is closed", async () => {
  const { host, prepared, writeSession } = await openHost();
  const path = await writeSession("Hello.");
  const open = async () => await host.open(await SessionManager.open(path));
  const [first, second] = await Promise.all([open(), open()]);
  expect(second).toBe(first);
  expect(host.sessionIds).toEqual([first]);
  expect(prepared).toEqual([host.get(first).session]);
  await host.close(first);
  const again = await SessionManager.open(path);
  expect(again.readOnly).toBeUndefined();
  await again.close();
});

test.each([{}, { sort: "created" as const }])(
  "a list of sessions says that it cannot be continued where its last session is gone (%j)",
  async (options) => {
    const { host, writeSession } = await openHost();
    for (const content of ["a", "b", "c"]) await writeSession(content);
    const sessionId = await host.create();
    const list = (cursor?: string) =>
      host.execute(sessionId, { type: "list_sessions", limit: 2, ...options, ...(cursor !== undefined && { cursor }) });
    const { sessions, cursor } = await list();
    expect((await list(cursor)).sessions).toHaveLength(1);
    const last = sessions.at(-1)!;
    expect(cursor).toBe(last.id);
    await trashSession(last.path);
    const error = { code: "invalid_input", message: expect.stringContaining("is not in it any more") };
    await expect(list(cursor)).rejects.toMatchObject(error);
  },
);

test.each([{}, { limit: 1 }, { sort: "created" as const }])(
  "a list of sessions leaves out those that work for another one, if it is asked to (%j)",
  async (options) => {
    const { host, writeSession } = await openHost();
    for (const content of ["a", "b", "c"]) await writeSession(content);
    const sessionId = await host.create();
    const { session } = host.get(sessionId);
    for (const name of ["d", "e"]) {
      const child = await session.openChild({ name });
      await child.sessionManager.appendMessage({ role: "user", content: name, timestamp: 0 });
      await child.dispose();
    }
    const listAll = async (children?: boolean) => {
      const found: (string | undefined)[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await host.execute(sessionId, {
          type: "list_sessions",
          ...options,
          ...(children !== undefined && { children }),
          ...(cursor !== undefined && { cursor }),
        });
        found.push(...page.sessions.map(({ startedBy }) => startedBy));
        cursor = page.cursor;
        if (cursor === undefined) return found;
      }
    };
    expect(await listAll(false)).toEqual([undefined, undefined, undefined]);
    expect((await listAll()).filter((startedBy) => startedBy === sessionId)).toHaveLength(2);
  },
);

test("a session that is open for another client is switched to and renamed where it is open, and not deleted", async () => {
  const { host, directory, writeSession } = await openHost();
  const path = await writeSession("Hello.");
  const other = await host.open(await SessionManager.open(path));
  const sessionId = await host.create();
  const link = join(directory, "link.jsonl");
  await symlink(path, link);
  for (const session of [other, path, link]) {
    const shown = await host.execute(sessionId, { type: "switch_session", sessionPath: session });
    expect(shown).toEqual({ sessionId: other, cancelled: false });
    await host.execute(sessionId, { type: "rename_session", session, name: `From ${session}` });
    expect(host.get(other).view.log.name).toBe(`From ${session}`);
    const deleted = host.execute(sessionId, { type: "delete_session", session });
    await expect(deleted).rejects.toMatchObject({ code: "busy" });
  }
});

test("a session that another process wrote is opened again once that one has let it go", async () => {
  const { host, writeSession } = await openHost();
  const path = await writeSession("Hello.");
  const writer = await SessionManager.open(path);
  const reader = await host.open(await SessionManager.open(path));
  const sessionId = await host.create();
  const resume = () => host.execute(sessionId, { type: "switch_session", sessionPath: path });
  const isReadOnly = () => host.get(reader).session.sessionManager.readOnly !== undefined;
  expect(await resume()).toEqual({ sessionId: reader, cancelled: false });
  expect(isReadOnly()).toBe(true);
  await writer.appendSessionInfo("Written elsewhere");
  await writer.close();
  expect(await resume()).toEqual({ sessionId: reader, cancelled: false });
  expect(isReadOnly()).toBe(false);
  expect(host.get(reader).view.log.name).toBe("Written elsewhere");
});

test("a host that is disposed leaves no session open that was being opened", async () => {
  const { host, writeSession } = await openHost();
  const path = await writeSession("Hello.");
  const manager = await SessionManager.open(path);
  const opened = Promise.allSettled([host.open(manager), host.create()]);
  await host.dispose();
  const closed = { status: "rejected", reason: { code: "closed" } };
  expect(await opened).toMatchObject([closed, closed]);
  expect(host.sessionIds).toEqual([]);
  const again = await SessionManager.open(path);
  expect(again.readOnly).toBeUndefined();
  await again.close();
});

test("a subscriber that causes events while it catches up gets them too, in order", async () => {
  const { host } = await openHost();
  const hosted = host.get(await host.create());
  const notify = (message: string) => hosted.session.notify("test", message);
  notify("1");
  notify("2");
  const from = { epoch: hosted.epoch, seq: hosted.position.seq - 2 };
  const told: string[] = [];
  hosted.subscribe((item) => {
    if (item.kind !== "event" || item.event.type !== "notice") return;
    told.push(item.event.message);
    if (item.event.message === "1") notify("3");
    if (item.event.message === "3") notify("4");
  }, from);
  notify("5");
  expect(told).toEqual(["1", "2", "3", "4", "5"]);
});

test.each([Number.NaN, 0.5, 99])("the event %d is refused as the last one that a client has seen", async (seq) => {
  const { host } = await openHost();
  const hosted = host.get(await host.create());
  hosted.session.notify("test", "Hello.");
  expect(() => hosted.subscribe(() => {}, { epoch: hosted.epoch, seq })).toThrow(/does not exist/);
});

test("a prompt for a log that another writer has is refused as such, and not as a failure of the disk", async () => {
  const { host } = await openHost();
  const hosted = host.get(await host.create());
  await hosted.session.persist();
  await appendFile(hosted.session.sessionFile!, '{"type":"label"}\n');
  await expect(hosted.submit("Hello.", {})).rejects.toMatchObject({ code: "overtaken" });
});

test("only a client with the scope admin chooses the permission mode free, and no other gets a session in it", async () => {
  const { host } = await openHost();
  const sessionId = await host.create();
  const set = (mode: string, scopes?: string[]) =>
    host.execute(sessionId, { type: "set_permission_mode", mode }, scopes ? { scopes } : {});
  const getMode = (id: string) => host.get(id).view.live.permissionMode;
  await expect(set("free", ["read", "write", "approve"])).rejects.toThrow("with the scope admin");
  expect(getMode(sessionId)).toBe("edit");
  expect(await set("ask", ["read", "write", "approve"])).toMatchObject({ mode: "ask" });
  await set("free", ["read", "write", "approve", "admin"]);
  expect(getMode(sessionId)).toBe("free");
  const begin = (scopes: string[]) => host.execute(sessionId, { type: "new_session" }, { scopes });
  expect(getMode((await begin(["read", "write"])).sessionId)).toBe("edit");
  expect(getMode((await begin(["read", "write", "admin"])).sessionId)).toBe("free");
});

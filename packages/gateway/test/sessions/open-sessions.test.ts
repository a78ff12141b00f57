import { mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { HarnessError, SessionManager, SettingsManager } from "@tau/harness";
import { createHost } from "@tau/harness/host";
import type { OpenSessionData } from "@tau/protocol/gateway";
import { describe, expect, onTestFinished, test } from "vitest";
import type { OpenDirectory } from "../../src/index.ts";
import { connectRaw, openTestGateway, type RawClient, type TestGatewayOptions } from "../../src/testing/index.ts";

const idleCloseMs = 60_000;

/** A gateway with a clock that stands still, and a client. */
async function open(given: TestGatewayOptions = {}) {
  const clock = createFakeClock();
  const settings = { gateway: { idleCloseMs }, ...given.settings };
  const test = await openTestGateway({ ...given, settings, options: { clock, ...given.options } });
  onTestFinished(test.close);
  const connect = (more: Record<string, unknown> = {}) =>
    connectRaw(test.gateway.url, { token: test.token, connect: more });
  const client = await connect();
  const listOpen = () => test.gateway.parts.sessions.list().map(({ sessionId }) => sessionId);
  return { ...test, clock, connect, client, listOpen };
}

const create = (client: RawClient, cwd: string, more: Record<string, unknown> = {}) =>
  client.must<OpenSessionData>("sessions.create", { cwd, ...more });

/** A closed session with one entry. */
async function writeSession(cwd: string, agentDir: string): Promise<string> {
  const manager = await SessionManager.create(cwd, undefined, { agentDir });
  await manager.appendSessionInfo("Written");
  await manager.close();
  return manager.id;
}

/** A tool that waits until it is told to go on. */
function createWaiting() {
  let goOn = () => {};
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  const tool = {
    name: "wait",
    label: "wait",
    description: "Waits.",
    parameters: { type: "object", properties: {} },
    execute: async (_id: string, _params: unknown, signal?: AbortSignal) => {
      await Promise.race([waiting, new Promise((resolve) => signal?.addEventListener("abort", resolve))]);
      return { content: [{ type: "text" as const, text: "Done." }] };
    },
  };
  return { tool, goOn: () => goOn() };
}

describe("a session that is not used", () => {
  test("is closed, with its directory, and opened again by its id", async () => {
    const model = scriptedModel([[text("One.")], [text("Two.")]]);
    const lives: string[] = [];
    const openDirectory: OpenDirectory = async (cwd, own) => {
      lives.push("opened");
      const params = { cwd, model, settingsManager: SettingsManager.inMemory({}), ...own };
      return createHost({ agentDir, params: { ...params, agentDir }, onDispose: async () => void lives.push("left") });
    };
    const opened = await open({ options: { openDirectory } });
    const { client, workspace, clock, listOpen, agentDir } = opened;
    const { sessionId } = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    await clock.advance(idleCloseMs - 1);
    expect(listOpen()).toEqual([sessionId]);
    // A request is a use, and so was the run: it is looked at again later.
    await clock.advance(2 * idleCloseMs + 1);
    await expect.poll(listOpen).toEqual([]);
    await expect.poll(() => lives).toEqual(["opened", "left"]);
    await client.must("session.execute", { sessionId, prompt: "Second." });
    expect(listOpen()).toEqual([sessionId]);
    const { messages } = await client.must<{ messages: unknown[] }>("session.get_messages", { sessionId });
    expect(messages).toHaveLength(4);
  });

  test("stays open while a client follows it", async () => {
    const { client, workspace, clock, listOpen } = await open();
    const { sessionId } = await create(client, workspace);
    await client.must("sessions.subscribe", { sessionId });
    await clock.advance(10 * idleCloseMs);
    expect(listOpen()).toEqual([sessionId]);
    await client.must("sessions.unsubscribe", { sessionId });
    await clock.advance(2 * idleCloseMs);
    await expect.poll(listOpen).toEqual([]);
  });

  test("is not kept open by a client that left before it was opened", async () => {
    let goOn = () => {};
    const opening = new Promise<void>((resolve) => (goOn = resolve));
    const openDirectory: OpenDirectory = async (cwd, own) => {
      await opening;
      const settingsManager = SettingsManager.inMemory({});
      return createHost({ agentDir, params: { cwd, agentDir, model: scriptedModel([]), settingsManager, ...own } });
    };
    const { connect, client, workspace, agentDir, clock, listOpen, gateway } = await open({
      options: { openDirectory },
    });
    const sessionId = await writeSession(workspace, agentDir);
    const leaving = await connect();
    leaving.call("sessions.subscribe", { sessionId }).catch(() => undefined);
    await leaving.must("health");
    leaving.socket.terminate();
    await expect.poll(() => gateway.parts.connections.count).toBe(1);
    goOn();
    await client.must("sessions.open", { sessionId });
    await clock.advance(3 * idleCloseMs);
    await expect.poll(listOpen).toEqual([]);
  });

  test("stays open while its run goes on, and while a command runs in the background", async () => {
    const { tool, goOn } = createWaiting();
    const background = call("bash", { command: "sleep 60", background: true });
    const model = scriptedModel([[call("wait")], [text("Done.")], [background], [text("Started.")]]);
    const params = { customTools: [tool], decide: () => ({ kind: "allow", rule: "test" }) as const };
    const { client, workspace, clock, listOpen, gateway } = await open({ model, params });
    const { sessionId } = await create(client, workspace);
    await client.must("session.prompt", { sessionId, message: "Wait." });
    await clock.advance(5 * idleCloseMs);
    expect(listOpen()).toEqual([sessionId]);
    goOn();
    const { session } = gateway.parts.sessions.find(sessionId)!.hosted;
    await session.waitForIdle();
    await client.must("session.execute", { sessionId, prompt: "Start it." });
    await clock.advance(5 * idleCloseMs);
    expect(listOpen()).toEqual([sessionId]);
  });
});

describe("opening", () => {
  test("two clients at once get one session", async () => {
    const { client, connect, workspace, gateway, listOpen } = await open({ model: scriptedModel([[text("One.")]]) });
    const { sessionId } = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    await client.must("sessions.close", { sessionId });
    const other = await connect();
    await Promise.all([client, other, client, other].map((each) => each.must("sessions.open", { sessionId })));
    expect(listOpen()).toEqual([sessionId]);
    expect(gateway.parts.sessions.find(sessionId)!.hosted.session.readOnly).toBeUndefined();
  });

  test("a session can be closed and opened at the same time", async () => {
    const { client, workspace } = await open({ model: scriptedModel([[text("One.")]]) });
    const { sessionId } = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    for (let round = 0; round < 10; round++) {
      const closing = client.must("sessions.close", { sessionId });
      const state = await client.must<{ sessionId: string }>("session.get_state", { sessionId });
      expect(state.sessionId).toBe(sessionId);
      await closing;
    }
  });

  test("forty sessions are opened and closed by two clients, and none is lost", async () => {
    const model = scriptedModel(Array.from({ length: 40 }, () => [text("Here.")]));
    const settings = { gateway: { idleCloseMs, devices: { maxOpenSessions: 40 } } };
    const { client, connect, workspace, listOpen, gateway } = await open({ model, settings });
    const directories = [join(workspace, "a"), join(workspace, "b")];
    await Promise.all(directories.map((directory) => mkdir(directory)));
    const created = await Promise.all(
      Array.from({ length: 40 }, (_unused, index) => create(client, directories[index % 2]!)),
    );
    const ids = created.map(({ sessionId }) => sessionId);
    await Promise.all(ids.map((sessionId) => client.must("session.execute", { sessionId, prompt: "Are you there?" })));
    const other = await connect();
    await Promise.all(
      ids.map(async (sessionId, index) => {
        await client.must("sessions.close", { sessionId });
        const [open] = await Promise.all([
          (index % 2 === 0 ? other : client).must<OpenSessionData>("sessions.open", { sessionId }),
          other.must("session.get_state", { sessionId }),
        ]);
        expect(open.sessionId).toBe(sessionId);
      }),
    );
    expect(listOpen().toSorted()).toEqual(ids.toSorted());
    await Promise.all(ids.map((sessionId) => client.must("sessions.close", { sessionId })));
    expect(gateway.parts.sessions.list()).toEqual([]);
  });

  test("a directory that cannot be opened leaves its session free", async () => {
    let fails = true;
    const openDirectory: OpenDirectory = async (cwd, own) => {
      if (fails) throw new HarnessError("invalid_input", "The settings of the directory are damaged.");
      return createHost({ agentDir, params: { cwd, agentDir, settingsManager: SettingsManager.inMemory({}), ...own } });
    };
    const { client, workspace, agentDir } = await open({ options: { openDirectory } });
    const sessionId = await writeSession(workspace, agentDir);
    const refused = { ok: false, error: { code: "invalid_input" } };
    expect(await client.call("sessions.open", { sessionId })).toMatchObject(refused);
    expect(await client.call("sessions.create", { cwd: workspace })).toMatchObject(refused);
    fails = false;
    expect(await client.call("sessions.open", { sessionId })).toMatchObject({ ok: true });
  });

  test("a session that another process writes is a conflict, and one that nobody knows is not found", async () => {
    const { client, workspace, agentDir } = await open();
    const held = await SessionManager.create(workspace, undefined, { agentDir });
    await held.appendSessionInfo("Held");
    expect(await client.call("sessions.open", { sessionId: held.id })).toMatchObject({
      ok: false,
      error: { code: "conflict", message: expect.stringContaining("another part of this program") as unknown },
    });
    await held.close();
    expect(await client.call("sessions.open", { sessionId: held.id })).toMatchObject({ ok: true });
    for (const sessionId of ["nobody", "../../etc/passwd", "a/b", "x".repeat(5_000)]) {
      expect(await client.call("session.get_state", { sessionId })).toMatchObject({ error: { code: "not_found" } });
    }
  });
});

describe("creating", () => {
  test("takes directories below the roots only, by their real paths", async () => {
    const outside = await mkdtemp(join(tmpdir(), "tau-outside-"));
    onTestFinished(() => rm(outside, { recursive: true }));
    const { client, workspace } = await open();
    const [inner, link] = [join(workspace, "inner"), join(workspace, "link")];
    await mkdir(inner);
    await symlink(outside, link);
    expect(await create(client, inner)).toMatchObject({ cwd: inner, status: "idle" });
    const refused = [outside, link, "/", join(workspace, ".."), join(workspace, "missing"), `${workspace}-other`];
    for (const cwd of refused) {
      expect(await client.call("sessions.create", { cwd })).toMatchObject({ error: { code: "forbidden" } });
    }
    for (const cwd of [".", "inner", `${workspace}\0`]) {
      expect(await client.call("sessions.create", { cwd })).toMatchObject({ error: { code: "invalid_parameters" } });
    }
  });

  test("the setting says where the roots are", async () => {
    const root = await mkdtemp(join(tmpdir(), "tau-root-"));
    onTestFinished(() => rm(root, { recursive: true }));
    const { client, workspace } = await open({ settings: { gateway: { roots: [root] } } });
    expect(await create(client, root)).toMatchObject({ status: "idle" });
    expect(await client.call("sessions.create", { cwd: workspace })).toMatchObject({ error: { code: "forbidden" } });
  });
});

describe("a session that stops when everybody has left", () => {
  async function run(onDisconnect: "stop" | "continue") {
    const { tool, goOn } = createWaiting();
    const model = scriptedModel([[call("wait")], [text("Done.")]]);
    const opened = await open({ model, params: { customTools: [tool] } });
    const leaving = await opened.connect();
    const { sessionId } = await create(leaving, opened.workspace, { onDisconnect });
    const { session, view: _view } = opened.gateway.parts.sessions.find(sessionId)!.hosted;
    const getView = () => opened.gateway.parts.sessions.find(sessionId)!.hosted.view;
    await leaving.must("sessions.subscribe", { sessionId });
    await leaving.must("session.prompt", { sessionId, message: "Wait." });
    await expect.poll(() => getView().live.tools.length).toBe(1);
    leaving.close();
    await expect.poll(() => opened.gateway.parts.subscriptions.count(sessionId)).toBe(0);
    return { ...opened, sessionId, session, getView, goOn };
  }

  test("ends its run half a minute later", async () => {
    const { clock, session, getView } = await run("stop");
    await clock.advance(29_999);
    expect(session.isStreaming).toBe(true);
    await clock.advance(1);
    await session.waitForIdle();
    expect(getView().live.ended?.reason).toBe("gateway_disconnected");
  });

  test("goes on if somebody comes back in time", async () => {
    const { clock, session, client, sessionId, getView, goOn } = await run("stop");
    await clock.advance(20_000);
    await client.must("sessions.subscribe", { sessionId });
    await clock.advance(60_000);
    expect(session.isStreaming).toBe(true);
    goOn();
    await session.waitForIdle();
    expect(getView().live.ended?.reason).toBe("no_tool_calls");
  });

  test("goes on by default", async () => {
    const { clock, session, getView, goOn } = await run("continue");
    await clock.advance(60_000);
    goOn();
    await session.waitForIdle();
    expect(getView().live.ended?.reason).toBe("no_tool_calls");
  });

  test("ends also if whoever opened it left without following it", async () => {
    const { tool } = createWaiting();
    const model = scriptedModel([[call("wait")], [text("Done.")]]);
    const { connect, workspace, gateway, clock } = await open({ model, params: { customTools: [tool] } });
    const leaving = await connect();
    const { sessionId } = await create(leaving, workspace, { onDisconnect: "stop" });
    const { hosted } = gateway.parts.sessions.find(sessionId)!;
    await leaving.must("session.prompt", { sessionId, message: "Wait." });
    await expect.poll(() => hosted.view.live.tools.length).toBe(1);
    await clock.advance(60_000);
    expect(hosted.session.isStreaming).toBe(true);
    leaving.close();
    await leaving.closed;
    await expect.poll(() => gateway.parts.connections.count).toBe(1);
    await clock.advance(30_000);
    await hosted.session.waitForIdle();
    expect(hosted.view.live.ended?.reason).toBe("gateway_disconnected");
  });
});

test("a session whose file has another name is opened by the id in its header, also before it was listed", async () => {
  const { client, workspace, agentDir } = await open();
  const id = await writeSession(workspace, agentDir);
  const root = join(agentDir, "sessions");
  const [directory = ""] = await readdir(root);
  const [name = ""] = (await readdir(join(root, directory))).filter((each) => each.endsWith(".jsonl"));
  await rename(join(root, directory, name), join(root, directory, "talk.jsonl"));
  expect(await client.must("sessions.open", { sessionId: id })).toMatchObject({ sessionId: id, name: "Written" });
});

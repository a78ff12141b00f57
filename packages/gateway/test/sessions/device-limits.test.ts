/** Limits of what one device may use at a time. */
import { createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { chooseClosing, type HeldSession } from "../../src/sessions/held-sessions.ts";
import { connectRaw, openTestGateway, type RawClient, type TestGatewayOptions } from "../../src/testing/index.ts";

async function open(devices: object, options: TestGatewayOptions = {}) {
  const clock = createFakeClock(Date.now());
  const kit = await openTestGateway({ ...options, options: { clock }, settings: { gateway: { devices } } as never });
  onTestFinished(kit.close);
  const connect = async (name: string) => {
    const device = await kit.gateway.parts.devices.add({ name, scopes: ["read", "write"] });
    return await connectRaw(kit.gateway.url, { token: device.token, deviceId: device.id });
  };
  const create = async (client: RawClient) =>
    (await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace })).sessionId;
  const listOpen = () => kit.gateway.parts.sessions.list().map(({ sessionId }) => sessionId);
  return { ...kit, connect, create, listOpen };
}

/** A turn that does not end before `end` is called. */
function createSlowTurn() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const turn = async () => {
    await ended;
    return [text("Done.")];
  };
  return { turn, end };
}

test("by default a device holds 32 sessions open, and an idle one is closed for the next", async () => {
  const { connect, create, listOpen } = await open({});
  const client = await connect("Phone");
  const sessionIds: string[] = [];
  for (let count = 0; count < 33; count++) sessionIds.push(await create(client));
  expect(listOpen()).toHaveLength(32);
  expect(listOpen()).not.toContain(sessionIds[0]);
  // It is opened again when it is used, and another one is closed.
  expect((await client.call("session.get_state", { sessionId: sessionIds[0] })).ok).toBe(true);
  expect(listOpen()).toHaveLength(32);
  expect(listOpen()).toContain(sessionIds[0]);
});

test("sessions that are created at once are all answered, and no more stay open than may", async () => {
  const { connect, create, listOpen } = await open({ maxOpenSessions: 3 });
  const client = await connect("Phone");
  const sessionIds = await Promise.all(Array.from({ length: 10 }, () => create(client)));
  expect(new Set(sessionIds).size).toBe(10);
  expect(listOpen()).toHaveLength(3);
  for (const sessionId of sessionIds) {
    expect(await client.must("session.get_state", { sessionId })).toMatchObject({ sessionId });
  }
});

test.each(["new_session", "clone", "branch", "fork"])(
  "sessions that %s begins count, also many at once",
  async (command) => {
    const model = scriptedModel([[text("Hello.")]]);
    const { connect, create, listOpen } = await open({ maxOpenSessions: 3 }, { model });
    const client = await connect("Phone");
    const sessionId = await create(client);
    await client.must("session.execute", { sessionId, prompt: "Hi" });
    const { messages } = await client.must<{ messages: { entryId: string }[] }>("session.get_fork_messages", {
      sessionId,
    });
    const entry = command === "branch" || command === "fork" ? { entryId: messages[0]!.entryId } : {};
    const begun = await Promise.all(
      Array.from({ length: 8 }, () =>
        client.must<{ sessionId: string }>(`session.${command}`, { sessionId, ...entry }),
      ),
    );
    expect(new Set(begun.map((each) => each.sessionId)).size).toBe(8);
    expect(listOpen()).toHaveLength(3);
    for (const other of begun) {
      expect(await client.must("session.get_state", { sessionId: other.sessionId })).toMatchObject({
        sessionId: other.sessionId,
      });
    }
    expect(listOpen()).toHaveLength(3);
  },
);

test("a session that runs is not closed; if all do, another one is refused, also for a prompt", async () => {
  const slow = [createSlowTurn(), createSlowTurn()];
  const model = scriptedModel(slow.map(({ turn }) => turn));
  const { connect, create, listOpen } = await open({ maxOpenSessions: 2 }, { model });
  const client = await connect("Phone");
  const closed = await create(client);
  const running = [await create(client), await create(client)];
  expect(listOpen()).toEqual(expect.arrayContaining(running));
  for (const sessionId of running) await client.must("session.prompt", { sessionId, message: "Work" });
  const refusal = {
    ok: false,
    error: {
      code: "rate_limited",
      retryable: true,
      message: expect.stringContaining("gateway.devices.maxOpenSessions"),
    },
  };
  expect(await client.call("sessions.create", { cwd: "/" })).toMatchObject({ ok: false });
  expect(await client.call("sessions.open", { sessionId: closed })).toMatchObject(refusal);
  expect(await client.call("session.prompt", { sessionId: closed, message: "Hi" })).toMatchObject(refusal);
  // Other devices are not concerned.
  const other = await connect("Laptop");
  const others = await create(other);
  expect(listOpen().toSorted()).toEqual([...running, others].toSorted());
  for (const { end } of slow) end();
  await expect.poll(async () => (await client.call("sessions.open", { sessionId: closed })).ok).toBe(true);
});

test("of the account's own device idle sessions are closed too, and it is never refused", async () => {
  const slow = createSlowTurn();
  const { gateway, token, create, listOpen } = await open(
    { maxOpenSessions: 2 },
    { model: scriptedModel([slow.turn, slow.turn, slow.turn]) },
  );
  const client = await connectRaw(gateway.url, { token });
  const sessionIds = [await create(client), await create(client), await create(client)];
  expect(listOpen()).toHaveLength(2);
  for (const sessionId of sessionIds) await client.must("session.prompt", { sessionId, message: "Work" });
  expect(listOpen().toSorted()).toEqual(sessionIds.toSorted());
  slow.end();
});

test("whoever follows a session of another device keeps it open", async () => {
  const { connect, create, listOpen } = await open({ maxOpenSessions: 1 });
  const [owner, reader] = [await connect("Phone"), await connect("Laptop")];
  const sessionId = await create(owner);
  await reader.must("sessions.subscribe", { sessionId });
  expect((await owner.call("sessions.create", { cwd: "/nowhere" })).ok).toBe(false);
  await expect(create(owner)).rejects.toThrow("all are in use");
  await reader.must("sessions.unsubscribe", { sessionId });
  const next = await create(owner);
  expect(listOpen()).toEqual([next]);
});

const held = (sessionId: string, more: Partial<HeldSession> = {}): HeldSession => ({
  sessionId,
  isIdle: true,
  lastUsedMs: 0,
  followers: [],
  ...more,
});

test.each<[string, HeldSession[], number, string[]]>([
  ["there is room", [held("a")], 0, []],
  ["the one that was used least recently", [held("a", { lastUsedMs: 2 }), held("b", { lastUsedMs: 1 })], 1, ["b"]],
  ["not one that works", [held("a", { isIdle: false }), held("b", { lastUsedMs: 1 })], 1, ["b"]],
  ["one that nobody follows first", [held("a", { followers: ["me"] }), held("b", { lastUsedMs: 9 })], 1, ["b"]],
  ["then one that only the device follows", [held("a", { followers: ["me", "me"] })], 1, ["a"]],
  ["never one that another device follows", [held("a", { followers: ["me", "you"] })], 1, []],
  ["as many as are needed", [held("a"), held("b"), held("c")], 2, ["a", "b"]],
  ["as many as can be", [held("a"), held("b", { isIdle: false })], 2, ["a"]],
])("what is closed: %s", (_name, sessions, excess, closed) => {
  expect(chooseClosing(sessions, "me", excess).map(({ sessionId }) => sessionId)).toEqual(closed);
});

test("the messages of a device that wait have a limit of bytes, in all its sessions together", async () => {
  const slow = createSlowTurn();
  const model = scriptedModel([slow.turn, slow.turn, ...Array.from({ length: 10 }, () => [text("Done.")])]);
  const { connect, create } = await open({ maxWaitingBytes: 1_000 }, { model });
  const client = await connect("Phone");
  const sessionIds = [await create(client), await create(client)];
  for (const sessionId of sessionIds) await client.must("session.prompt", { sessionId, message: "Work" });
  const send = (index: number, length: number, images: object[] = []) =>
    client.call("session.follow_up", { sessionId: sessionIds[index], message: "x".repeat(length), images });
  expect(await send(0, 600)).toMatchObject({ ok: true });
  const refusal = {
    ok: false,
    error: { code: "rate_limited", message: expect.stringContaining("gateway.devices.maxWaitingBytes") },
  };
  expect(await send(1, 600)).toMatchObject(refusal);
  const image = { type: "image", mimeType: "image/png", data: Buffer.alloc(450).toString("base64") };
  expect(await send(1, 10, [image])).toMatchObject(refusal);
  expect(await send(1, 300)).toMatchObject({ ok: true });
  // At the same time no more are accepted than one after the other.
  const answers = await Promise.all([0, 1, 0, 1].map((index) => send(index, 60)));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  const other = await connect("Laptop");
  const params = { sessionId: sessionIds[0], message: "x".repeat(600) };
  expect(await other.call("session.follow_up", params)).toMatchObject({ ok: true });
  slow.end();
  await expect.poll(async () => (await send(1, 900)).ok).toBe(true);
});

/** Messages from the moment that they are accepted until the session has them, through a real gateway. */
import { createFakeClock, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import type { SettingsInput } from "@tau/config/settings";
import type { InboxMessageData } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { createRecordFiles } from "@tau/tools/storage";
import { openInboxStore } from "../src/inbox/inbox-store.ts";
import { connectRaw, openTestGateway } from "../src/testing/index.ts";

/** A model whose answers come when they are let go, one for each request. */
function gatedModel() {
  const gates: (() => void)[] = [];
  const turn: ScriptedTurn = () => new Promise((resolve) => gates.push(() => resolve([text("Answered.")])));
  const model = scriptedModel(Array.from({ length: 50 }, () => turn));
  const release = async () => {
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    gates.shift()!();
  };
  return { model, release, gates };
}

async function open(queue: NonNullable<SettingsInput["gateway"]>["queue"] = {}) {
  const clock = createFakeClock(Date.now());
  const { model, release, gates } = gatedModel();
  const kit = await openTestGateway({ model, settings: { gateway: { queue } }, options: { clock } });
  onTestFinished(kit.close);
  const client = await connectRaw(kit.gateway.url, { token: kit.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace });
  const prompt = (message: string, fields: object = {}) =>
    client.must<{ disposition: string; messageId: string }>("session.prompt", { sessionId, message, ...fields });
  const list = async () => (await client.must<{ messages: InboxMessageData[] }>("inbox.list", {})).messages;
  /** Lists what was sent to the session, in order. */
  const said = async () => {
    const open = await kit.gateway.parts.sessions.open(sessionId);
    return open.hosted.session.messages.flatMap((message) =>
      message.role === "user" ? [(message.content as { text: string }[]).map((block) => block.text).join("|")] : [],
    );
  };
  const idle = async () => await expect.poll(() => kit.gateway.parts.lanes.counts.held).toBe(0);
  return { ...kit, client, clock, sessionId, prompt, list, said, release, gates, idle };
}

test("a prompt begins a run, and steering and follow-ups wait in the session until they are said", async () => {
  const { client, sessionId, prompt, said, list, release, idle } = await open();
  expect(await prompt("Begin.")).toMatchObject({ disposition: "started" });
  expect(await client.must("session.steer", { sessionId, message: "Left." })).toMatchObject({ disposition: "queued" });
  expect(await client.must("session.follow_up", { sessionId, message: "Then." })).toMatchObject({
    disposition: "queued",
  });
  expect((await list()).map((message) => [message.text, message.mode, message.state])).toEqual([
    ["Left.", "steer", "waiting"],
    ["Then.", "followup", "waiting"],
  ]);
  for (let run = 0; run < 3; run++) await release();
  await idle();
  expect(await said()).toEqual(["Begin.", "Left.", "Then."]);
  await expect.poll(list).toEqual([]);
});

test("a message that cannot be said is not accepted, and leaves nothing", async () => {
  const { client, sessionId, prompt, list } = await open();
  await expect(prompt("   ")).rejects.toMatchObject({ code: "invalid_input" });
  await expect(client.must("session.prompt", { sessionId, message: 1 })).rejects.toMatchObject({
    code: "invalid_parameters",
  });
  await expect(client.must("session.prompt", { sessionId: "strange", message: "x" })).rejects.toMatchObject({
    code: expect.stringMatching("not_found") as string,
  });
  await expect.poll(list).toEqual([]);
});

test("collect joins what comes together, and says it when nobody has written for a moment", async () => {
  const { prompt, said, clock, release, idle, list } = await open({ mode: "collect" });
  expect(await prompt("One.")).toMatchObject({ disposition: "accepted" });
  await clock.advance(400);
  await prompt("Two.");
  await clock.advance(400);
  expect([await said(), (await list()).length]).toEqual([[], 2]);
  await clock.advance(100);
  await release();
  // What comes during the run waits for its end, and for the pause.
  await expect.poll(said).toEqual(["One.\n\nTwo."]);
  await idle();
  await prompt("Three.");
  await clock.advance(500);
  await expect.poll(said).toEqual(["One.\n\nTwo.", "Three."]);
  await prompt("Four.");
  await prompt("Five.");
  await clock.advance(1_000);
  expect(await said()).toEqual(["One.\n\nTwo.", "Three."]);
  await release();
  await expect.poll(said).toEqual(["One.\n\nTwo.", "Three.", "Four.\n\nFive."]);
  await release();
  await idle();
  await expect.poll(list).toEqual([]);
});

test("who interrupts ends the run and is heard at once, also while others are gathered", async () => {
  const { prompt, said, release, client, sessionId, list } = await open({ mode: "collect" });
  await client.must("sessions.subscribe", { sessionId });
  await prompt("Begin.", { queueMode: "steer" });
  await prompt("Gathered.");
  expect(await prompt("Stop that.", { queueMode: "interrupt" })).toMatchObject({ disposition: "queued" });
  await expect.poll(said).toEqual(["Begin.", "Stop that."]);
  await expect.poll(async () => (await list()).map((message) => message.text)).toEqual(["Gathered."]);
  await release();
  await release();
  const ends = () =>
    client.events().flatMap((frame) => (frame.event === "session.status.changed" ? [frame.payload] : []));
  await expect.poll(() => ends().length).toBeGreaterThan(1);
});

test("above the cap the oldest are given up, told with the next message, and can be replayed", async () => {
  const { client, sessionId, prompt, said, list, release, idle, clock } = await open({ mode: "collect", cap: 2 });
  await client.must("sessions.subscribe", { sessionId });
  await prompt("Begin.", { queueMode: "steer" });
  for (const words of ["One @secret.", "Two.", "Three.", "Four."]) await prompt(words);
  const listGivenUp = () =>
    client.events().flatMap(({ event, payload }) => (event === "session.message.given_up" ? [payload] : []));
  await expect.poll(listGivenUp).toMatchObject([
    { sessionId, message: { text: "One @secret.", state: "dead", reason: expect.stringContaining("Too many") } },
    { sessionId, message: { text: "Two.", state: "dead" } },
  ]);
  expect((await list()).map((message) => [message.text, message.state])).toEqual([
    ["One @secret.", "dead"],
    ["Two.", "dead"],
    ["Three.", "waiting"],
    ["Four.", "waiting"],
  ]);
  await clock.advance(500);
  await release();
  await expect
    .poll(async () => (await said())[1])
    .toBe(
      "[2 earlier messages were left out, because too many were waiting:\n- One @ secret.\n- Two.]\n\nThree.\n\nFour.",
    );
  await release();
  await idle();
  const dead = await list();
  const replayed = await client.must<InboxMessageData>("inbox.replay", { id: dead[1]!.id });
  expect(replayed).toMatchObject({ text: "Two.", state: "waiting" });
  await clock.advance(500);
  // They were told of, and are not told of again.
  await expect.poll(async () => (await said())[2]).toBe("Two.");
  await release();
  await idle();
  await expect.poll(async () => (await list()).map((message) => message.text)).toEqual(["One @secret."]);
  expect(await client.must("inbox.cancel", { id: dead[0]!.id })).toEqual({ cancelled: true });
  await expect(client.must("inbox.replay", { id: dead[0]!.id })).rejects.toMatchObject({ code: "not_found" });
});

test("a message that was given up is replayed once, however often it is asked for", async () => {
  const { client, prompt, list, said, release, idle } = await open({ cap: 1, drop: "old" });
  await prompt("Begin.");
  await prompt("Dropped.", { queueMode: "followup" });
  await prompt("Kept.", { queueMode: "followup" });
  const { id } = (await list()).find(({ state }) => state === "dead")!;
  await release();
  await release();
  await idle();
  const answers = await Promise.all([1, 2, 3].map(() => client.call("inbox.replay", { id })));
  expect(answers.map((answer) => (answer.ok ? "accepted" : answer.error.code)).toSorted()).toEqual([
    "accepted",
    "conflict",
    "conflict",
  ]);
  await release();
  await idle();
  expect(await said()).toEqual(["Begin.", "Kept.", "Dropped."]);
  await expect(client.must("inbox.replay", { id })).rejects.toMatchObject({ code: "not_found" });
});

test("with drop new the newest is refused, and with drop old nothing is told", async () => {
  const fresh = await open({ cap: 1, drop: "new" });
  await fresh.prompt("Begin.");
  await fresh.prompt("One.");
  await expect(fresh.prompt("Two.")).rejects.toMatchObject({ code: "rate_limited", retryable: true });
  expect((await fresh.list()).map((message) => message.text)).toEqual(["One."]);
  const old = await open({ cap: 1, drop: "old" });
  await old.prompt("Begin.");
  await old.prompt("One.");
  await old.prompt("Two.");
  expect((await old.list()).map((message) => [message.text, message.state])).toEqual([
    ["One.", "dead"],
    ["Two.", "waiting"],
  ]);
  await old.release();
  await expect.poll(old.said).toEqual(["Begin.", "Two."]);
});

test("a message that waits can be cancelled, wherever it waits", async () => {
  const { client, prompt, list, release, said, idle } = await open();
  await prompt("Begin.");
  const queued = await prompt("In the session.");
  const gathered = await prompt("In the inbox.", { queueMode: "collect" });
  for (const { messageId } of [queued, gathered]) {
    expect(await client.must("inbox.cancel", { id: messageId })).toEqual({ cancelled: true });
  }
  await expect.poll(list).toEqual([]);
  await release();
  await idle();
  expect(await said()).toEqual(["Begin."]);
});

test("an edited message has its own outcome", async () => {
  const { client, sessionId, prompt, list, release, said, idle } = await open();
  await prompt("Begin.");
  const { messageId } = await prompt("Wrong.");
  const { id } = await client.must<{ id: string }>("session.edit_queued", {
    sessionId,
    id: messageId,
    message: "Right.",
  });
  await expect.poll(async () => (await list()).map((message) => [message.id, message.text])).toEqual([[id, "Right."]]);
  await release();
  await release();
  await idle();
  expect(await said()).toEqual(["Begin.", "Right."]);
  await expect.poll(list).toEqual([]);
});

test("no more runs than the lanes allow, and those that wait are told that they are accepted", async () => {
  const { model, release } = gatedModel();
  const { gateway, token, workspace, close } = await openTestGateway({
    model,
    settings: { gateway: { lanes: { global: 2 } } },
  });
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const create = async () =>
    (await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace })).sessionId;
  const ids = [await create(), await create(), await create(), await create()];
  const dispositions = [];
  for (const sessionId of ids) {
    dispositions.push(
      (await client.must<{ disposition: string }>("session.prompt", { sessionId, message: "Go." })).disposition,
    );
  }
  expect(dispositions).toEqual(["started", "started", "accepted", "accepted"]);
  expect([gateway.parts.lanes.counts, model.asked.length]).toEqual([{ held: 2, waiting: 2 }, 2]);
  expect((await client.must<{ inbox: object }>("health")).inbox).toEqual({ waiting: 2, dead: 0 });
  await client.must("sessions.subscribe", { sessionId: ids[3] });
  const listed = async () => {
    const { sessions } = await client.must<{ sessions: { id: string; status: string }[] }>("sessions.list", {});
    const { messages } = await client.must<{ messages: InboxMessageData[] }>("inbox.list", {});
    return {
      statuses: ids.map((id) => sessions.find((session) => session.id === id)?.status),
      positions: messages.map(({ position }) => position),
    };
  };
  await expect.poll(listed).toEqual({ statuses: ["running", "running", "waiting", "waiting"], positions: [1, 2] });
  expect(await client.must("sessions.open", { sessionId: ids[3] })).toMatchObject({ status: "waiting", position: 2 });
  const listWaiting = () =>
    client.events().flatMap(({ event, payload }) => (event === "session.waiting" ? [payload] : []));
  await release();
  await expect.poll(() => listWaiting().at(-1)).toEqual({ sessionId: ids[3], position: 1 });
  await release();
  await expect.poll(() => listWaiting().at(-1)).toEqual({ sessionId: ids[3] });
  for (let run = 0; run < 2; run++) await release();
  await expect.poll(() => gateway.parts.lanes.counts).toEqual({ held: 0, waiting: 0 });
  expect(model.asked).toHaveLength(4);
});

test("what waits when the gateway is stopped is said when it is started again", async () => {
  const { model, release } = gatedModel();
  const first = await openTestGateway({ model });
  const client = await connectRaw(first.gateway.url, { token: first.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  await client.must("session.prompt", { sessionId, message: "Begin." });
  await client.must("session.prompt", { sessionId, message: "In the session." });
  await client.must("session.prompt", { sessionId, message: "In the inbox.", queueMode: "collect" });
  await first.gateway.stop();
  const { agentDir } = first;
  const second = await openTestGateway({ model, options: { agentDir }, params: { agentDir } });
  onTestFinished(async () => {
    await second.close();
    await first.close();
  });
  await release();
  await release();
  await release();
  const said = async () => {
    const { hosted } = await second.gateway.parts.sessions.open(sessionId);
    return hosted.session.messages.flatMap((message) =>
      message.role === "user" ? [(message.content as { text: string }[])[0]!.text] : [],
    );
  };
  await expect.poll(said).toEqual(["Begin.", "In the session.", "In the inbox."]);
  await expect.poll(() => second.gateway.parts.inbox.counts).toEqual({ waiting: 0, dead: 0 });
});

test("a message is accepted also when the one that it takes the place of cannot be taken back", async () => {
  const { gateway, sessionId, prompt, list, release, said, logged } = await open({ cap: 1, drop: "old" });
  await prompt("Begin.");
  await prompt("One.");
  const { session } = (await gateway.parts.sessions.open(sessionId)).hosted;
  session.removeQueued = () => Promise.reject(new Error("The disk is full."));
  expect(await prompt("Two.")).toMatchObject({ disposition: "queued" });
  expect((await list()).map(({ text: words, state }) => [words, state])).toEqual([
    ["One.", "waiting"],
    ["Two.", "waiting"],
  ]);
  expect(logged.join()).toContain("The disk is full.");
  for (let run = 0; run < 3; run++) await release();
  await expect.poll(said).toEqual(["Begin.", "One.", "Two."]);
});

test("a message that was said before a crash cannot be cancelled", async () => {
  const first = await openTestGateway({ model: scriptedModel([[text("Answered.")]]) });
  const client = await connectRaw(first.gateway.url, { token: first.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  const { messageId: id } = await client.must<{ messageId: string }>("session.prompt", { sessionId, message: "Go." });
  await first.gateway.stop();
  const { agentDir } = first;
  // As if the gateway had been killed before it wrote down that the message was said.
  const store = await openInboxStore(createRecordFiles({ agentDir }));
  const message = { id, sessionId, text: "Go.", mode: "steer", origin: { kind: "client" }, acceptedAt: 0 } as const;
  await store.accept({ ...message, state: "waiting" });
  await store.close();
  const second = await openTestGateway({ options: { agentDir }, params: { agentDir } });
  onTestFinished(async () => {
    await second.close();
    await first.close();
  });
  expect(await second.gateway.parts.inbox.cancel(id)).toBe(false);
  expect(second.gateway.parts.inbox.list()).toEqual([]);
});

test("a command of an extension is handed over once, and given up if the gateway ends before it is done", async () => {
  let calls = 0;
  const extension = (tau: { registerCommand: (name: string, command: object) => void }) =>
    tau.registerCommand("work", {
      description: "Never ends",
      handler: () => {
        calls++;
        return new Promise(() => {});
      },
    });
  const params = { extensions: { factories: [extension] } } as never;
  const first = await openTestGateway({ params });
  const client = await connectRaw(first.gateway.url, { token: first.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: first.workspace });
  const sent = client.call("session.prompt", { sessionId, message: "/work" }).catch(() => undefined);
  await expect.poll(() => calls).toBe(1);
  // Other messages do not wait for it.
  expect(first.gateway.parts.inbox.counts).toEqual({ waiting: 1, dead: 0 });
  await first.gateway.stop();
  await sent;
  const { agentDir } = first;
  const second = await openTestGateway({ options: { agentDir }, params: { ...(params as object), agentDir } as never });
  onTestFinished(async () => {
    await second.close();
    await first.close();
  });
  await expect.poll(() => second.gateway.parts.inbox.counts).toEqual({ waiting: 0, dead: 1 });
  expect(calls).toBe(1);
});

test("a request that waits for its answer holds a place too", async () => {
  const { model, release, gates } = gatedModel();
  const { gateway, token, workspace, close } = await openTestGateway({
    model,
    settings: { gateway: { lanes: { global: 1 } } },
  });
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const create = async () =>
    (await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace })).sessionId;
  const [one, two] = [await create(), await create()];
  const first = client.must("session.execute", { sessionId: one, prompt: "Go." });
  await expect.poll(() => gates.length).toBe(1);
  const second = client.must("session.execute", { sessionId: two, prompt: "Go." });
  await expect(client.must("session.execute", { sessionId: one, prompt: "Too." })).rejects.toMatchObject({
    code: "busy",
  });
  expect(gateway.parts.lanes.counts).toEqual({ held: 1, waiting: 1 });
  await release();
  await first;
  await release();
  await second;
  expect(gateway.parts.lanes.counts).toEqual({ held: 0, waiting: 0 });
});

test("what became of a message is found by the key of its request, for its own device only", async () => {
  const { client, gateway, sessionId, prompt, release, idle } = await open();
  const get = (idempotencyKey: string) => client.must("inbox.get", { idempotencyKey });
  const { messageId } = await prompt("Begin.", { idempotencyKey: "first" });
  await expect.poll(() => get("first")).toMatchObject({ messageId, sessionId, state: "said" });
  const later = await prompt("Later.", { idempotencyKey: "later", queueMode: "followup" });
  expect(await get("later")).toMatchObject({ messageId: later.messageId, state: "waiting" });
  expect(await client.must("inbox.cancel", { id: later.messageId })).toEqual({ cancelled: true });
  const taken = { state: "cancelled", reason: "It was taken out of the queue." };
  await expect.poll(() => get("later")).toMatchObject(taken);
  await expect(get("never")).rejects.toMatchObject({ code: "not_found" });
  await expect(client.must("inbox.get", {})).rejects.toMatchObject({ code: "invalid_parameters" });
  expect(gateway.parts.inbox.findRequest("phone\nfirst")).toBeUndefined();
  await release();
  await idle();
});

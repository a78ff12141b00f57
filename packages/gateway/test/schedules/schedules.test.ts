import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { openChannelGateway } from "../channels/kit.ts";
import { add, fireOverdue, getAsked, listRuns, minute, openScheduleGateway, startMs, waitForRuns } from "./kit.ts";

test("each due time has a run of its own, in a session of its own, and says what it cost", async () => {
  const model = scriptedModel([[text("First.")], [text("Second.")]]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  const { gateway, clock } = opened;
  const { id, nextAt, when } = await add(opened, { every: "10m", name: "Look" });
  expect({ nextAt, when }).toEqual({ nextAt: "2026-01-15T12:10:00.000Z", when: "every 10m" });
  await clock.advance(9 * minute);
  expect(await listRuns(opened)).toEqual([]);
  await clock.advance(minute);
  await waitForRuns(opened, 1);
  await clock.advance(10 * minute);
  const runs = await waitForRuns(opened, 2);
  expect(runs.map(({ dueAt, state, cause, text: said }) => [dueAt, state, cause, said])).toEqual([
    ["2026-01-15T12:20:00.000Z", "done", "due", "Second."],
    ["2026-01-15T12:10:00.000Z", "done", "due", "First."],
  ]);
  expect(new Set(runs.map(({ sessionId }) => sessionId)).size).toBe(2);
  expect(runs[0]!.tokens).toBeGreaterThan(0);
  expect(getAsked(model, 0)).toMatch(/run of the schedule .*Look.*due at 2026-01-15T12:10:00Z.*Look\./);
  expect(getAsked(model, 1)).not.toContain("First.");
  const [listed] = await gateway.parts.schedules.list();
  expect(listed).toMatchObject({ id, runs: 2, state: "waiting", tokens: runs[0]!.tokens! + runs[1]!.tokens! });
  await gateway.parts.schedules.remove(id);
  await clock.advance(30 * minute);
  expect(model.asked).toHaveLength(2);
  await expect(gateway.parts.schedules.remove(id)).rejects.toMatchObject({ code: "not_found" });
});

test("nobody looks while there is no schedule", async () => {
  const opened = await openScheduleGateway({ model: scriptedModel([]) });
  onTestFinished(opened.close);
  await opened.gateway.parts.schedules.wake();
  const others = opened.clock.waiting;
  const { id } = await add(opened, { every: "1d" });
  await opened.gateway.parts.schedules.wake();
  expect(opened.clock.waiting).toBe(others + 1);
  await opened.gateway.parts.schedules.remove(id);
  await opened.gateway.parts.schedules.wake();
  expect(opened.clock.waiting).toBe(others);
});

test("a schedule that is paused has no runs, and what was due meanwhile is left out", async () => {
  const model = scriptedModel([[text("Later.")]]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  const { schedules } = opened.gateway.parts;
  const { id } = await add(opened, { every: "10m" });
  await schedules.pause(id);
  await opened.clock.advance(65 * minute);
  expect((await schedules.list())[0]).toMatchObject({ state: "paused" });
  await schedules.resume(id);
  expect((await schedules.list())[0]).toMatchObject({ state: "waiting", nextAt: "2026-01-15T13:10:00.000Z" });
  expect(await listRuns(opened)).toEqual([]);
  await opened.clock.advance(5 * minute);
  expect(await waitForRuns(opened, 1)).toMatchObject([{ cause: "due" }]);
});

test("a person starts a run at any time, but not a second one beside it", async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const model = scriptedModel([
    async () => {
      await finished;
      return [text("Done.")];
    },
  ]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  const { schedules } = opened.gateway.parts;
  const { id } = await add(opened, { every: "10m" });
  expect(await schedules.run(id)).toMatchObject({ cause: "person", state: "running" });
  await expect(schedules.run(id)).rejects.toMatchObject({ code: "busy" });
  // What is due while it lasts is reported once, as one line.
  await opened.clock.advance(30 * minute);
  const listMissed = async () => {
    await fireOverdue(opened);
    return (await listRuns(opened)).map(({ missed }) => missed);
  };
  await expect.poll(listMissed).toEqual([3, undefined]);
  expect((await listRuns(opened))[0]!.missedText).toContain("the run before was not over");
  finish();
  await waitForRuns(opened, 2);
  expect(model.asked).toHaveLength(1);
});

test("what is missed while the gateway is stopped is reported once, and made up once", async () => {
  const model = scriptedModel([[text("Made up.")], [text("On time.")]]);
  const clock = createFakeClock(startMs);
  const first = await openScheduleGateway({ model, clock });
  onTestFinished(first.close);
  const { id } = await add(first, { cron: "0 * * * *", timeZone: "UTC" });
  const once = await add(first, { at: "90m" });
  await first.gateway.stop();
  await clock.advance(3 * 60 * minute + 30 * minute);
  const second = await openScheduleGateway({ model, clock, agentDir: first.agentDir });
  onTestFinished(second.close);
  model.add([text("More.")]);
  const runs = await waitForRuns(second, 2);
  expect(runs.find(({ scheduleId }) => scheduleId === id)).toMatchObject({
    cause: "late",
    dueAt: "2026-01-15T15:00:00.000Z",
    missed: 2,
  });
  expect(runs.find(({ scheduleId }) => scheduleId === once.id)).toMatchObject({
    cause: "late",
    dueAt: "2026-01-15T13:30:00.000Z",
  });
  const asked = [getAsked(model, 0), getAsked(model, 1)];
  expect(asked.find((each) => each.includes("2 runs were missed"))).toContain("It is late");
  expect(second.logged.filter((line) => line.includes("missed"))).toHaveLength(1);
  expect((await second.gateway.parts.schedules.list()).find((each) => each.id === once.id)?.state).toBe("over");
  await clock.advance(30 * minute);
  expect((await waitForRuns(second, 3))[0]).toMatchObject({ cause: "due", dueAt: "2026-01-15T16:00:00.000Z" });
});

test("a run that fails says why, and the next one takes place", async () => {
  const model = scriptedModel([{ failure: { kind: "auth", message: "no key" } as never }, [text("Better.")]]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  await add(opened, { every: "10m" });
  await opened.clock.advance(10 * minute);
  expect(await waitForRuns(opened, 1)).toMatchObject([{ state: "failed", text: expect.any(String) }]);
  await add(opened, { at: "1m", agent: "nobody", name: "Nobody" });
  await opened.clock.advance(minute);
  expect((await waitForRuns(opened, 2))[0]).toMatchObject({
    state: "failed",
    name: "Nobody",
    text: expect.stringContaining("nobody"),
  });
  await opened.clock.advance(9 * minute);
  expect((await waitForRuns(opened, 3))[0]).toMatchObject({ state: "done", text: "Better." });
});

test("nobody is asked: what the policy asks about is denied", async () => {
  const model = scriptedModel([[call("read", { path: "/etc/hostname" })], [text("I could not.")]]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  await add(opened, { at: "1m" });
  await opened.clock.advance(minute);
  await waitForRuns(opened, 1);
  expect(getAsked(model, 1)).toMatch(/denied|nobody/i);
});

test("a run that has used its budget ends, and says so", async () => {
  const model = scriptedModel([[call("ls", { path: "." })], [text("Never.")]]);
  const opened = await openScheduleGateway({ model });
  onTestFinished(opened.close);
  await add(opened, { at: "1m", budget: { tokens: 1 } });
  await opened.clock.advance(minute);
  expect(await waitForRuns(opened, 1)).toMatchObject([{ state: "failed", text: expect.stringContaining("budget") }]);
  expect(model.left).toBeGreaterThan(0);
});

describe("the answer", () => {
  const conversation = { accountId: "chat", address: { channelId: "with-ann" }, peer: { kind: "direct", id: "ann" } };

  test("goes to the conversation once, and a silent one does not", async () => {
    const model = scriptedModel([[text("News!")], [text("__SILENT__")]]);
    const clock = createFakeClock(startMs);
    const opened = await openChannelGateway({ model, options: { clock } });
    await add(opened, { every: "10m", conversation });
    await clock.advance(10 * minute);
    await expect.poll(() => opened.channel.textsTo()).toEqual(["News!"]);
    expect(opened.channel.sent[0]).not.toHaveProperty("replyTo");
    await clock.advance(10 * minute);
    await waitForRuns(opened, 2);
    await clock.advance(minute);
    expect(opened.channel.textsTo()).toEqual(["News!"]);
  });

  test("of a run that failed does not say what servers and files are called", async () => {
    const clock = createFakeClock(startMs);
    const opened = await openChannelGateway({ model: scriptedModel([]), options: { clock } });
    await add(opened, { at: "1m", agent: "nobody", name: "News", conversation });
    await clock.advance(minute);
    await expect
      .poll(() => opened.channel.textsTo())
      .toEqual(['The run of the schedule "News" failed. Whoever runs me can see why.']);
    expect((await waitForRuns(opened, 1))[0]).toMatchObject({ text: expect.stringContaining("nobody") });
  });

  test("is sent once when the gateway ends between its two records", async () => {
    const model = scriptedModel([[text("News!")]]);
    const clock = createFakeClock(startMs);
    const opened = await openChannelGateway({ model, options: { clock } });
    const { id } = await add(opened, { at: "1m", conversation });
    await clock.advance(minute);
    await expect.poll(() => opened.channel.textsTo()).toEqual(["News!"]);
    const [run] = await waitForRuns(opened, 1);
    const { outbox } = opened.gateway.parts.channels;
    const reply = {
      id: `schedule/${run!.id}/0`,
      sessionId: "",
      accountId: "chat",
      address: conversation.address,
      text: "News!",
      recordedAt: 1,
    };
    await outbox.addOnce(`schedule/${run!.id}`, [reply]);
    await clock.advance(minute);
    expect(opened.channel.textsTo()).toEqual(["News!"]);
    expect(id).toBe(run!.scheduleId);
  });
});

describe("the heartbeat", () => {
  const heartbeat = { every: "30m", activeHours: { start: "08:00", end: "13:45", timeZone: "UTC" } };

  test("sees its list and little else, in its hours, and HEARTBEAT_OK is kept and not sent", async () => {
    const model = scriptedModel([[text("Hello.")], [text("HEARTBEAT_OK")], [text("The build is red.")]]);
    const clock = createFakeClock(startMs);
    const opened = await openChannelGateway({
      model,
      options: { clock },
      gateway: { heartbeat: { ...heartbeat, channel: "chat" } },
    });
    const { channel, agentDir, gateway } = opened;
    await channel.receive("Hi");
    await expect.poll(() => channel.textsTo()).toEqual(["Hello."]);
    await writeFile(join(agentDir, "AGENTS.md"), "The word is swordfish.");
    await clock.advance(30 * minute);
    await gateway.parts.schedules.wake();
    // Without a list no model is asked.
    expect(model.asked).toHaveLength(1);
    expect(await listRuns(opened)).toEqual([]);
    await mkdir(join(agentDir, "heartbeat"), { recursive: true });
    await writeFile(join(agentDir, "heartbeat", "HEARTBEAT.md"), "- [ ] Is the build red?");
    await clock.advance(30 * minute);
    const [first] = await waitForRuns(opened, 1);
    expect(first).toMatchObject({ scheduleId: "heartbeat", state: "done", tokens: expect.any(Number) });
    const { context } = model.asked[1]!;
    expect(getAsked(model, 1)).toContain("Is the build red?");
    expect(context.systemPrompt).not.toContain("swordfish");
    expect(["read", "grep", "find", "ls"]).toEqual(expect.arrayContaining(context.tools!.map(({ name }) => name)));
    await clock.advance(30 * minute);
    await waitForRuns(opened, 2);
    await expect.poll(() => channel.textsTo()).toEqual(["Hello.", "The build is red."]);
    // 14:00 and later is not in its hours.
    await clock.advance(180 * minute);
    expect(model.asked).toHaveLength(3);
    expect((await gateway.parts.schedules.list())[0]).toMatchObject({
      id: "heartbeat",
      runs: 2,
      nextAt: "2026-01-16T08:00:00.000Z",
    });
    await expect(gateway.parts.schedules.remove("heartbeat")).rejects.toMatchObject({ code: "conflict" });
  });
});

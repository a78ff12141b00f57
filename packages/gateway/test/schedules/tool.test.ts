import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { openChannelGateway } from "../channels/kit.ts";
import { getAsked, minute, startMs, waitForRuns } from "./kit.ts";

const schedule = (args: object) => call("schedule", { action: "add", prompt: "Say good morning.", ...args });

async function openWith(turns: Parameters<typeof scriptedModel>[0], tools = ["read", "schedule"]) {
  const clock = createFakeClock(startMs);
  const model = scriptedModel(turns);
  const opened = await openChannelGateway({ model, options: { clock }, account: { tools } });
  return { ...opened, model, clock };
}

/** Answers the question that Ann was asked last. */
async function answer(
  { channel }: Awaited<ReturnType<typeof openWith>>,
  count: number,
  isAllowed = true,
): Promise<void> {
  const listQuestions = () => channel.sent.filter(({ buttons }) => buttons);
  await expect.poll(() => listQuestions().length).toBe(count);
  await channel.press(listQuestions().at(-1)!.buttons![isAllowed ? 0 : 1]!.value);
}

test("an agent adds a schedule if the person says so, and its runs have the rights of the session", async () => {
  const opened = await openWith([
    [schedule({ every: "10m" })],
    [text("I will.")],
    [call("bash", { command: "id" })],
    [text("Good morning!")],
  ]);
  const { channel, clock, gateway, model } = opened;
  await channel.receive("Greet me regularly.");
  await answer(opened, 1);
  expect(channel.sent.find(({ buttons }) => buttons)?.text).toMatch(/without a person.*every 10m: Say good morning/);
  await expect.poll(() => channel.textsTo()).toContain("I will.");
  const [listed] = await gateway.parts.schedules.list();
  expect(listed).toMatchObject({ policy: "safe", tools: ["read", "schedule"], channel: "chat", to: "with-ann" });
  await clock.advance(10 * minute);
  await waitForRuns(opened, 1);
  await expect.poll(() => channel.textsTo().at(-1)).toBe("Good morning!");
  // The account has no bash, so the run has none either.
  expect(getAsked(model, 3)).toMatch(/bash.*(?:not found|no tool|not exist|unknown)/i);
  expect(model.asked[2]!.context.tools?.map(({ name }) => name)).not.toContain("bash");
  const run = (await gateway.parts.schedules.listRuns({ scheduleId: undefined, limit: 1 }))[0]!;
  const { session } = (await gateway.parts.sessions.open(run.sessionId!)).hosted;
  expect(session.sessionManager.policyProfile).toBe("safe");
  expect(JSON.stringify(await session.sessionManager.getEntries())).toContain("tau.tainted");
});

test("what the person denies is not added, and each one is asked about", async () => {
  const opened = await openWith([
    [schedule({ every: "1h" })],
    [schedule({ at: "1h" })],
    [call("schedule", { action: "list" })],
    [text("One it is.")],
  ]);
  await opened.channel.receive("Greet me regularly.");
  await answer(opened, 1, false);
  await answer(opened, 2);
  await expect.poll(() => opened.channel.textsTo()).toContain("One it is.");
  expect(await opened.gateway.parts.schedules.list()).toMatchObject([{ when: "at 2026-01-15T13:00:00.000Z" }]);
  expect(getAsked(opened.model, 3)).toContain("at 2026-01-15T13:00:00.000Z");
});

test("a session has ten schedules at most, sees no others, and a run can add none", async () => {
  const opened = await openWith([
    ...Array.from({ length: 11 }, () => [schedule({ every: "1h" })]),
    [call("schedule", { action: "remove", id: "other" })],
    [text("Enough.")],
    [schedule({ every: "1m" })],
    [text("I was not allowed to.")],
  ]);
  const { channel, gateway, clock, model, workspace } = opened;
  const { schedules } = gateway.parts;
  await schedules.add({ prompt: "Mine.", cwd: workspace, rights: {}, at: "1d", name: "other" });
  await channel.receive("Greet me.");
  for (let count = 1; count <= 11; count++) await answer(opened, count);
  await expect.poll(() => channel.textsTo()).toContain("Enough.");
  expect(await schedules.list()).toHaveLength(11);
  expect(getAsked(model, 11)).toContain("has 10 schedules already");
  expect(getAsked(model, 12)).toContain("has no schedule");
  const [, first, ...others] = await schedules.list();
  for (const { id } of others) await schedules.remove(id);
  await clock.advance(60 * minute);
  await waitForRuns(opened, 1);
  expect(await schedules.list()).toHaveLength(2);
  expect(first).toMatchObject({ sessionId: expect.any(String) });
  expect(channel.sent.filter(({ buttons }) => buttons)).toHaveLength(11);
});

/** The limits of a day and of a month, which all sessions of a user share. */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { call, createFakeClock, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import type { AssistantMessage } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { formatDate } from "../../src/prompt/system-prompt.ts";
import { type DeskOptions, openDesk, sayTool, temporaryDirectory } from "./desk.ts";

/** A token costs $1, and an answer has at most 100. */
const model = { cost: { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0 }, maxTokens: 100 };
const turn = (dollars: number): ScriptedTurn => ({ content: [text("Done.")], usage: { input: dollars, output: 0 } });

const open = (
  turns: readonly ScriptedTurn[],
  { day, month, ...options }: DeskOptions & { day?: number; month?: number },
) =>
  openDesk(turns, {
    scripted: { model },
    settings: {
      budgets: {
        ...(day !== undefined && { day: { cost: day } }),
        ...(month !== undefined && { month: { cost: month } }),
      },
    },
    ...options,
  });

const getNotices = ({ notices }: { notices: readonly { code: string; message: string }[] }) =>
  notices.filter(({ code }) => code === "budget").map(({ message }) => message);

test("a run that another session has left no money for ends before its request, and says why", async () => {
  const cwd = await temporaryDirectory();
  const first = await open([turn(9_950)], { cwd, day: 20_000 });
  expect(await first.session.prompt("Hi")).toMatchObject({ detail: undefined });
  const second = await open([turn(1)], { cwd, day: 10_000 });
  const outcome = await second.session.prompt("Hi");
  expect(outcome).toMatchObject({ end: { kind: "budget", limit: "day" }, detail: "budget_day" });
  expect(second.model.asked).toHaveLength(0);
  const reason =
    /^The limit of the cost of today is reached: \$9950\.00 of \$10000\.00 are spent by all sessions.*Raise budgets\.day\.cost/s;
  expect(outcome).toMatchObject({ answer: { errorMessage: expect.stringMatching(reason) } });
  // What was refused is not sent later.
  const third = await open([turn(1)], { cwd, month: 20_000 });
  expect(await third.session.prompt("Hi")).toMatchObject({ detail: undefined });
});

test("a limit of the month ends a run in the middle, before the request that would exceed it", async () => {
  const again = { content: [call("look")], usage: { input: 3_000, output: 0 } };
  const { session, model: asked } = await open([again, again, again, again], {
    month: 10_000,
    customTools: [sayTool("look")],
    scripted: { model: { ...model, maxTokens: 7_000 } },
  });
  // Without a limit of the answer, half of what is left is reserved.
  expect(await session.prompt("Look.")).toMatchObject({ end: { kind: "budget", limit: "month" } });
  expect(asked.asked.length).toBeGreaterThan(0);
  expect(asked.asked.length).toBeLessThan(4);
});

test("without a limit, and for a model without a cost, there is no ledger", async () => {
  const unlimited = await open([turn(5)], {});
  await unlimited.session.prompt("Hi");
  const free = await openDesk([[text("Free.")]], { settings: { budgets: { day: { cost: 0 } } } });
  expect(await free.session.prompt("Hi")).toMatchObject({ detail: undefined });
  for (const { directory } of [unlimited, free]) expect(existsSync(join(directory, "agent/costs.jsonl"))).toBe(false);
  expect(getNotices(free.session)).toEqual([expect.stringContaining("has no prices")]);
});

test("from 80 % on, a session warns once a day", async () => {
  const clock = createFakeClock(new Date(2026, 2, 2, 12).getTime());
  const { session, directory } = await open([turn(10), turn(10), turn(10), turn(10)], { clock, day: 100_000 });
  const spend = async (day: string, cost: number) =>
    await appendFile(join(directory, "agent/costs.jsonl"), `${JSON.stringify({ type: "spent", day, cost })}\n`);
  await session.prompt("One.");
  expect(getNotices(session)).toEqual([]);
  await spend("2026-03-02", 85_000);
  await session.prompt("Two.");
  await session.prompt("Three.");
  const first = expect.stringMatching(/^The limit of the cost of today is nearly reached: 85 % of it is spent/);
  expect(getNotices(session)).toEqual([first]);
  await clock.advance(24 * 60 * 60_000);
  await spend("2026-03-03", 90_000);
  await session.prompt("Four.");
  expect(getNotices(session)).toEqual([first, expect.stringContaining("90 %")]);
});

test("requests of extensions and of children are part of what is spent, and are refused at the limit", async () => {
  let ask!: () => Promise<AssistantMessage>;
  const { session, directory } = await open([turn(1_000), turn(2_000), turn(4_000)], {
    day: 12_000,
    extensions: {
      factories: [
        (tau) =>
          tau.registerCommand("classify", {
            async handler(_args, { modelRegistry, model }) {
              ask = () =>
                modelRegistry.complete(model!, { messages: [{ role: "user", content: "Classify.", timestamp: 0 }] });
            },
          }),
      ],
    },
  });
  await session.prompt("Hi");
  const child = await session.openChild({ name: "child" });
  await child.prompt("Work.");
  await child.dispose();
  await session.prompt("/classify");
  expect(await ask()).toMatchObject({ stopReason: "stop" });
  const lines = async () =>
    (await readFile(join(directory, "agent/costs.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; id?: string; cost: number })
      .filter(({ type, id }) => type === "spent" && id !== undefined);
  await expect
    .poll(async () => (await lines()).map(({ cost }) => cost), { timeout: 45_000 })
    .toEqual([1_000, 2_000, 4_000]);
  const today = formatDate(Date.now());
  await appendFile(
    join(directory, "agent/costs.jsonl"),
    `${JSON.stringify({ type: "spent", day: today, cost: 5_000 })}\n`,
  );
  expect(await ask()).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining("is reached") });
});

test("an answer gets the tokens that are paid for, and no limit where they are not needed", async () => {
  const large = { ...model, maxTokens: 50_000 };
  const short = await open([turn(1)], { day: 60_000, scripted: { model: large } });
  await short.session.prompt("Hi");
  const { maxTokens } = short.model.asked[0]!.options;
  expect(maxTokens).toBeGreaterThan(20_000);
  expect(maxTokens).toBeLessThan(30_000);
  const long = await open([turn(1)], { day: 1e9, scripted: { model: large } });
  await long.session.prompt("Hi");
  expect(long.model.asked[0]!.options.maxTokens).toBeUndefined();
});

test("a project cannot set the limits, also when it is trusted", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "agent"), { recursive: true });
  await mkdir(join(cwd, ".tau"));
  await writeFile(join(cwd, "agent/settings.json"), JSON.stringify({ budgets: { day: { cost: 50 } } }));
  await writeFile(join(cwd, ".tau/settings.json"), JSON.stringify({ budgets: { day: { cost: 1e9 }, turns: 7 } }));
  const scripted = scriptedModel([turn(1)], { model });
  const session = await createAgentSession({
    cwd,
    use: ["user", "project"],
    agentDir: join(cwd, "agent"),
    model: scripted,
    projectTrusted: true,
  });
  onTestFinished(async () => {
    await session.dispose();
    scripted.dispose();
  });
  expect(session.settings.budgets).toMatchObject({ day: { cost: 50 }, turns: 7 });
  expect(await session.prompt("Hi")).toMatchObject({ detail: "budget_day" });
  expect(session.notices.map(({ message }) => message).join("\n")).toContain("A project may not set budgets.day.cost");
});

test("a ledger that cannot be written ends the run with the reason, and nothing is sent", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "agent/costs.jsonl"), { recursive: true });
  const { session, model: asked } = await open([turn(1)], { cwd, day: 100_000 });
  expect(await session.prompt("Hi")).toMatchObject({
    end: { kind: "failed", failure: { message: expect.stringContaining("nothing was sent") } },
  });
  expect(asked.asked).toHaveLength(0);
});

test("a session knows what is left of the limits as soon as an answer is there, also of what others spend", async () => {
  const cwd = await temporaryDirectory();
  const first = await open([turn(40)], { cwd, day: 20_000, month: 50_000 });
  const second = await open([turn(2)], { cwd, day: 20_000, month: 50_000 });
  expect(await second.session.getCostLimits()).toMatchObject([{ spent: 0, reserved: 0, left: 20_000 }, {}]);
  expect(await first.session.prompt("Hi")).toMatchObject({ detail: undefined });
  const limits = [
    { period: "day", limit: 20_000, spent: 40, reserved: 0, left: 19_960 },
    { period: "month", limit: 50_000, spent: 40, reserved: 0, left: 49_960 },
  ];
  expect(await first.session.getCostLimits()).toEqual(limits);
  expect(await second.session.getCostLimits()).toEqual(limits);
  const without = await open([], { cwd });
  expect(await without.session.getCostLimits()).toEqual([]);
});

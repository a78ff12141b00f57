/** Tasks in the background: each answer arrives once, as a message that may begin a run. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { SurfaceUi } from "../kit.ts";
import { createGate, getLastText, hang, openPlay, type Parts } from "./script.ts";

const task = (description: string) => ({ description, prompt: `Do ${description}.` });
const inBackground = (...names: string[]) => [call("task", { tasks: names.map(task), background: true })];

/** A session with a surface: runs end, and answers of agents begin others. */
async function openShown(parts: Parts, params: Parameters<typeof openPlay>[1] = {}) {
  const opened = await openPlay(parts, params);
  const surface = new SurfaceUi();
  let detach = () => {};
  const stop = opened.session.onFirstExtension(async () => {
    detach = await opened.session.attachSurface(surface);
  });
  onTestFinished(() => {
    stop();
    detach();
  });
  return { ...opened, surface };
}

type Opened = Awaited<ReturnType<typeof openShown>>;

const listMessages = ({ session }: Pick<Opened, "session">): string[] =>
  session.messages.flatMap((message) =>
    message.role === "custom" && message.customType === "agents" ? [String(message.content)] : [],
  );

test("the call answers with ids at once, and an answer after the run begins another", async () => {
  const gate = createGate();
  const opened = await openShown({
    main: (step, context) => {
      if (step === 1) return inBackground("one");
      if (step === 2) return [text("Started.")];
      return [text(`Heard: ${getLastText(context).includes("Found it.")}`)];
    },
    "1": async () => {
      await gate.opened;
      return [text("Found it.")];
    },
  });
  const { session, prompt } = opened;
  await prompt("go");
  expect(session.messages.at(-1)).toMatchObject({ content: [{ text: "Started." }] });
  const [started] = session.messages.filter(({ role }) => role === "toolResult");
  expect(JSON.stringify(started)).toMatch(/agent 1 \(one\)\. .*agents \(found with tool_search\)/);
  await expect.poll(() => session.hasWork).toBe(true);
  gate.open();
  await expect.poll(() => session.messages.at(-1)).toMatchObject({ content: [{ text: "Heard: true" }] });
  expect(listMessages(opened)).toEqual([expect.stringMatching(/^\[Task 1 \(one\): done.*\]\nFound it\.$/)]);
});

test("answers that arrive together are one message and begin one run", async () => {
  const gate = createGate();
  const opened = await openShown({
    main: (step) => (step === 1 ? inBackground("a", "b", "c") : [text(`Step ${step}.`)]),
    default: async () => {
      await gate.opened;
      return [text("ok")];
    },
  });
  const { session, prompt, model } = opened;
  await prompt("go");
  await expect.poll(() => model.asked.length).toBe(5);
  gate.open();
  await expect
    .poll(() =>
      listMessages(opened)
        .join("\n")
        .match(/: done/g),
    )
    .toHaveLength(3);
  await expect.poll(() => session.hasWork).toBe(false);
  const starts = opened.events.filter(({ type }) => type === "agent_start");
  expect(starts).toHaveLength(2);
});

test("an answer during the run is delivered with the next request", async () => {
  const gate = createGate();
  const opened = await openShown({
    main: async (step, context) => {
      if (step === 1) return inBackground("one");
      if (step === 2) {
        await gate.opened;
        return [call("ls", {})];
      }
      return [text(`Heard: ${JSON.stringify(context.messages).includes("Found it.")}`)];
    },
    "1": () => [text("Found it.")],
  });
  const done = opened.prompt("go");
  await expect.poll(() => JSON.stringify(opened.events).includes('"kind":"ended"')).toBe(true);
  gate.open();
  await done;
  expect(opened.session.messages.at(-1)).toMatchObject({ content: [{ text: "Heard: true" }] });
  expect(listMessages(opened)).toHaveLength(1);
});

test("after ten runs without a word of a person, the next waits for one", async () => {
  let runs = 0;
  const opened = await openShown({
    // Each run starts another task, whose answer begins the next run.
    main: (step) => {
      if (step % 2 === 1) return inBackground(`round ${++runs}`);
      return [text("Waiting.")];
    },
    default: () => [text("ok")],
  });
  const { session, prompt } = opened;
  await prompt("go");
  await expect.poll(() => (session.hasWork ? 0 : listMessages(opened).length), { timeout: 20_000 }).toBe(11);
  expect(runs).toBe(11);
  await prompt("go on");
  await expect.poll(() => (session.hasWork ? 0 : runs), { timeout: 20_000 }).toBe(22);
});

test("without a surface, as in print mode, the run waits for its tasks", async () => {
  const { session, prompt } = await openPlay({
    main: (step, context) => {
      if (step === 1) return inBackground("slow", "quick");
      const answers = JSON.stringify(context.messages).match(/ok \d/g) ?? [];
      return [text(`Heard ${answers.join(", ")}`)];
    },
    "1": async () => {
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      return [text("ok 1")];
    },
    "2": () => [text("ok 2")],
  });
  const outcome = await prompt("go");
  expect(outcome).toMatchObject({ kind: "ran", end: { kind: "done" } });
  expect(session.messages.at(-1)).toMatchObject({ content: [{ text: expect.stringMatching(/ok 2.*ok 1/) as string }] });
  expect(session.hasWork).toBe(false);
});

test("waiting for tasks ends with the limits of the run", async () => {
  const { prompt, clock } = await openPlay(
    {
      main: (step) => (step === 1 ? inBackground("hang") : [text("Started.")]),
      "1": (_step, _context, signal) => hang(signal),
    },
    { budgets: { timeMs: 60_000 } },
  );
  let isOver = false;
  const outcome = prompt("go").finally(() => (isOver = true));
  await expect
    .poll(async () => {
      await clock.advance(10_000);
      return isOver;
    })
    .toBe(true);
  expect(await outcome).toMatchObject({ kind: "ran", end: { kind: "budget", limit: "time" } });
});

test("an abort of a run of the parent ends its tasks", async () => {
  const opened = await openShown({
    main: async (step, _context, signal) => {
      if (step === 1) return inBackground("hang");
      return await hang(signal);
    },
    "1": (_step, _context, signal) => hang(signal),
  });
  const { session, prompt, model } = opened;
  const outcome = prompt("go");
  await expect.poll(() => model.asked.length).toBe(3);
  await session.abort();
  await outcome;
  await expect.poll(() => listMessages(opened)).toEqual([expect.stringMatching(/: stopped/)]);
  expect(model.asked).toHaveLength(3);
  expect(session.hasWork).toBe(false);
});

test("an abort after the run ends tasks in the background, also those that wait, and begins no run", async () => {
  const opened = await openShown(
    {
      main: (step) => (step === 1 ? inBackground("a", "b", "c") : [text("Started.")]),
      default: (_step, _context, signal) => hang(signal),
    },
    { agents: { maxConcurrent: 1 } },
  );
  const { session, prompt, model } = opened;
  await prompt("go");
  await expect.poll(() => model.asked.length).toBe(3);
  await session.abort();
  await expect
    .poll(() =>
      listMessages(opened)
        .join("\n")
        .match(/: stopped/g),
    )
    .toHaveLength(3);
  await expect.poll(() => session.hasWork).toBe(false);
  expect(model.asked).toHaveLength(3);
});

test("running agents are lines in every surface, and none is left when they have ended", async () => {
  const gate = createGate();
  const { surface, prompt, session } = await openShown({
    main: (step) => (step === 1 ? inBackground("one") : [text("Ok.")]),
    "1": async (step) => {
      if (step === 1) return [call("ls", { path: "." })];
      await gate.opened;
      return [text("Done.")];
    },
  });
  await prompt("go");
  await expect.poll(() => surface.shown("agents").flat()).toContainEqual(expect.stringMatching(/^1 one · /));
  gate.open();
  await expect.poll(() => session.hasWork).toBe(false);
  await expect.poll(() => surface.shown("agents").at(-1)).toBeUndefined();
});

/** `/btw`: side questions, in real sessions. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { btw } from "../../src/index.ts";
import { DialogSurface } from "../dialogs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

async function open(turns: Turns, params: TestSessionParams & { answers?: string[] } = {}) {
  const { answers = [], ...rest } = params;
  const surface = new DialogSurface(answers);
  const opened = await createTestSession(turns, { features: [btw()], ...rest });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  return { ...opened, surface };
}

test("a side question is answered with the conversation, and neither it nor its answer is in the next request", async () => {
  const { session, prompt, model, surface } = await open([[text("Blue it is.")], [text("Paris.")], [text("Done.")]]);
  await prompt("Paint it blue.");
  const before = JSON.stringify(session.messages);
  await session.prompt("/btw What is the capital of France?");
  expect(surface.notices).toEqual(["Aside: What is the capital of France?\nParis."]);
  expect(JSON.stringify(session.messages)).toBe(before);
  const aside = JSON.stringify(model.asked[1]!.context.messages);
  expect(aside).toContain("Paint it blue.");
  expect(aside).toContain("Blue it is.");
  await prompt("Go on.");
  expect(JSON.stringify(model.asked[2]!.context.messages)).not.toMatch(/capital|Paris/);
});

test("its request begins as those of the session do, so that the provider's cache applies", async () => {
  const { session, prompt, model } = await open([[text("Hi.")], [text("Yes.")]]);
  await prompt("hi");
  await session.prompt("/btw Really?");
  const [own, aside] = model.asked.map(({ context }) => context);
  expect(aside!.systemPrompt).toBe(own!.systemPrompt);
  expect(aside!.tools!.map(({ name }) => name)).toEqual(own!.tools!.map(({ name }) => name));
  expect(model.asked[1]!.options).toMatchObject({ toolChoice: "none" });
});

test("what it cost is part of what the session cost", async () => {
  const usage = { input: 1_000, output: 100 };
  const { session, prompt } = await open([[text("Hi.")], { content: [text("Yes.")], usage }]);
  await prompt("hi");
  const before = (await session.stats()).tokens.total;
  await session.prompt("/btw Really?");
  await expect.poll(async () => (await session.stats()).tokens.total).toBe(before + 1_100);
});

test("during a run it is answered at once, and the run is not disturbed", async () => {
  const opened = await open(
    [
      [call("read", { path: "a.txt" })],
      async () => {
        await opened.session.submit("/btw Which file?", { queue: "steer" });
        return [text("Finished.")];
      },
      [text("a.txt")],
    ] as Turns,
    { files: { "a.txt": "a" } },
  );
  await opened.prompt("go");
  expect(opened.surface.notices).toEqual(["Aside: Which file?\na.txt"]);
  expect(opened.session.messages.at(-1)).toMatchObject({ content: [{ text: "Finished." }] });
});

test("an error of the model is said, and a question is asked for where none was typed", async () => {
  const failed = () => {
    throw new Error("No network.");
  };
  const { session, surface } = await open([failed, [text("Four.")]] as Turns, { answers: ["Two and two?"] });
  await session.prompt("/btw Really?").catch(() => undefined);
  expect(surface.notices[0]).toContain("There is no answer: ");
  await session.prompt("/btw");
  expect(surface.notices.at(-1)).toBe("Aside: Two and two?\nFour.");
  expect(session.messages).toEqual([]);
});

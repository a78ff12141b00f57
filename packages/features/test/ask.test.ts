/** The feature `ask` in real sessions. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { ask, discovery } from "../src/index.ts";
import { DialogSurface } from "./dialogs.ts";
import { weather } from "./found-tools.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";

async function open(turns: Parameters<typeof createTestSession>[0], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { features: [ask()], planMode: true, ...params });
  onTestFinished(() => opened.dispose());
  const getAnswers = () =>
    opened.session.messages.flatMap((message) =>
      message.role === "toolResult" ? [{ text: (message.content[0] as { text: string }).text, ...message }] : [],
    );
  return { ...opened, getAnswers };
}

const asks = (args: object) => [[call("ask", args)], [text("Done.")]];
const two = { question: "Which?", options: ["red", "blue"] };

test.each<[name: string, args: object, answers: (string | undefined)[], said: string]>([
  ["an option", two, ["blue"], "The user chose: blue"],
  ["own words", two, ["Something else…", "green"], "The user says: green"],
  ["own words after a second thought", two, ["Something else…", undefined, "red"], "The user chose: red"],
  ["a text", { question: "Name?" }, ["tau"], "The user says: tau"],
  [
    "several",
    { ...two, multiple: true },
    ["[ ] red", "[ ] blue", "[x] red", "Something else…", "green", "Done"],
    "The user chose: blue\nThe user says: green",
  ],
  ["none, and then one", { ...two, multiple: true }, ["Done", "[ ] red", "Done"], "The user chose: red"],
  ["nothing", two, [undefined], "The user closed the question without an answer."],
])("a person answers with %s", async (_name, args, answers, said) => {
  const { session, prompt, getAnswers } = await open(asks(args));
  const surface = new DialogSurface(answers);
  await session.attachSurface(surface);
  await prompt("go");
  expect(getAnswers()).toMatchObject([{ isError: false, text: expect.stringContaining(said) }]);
  expect(surface.dialogs).toHaveLength(answers.length);
});

test.each<[args: object, problem: string]>([
  [{ question: " " }, "`question` is empty"],
  [{ question: "Which?", options: ["a", "b", "c", "d", "e"] }, "options"],
  [{ question: "Which?", options: ["a", "a"] }, "Two options are the same"],
  [{ question: "Which?", options: ["a", "\n"] }, "An option is empty"],
])("%j is refused, and nobody is asked", async (args, problem) => {
  const { session, prompt, getAnswers } = await open(asks(args));
  const surface = new DialogSurface();
  await session.attachSurface(surface);
  await prompt("go");
  expect(getAnswers()).toMatchObject([{ isError: true, text: expect.stringContaining(problem) }]);
  expect(surface.dialogs).toEqual([]);
});

test("without a person the model is told to decide itself", async () => {
  const { prompt, getAnswers } = await open(asks(two));
  await prompt("go");
  expect(getAnswers()).toMatchObject([{ isError: false, text: expect.stringContaining("Decide yourself") }]);
});

test("an abort ends the question and the run", async () => {
  const { session } = await open(asks(two));
  const surface = new DialogSurface([() => new Promise(() => {})]);
  await session.attachSurface(surface);
  const run = session.prompt("go");
  await expect.poll(() => surface.dialogs).toHaveLength(1);
  await session.abort();
  expect(await run).toMatchObject({ kind: "ran" });
  expect(session.isStreaming).toBe(false);
});

test("texts of the model cannot act on a terminal", async () => {
  const { session, prompt } = await open(asks({ question: "Red\u001B[2J?", options: ["a\u202Eb"] }));
  const surface = new DialogSurface([undefined]);
  await session.attachSurface(surface);
  await prompt("go");
  const [dialog] = surface.dialogs;
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  expect(JSON.stringify(dialog)).not.toMatch(/\\u001b|\u202e/i);
});

test("it is listed in plan mode, found by a search otherwise, and alone no reason for one", async () => {
  const listed = async (params: TestSessionParams) => {
    const { prompt, model } = await open([[text("Hi.")]], params);
    await prompt("hi");
    return model.asked[0]!.context.tools!.map(({ name }) => name);
  };
  const features = [ask(), discovery()];
  expect(await listed({ features })).toContain("ask");
  const without = await listed({ features, planMode: false });
  expect(without).not.toContain("ask");
  expect(without).not.toContain("tool_search");
  const turns = [
    [call("tool_search", { query: "ask the user a question" })],
    [call("call_tool", { name: "ask", arguments: two })],
  ];
  const { session, prompt, getAnswers } = await open([...turns, [text("Done.")]], {
    features: [...features, weather()],
    planMode: false,
  });
  await session.attachSurface(new DialogSurface(["red"]));
  await prompt("go");
  expect(getAnswers()[0]!.text).toContain("ask");
  expect(getAnswers()[1]!.text).toBe("The user chose: red");
});

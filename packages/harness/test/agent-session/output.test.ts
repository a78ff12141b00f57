/** Tests answers of a given form: enforced, corrected, refused, and cut. */
import { StringEnum } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import { createTestSession, type TestSessionParams, type TestTurn } from "@tau/harness/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/index.ts";

async function open(turns: TestTurn[], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

const person = z.object({ name: z.string(), age: z.number().optional() });

test("the outcome has the value, and the provider was asked to enforce its form", async () => {
  const { session, model } = await open([[text('{"name":"Ada","age":null}')]]);
  const outcome = await session.prompt("Who?", { output: person });
  expect(outcome).toMatchObject({ kind: "ran", output: { kind: "fits", value: { name: "Ada" } } });
  const { options, context } = model.asked[0]!;
  expect(options.output).toMatchObject({ name: "answer", schema: { type: "object", required: ["name"] } });
  expect(JSON.stringify(context.messages)).toContain("fits this JSON Schema");
});

test.each([
  ["TypeBox", Type.Object({ name: Type.String() })],
  ["JSON Schema", { type: "object", properties: { name: { type: "string" } }, required: ["name"] }],
  ["an object with parse", { parse: (value: unknown) => person.parse(value) }],
])("a form may be %s", async (_name, output) => {
  const { session } = await open([[text('Here: {"name":"Ada"}')]]);
  expect(await session.prompt("Who?", { output })).toMatchObject({ output: { kind: "fits", value: { name: "Ada" } } });
});

test("an answer that does not fit is sent back with what is wrong, at most twice, and then that is the output", async () => {
  const { session, transcript } = await open([[text("Ada.")], [text('{"age":1}')], [text('{"age":3}')]]);
  const outcome = await session.prompt("Who?", { output: person });
  expect(outcome).toMatchObject({ kind: "ran", output: { kind: "unfit", problem: expect.stringContaining("name: ") } });
  const asked = transcript().filter((line) => line.startsWith("user: "));
  expect(asked).toEqual([
    expect.stringContaining("Who?"),
    expect.stringContaining("The answer contains no JSON."),
    expect.stringContaining("name: "),
  ]);
  expect(outcome.kind === "ran" && outcome.messages.filter(({ role }) => role === "assistant")).toHaveLength(3);
});

test("tools may be called on the way, and what was said before the answer does not matter", async () => {
  const now = defineTool({ name: "now", description: "The time", execute: () => "noon" });
  const { session, model } = await open([[text('{"name":"wrong"}'), call("now")], [text('{"name":"right"}')]], {
    customTools: [now],
  });
  expect(await session.prompt("Who?", { output: person })).toMatchObject({ output: { value: { name: "right" } } });
  expect(model.asked.map(({ options }) => options.output !== undefined)).toEqual([true, true]);
});

test("a run that fails or is aborted has no output and is not asked again", async () => {
  const { session, model } = await open([{ failure: { kind: "auth", message: "No key." } }]);
  const outcome = await session.prompt("Who?", { output: person });
  expect(outcome).toMatchObject({ kind: "ran", end: { kind: "failed" } });
  expect(outcome).not.toHaveProperty("output");
  expect(model.left).toBe(0);
});

test("the next prompt has no form", async () => {
  const { session, model } = await open([[text('{"name":"Ada"}')], [text("Fine.")]]);
  await session.prompt("Who?", { output: person });
  await session.prompt("How is she?");
  expect(model.asked[1]!.options.output).toBeUndefined();
});

test("a tool choice applies until the run has made a call", async () => {
  const now = defineTool({
    name: "now",
    description: "The time",
    input: Type.Object({ zone: StringEnum(["utc", "local"]) }),
    execute: () => "noon",
  });
  const params = { customTools: [now], toolChoice: { name: "now" } };
  const { session, model } = await open(
    [
      [call("now", { zone: "utc" })],
      [text("Noon.")],
      [text("Still noon.")],
      [call("now", { zone: "utc" })],
      [text("Noon.")],
    ],
    params,
  );
  await session.prompt("When?");
  await session.prompt("And now?", { toolChoice: "none" });
  await session.prompt("And now?");
  expect(model.asked.map(({ options }) => options.toolChoice)).toEqual([
    { name: "now" },
    undefined,
    "none",
    { name: "now" },
    undefined,
  ]);
});

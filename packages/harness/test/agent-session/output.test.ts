/** Tests answers of a given form: enforced, corrected, refused, and cut. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
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

test("nothing in a schema, or in what is wrong with an answer, is read as the mention of a file", async () => {
  const output = {
    parse(): never {
      throw new Error("@secret.txt is no name");
    },
  };
  const described = { type: "object", properties: { at: { type: "string", description: "like @secret.txt" } } };
  const { session, model, cwd } = await open([[text("{}")], [text("{}")], [text("{}")], [text("{}")]]);
  await writeFile(join(cwd, "secret.txt"), "hunter2");
  await session.prompt("Who?", { output });
  await session.prompt("Where?", { output: described });
  const said = JSON.stringify(model.asked.at(-1)!.context.messages);
  expect(said).toContain("like @secret.txt");
  expect(said).not.toContain("hunter2");
});

test("a correction sends no images again and leaves the choice of tools to the model", async () => {
  const { session, model } = await open([[text("Ada.")], [text('{"name":"Ada"}')]]);
  await session.prompt("Who?", {
    output: person,
    toolChoice: "none",
    images: [{ type: "image", mimeType: "image/png", data: "aaaa" }],
  });
  expect(model.asked.map(({ options }) => options.toolChoice)).toEqual(["none", undefined]);
  const { messages } = model.asked[1]!.context;
  expect(JSON.stringify(messages).match(/aaaa/g)).toHaveLength(1);
});

test("a signal ends the wait for a schema that never answers", async () => {
  const controller = new AbortController();
  const output = {
    parse: async () => {
      controller.abort("enough");
      return await new Promise<never>(() => {});
    },
  };
  const { session } = await open([[text("{}")]]);
  await expect(session.prompt("Who?", { output, signal: controller.signal })).rejects.toMatchObject({
    code: "aborted",
  });
});

test.each([
  ["a pattern that is none", { patternProperties: { "^[\\w-.]+$": { type: "string" } } }],
  ["a type that does not exist", { type: "strin" }],
  ["properties that are no schemas", { type: "object", properties: { name: "string" } }],
])("a schema with %s is refused before anything is sent", async (_name, output) => {
  const { session, model } = await open([[text("{}")]]);
  const refused = session.prompt("Who?", { output });
  await expect(refused).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("The schema of `output` cannot be used: "),
  });
  expect([model.asked, session.isStreaming]).toEqual([[], false]);
});

test("a follow-up that is queued during a run with a form waits for its value, corrections included", async () => {
  const { session, model, until } = await open([[text("Ada.")], [text('{"name":"Ada"}')], [text("Fine.")]]);
  const asked = session.prompt("Who?", { output: person });
  await until("turn_start");
  await session.followUp("How is she?");
  expect(await asked).toMatchObject({ kind: "ran", output: { kind: "fits", value: { name: "Ada" } } });
  await session.waitForIdle();
  expect(model.asked.map(({ options }) => options.output !== undefined)).toEqual([true, true, false]);
  const last = model.asked.map(({ context }) => JSON.stringify(context.messages.at(-1)));
  expect(last).toEqual([
    expect.stringContaining("Who?"),
    expect.stringContaining("no JSON"),
    expect.stringContaining("How is she?"),
  ]);
});

test("a steering message that interrupts changes what is asked, and its answer has the form", async () => {
  const { session, model, until } = await open([{ asked: [], answer: [call("now")] }, [text('{"name":"Grace"}')]], {
    customTools: [
      defineTool({
        name: "now",
        description: "The time",
        execute: (_args, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))),
      }),
    ],
  });
  const asked = session.prompt("Who?", { output: person });
  await until("tool_execution_start");
  await session.steer("Another one.", { interrupt: true });
  expect(await asked).toMatchObject({ output: { kind: "fits", value: { name: "Grace" } } });
  expect(model.asked.at(-1)!.options.output).toBeDefined();
});

test("a prompt with a form is not queued, and an abort between its runs ends it", async () => {
  let check = () => {};
  const checking = new Promise<void>((resolve) => (check = resolve));
  const output = {
    parse: async () => {
      check();
      return await new Promise<never>(() => {});
    },
  };
  const { session } = await open([[text("{}")]]);
  const first = session.prompt("Who?", { output });
  await checking;
  const second = session.prompt("And who?", { output, streamingBehavior: "followUp" });
  await expect(second).rejects.toMatchObject({ code: "busy", message: expect.stringContaining("`output`") });
  await session.abort();
  await expect(first).rejects.toMatchObject({ code: "aborted" });
  expect(session.isStreaming).toBe(false);
});

test("a signal that aborts while extensions look at a prompt keeps it from being sent", async () => {
  const controller = new AbortController();
  const { session, model } = await open([[text("Never.")]], {
    extensions: { factories: [(tau) => void tau.on("input", () => controller.abort("enough"))] },
  });
  await expect(session.prompt("Hi", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  expect(model.left).toBe(1);
});

test("a signal that aborts while a prompt waits to begin ends its run", async () => {
  const controller = new AbortController();
  let waiting: AbortSignal | undefined;
  const { session, model } = await open([[text("Never.")]], {
    fileAuthority: "model",
    ask: async (_question, signal) => {
      waiting = signal;
      controller.abort("enough");
      return await new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("gone"))),
      );
    },
  });
  const outcome = await session.prompt("Look at @/etc/hostname", { signal: controller.signal });
  expect(waiting?.aborted).toBe(true);
  expect(outcome).toMatchObject({ kind: "ran", end: { kind: "aborted", by: "signal" } });
  expect(model.left).toBe(1);
});

test("a prompt that could not begin leaves its choices to no other run", async () => {
  const { session, model } = await open([[text("Fine.")]]);
  const refused = session.prompt("Who?", { output: person, toolChoice: "none", files: ["/not/there"] });
  const queued = session.followUp("How are you?");
  await expect(refused).rejects.toMatchObject({ code: "invalid_input" });
  await queued;
  await session.waitForIdle();
  expect(model.asked.map(({ options }) => [options.output, options.toolChoice])).toEqual([[undefined, undefined]]);
});

/** Tests the tools that `defineTool` creates, alone and as the types of their arguments. */
import type { JsonSchema } from "@tau/ai";
import { Type } from "typebox";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool, type InputOf } from "./define-tool.ts";

const call = async (tool: ReturnType<typeof defineTool>, args: unknown, updates: unknown[] = []) =>
  await tool.execute("call-1", args, new AbortController().signal, (update) => void updates.push(update));

const zodInput = z.object({ place: z.string(), days: z.number().optional() });
const typeboxInput = Type.Object({ place: Type.String() });
const jsonInput = { type: "object", properties: { place: { type: "string" } }, required: ["place"] } as const;

test("arguments are typed from the schema", () => {
  expectTypeOf<InputOf<typeof zodInput>>().toEqualTypeOf<{ place: string; days?: number | undefined }>();
  expectTypeOf<InputOf<typeof typeboxInput>>().toEqualTypeOf<{ place: string }>();
  expectTypeOf<InputOf<typeof jsonInput>>().toEqualTypeOf<{ place: string }>();
  // oxlint-disable-next-line typescript/no-explicit-any -- arguments without a static type
  expectTypeOf<InputOf<JsonSchema>>().toEqualTypeOf<Record<string, any>>();
  const properties = {
    unit: { enum: ["c", "f"] },
    days: { type: ["integer", "null"] },
    near: { type: "array", items: { anyOf: [{ type: "string" }, { const: 7 }] } },
    more: {},
  } as const;
  type Arguments = InputOf<{ type: "object"; properties: typeof properties; required: readonly ["unit", "near"] }>;
  expectTypeOf<Arguments>().toEqualTypeOf<{
    unit: "c" | "f";
    near: (string | 7)[];
    days?: number | null;
    more?: unknown;
  }>();
  const input = { type: "object", properties, required: ["unit"] } as const;
  const tool = defineTool({ name: "a", description: "", input, execute: ({ unit }) => unit.toUpperCase() });
  expect(tool.parameters).toBe(input);
});

test("a literal of JSON Schema needs no `as const`", async () => {
  const tool = defineTool({
    name: "a",
    description: "",
    input: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    execute: ({ place }) => place.toUpperCase() satisfies string,
  });
  expect(await call(tool, { place: "Rome" })).toEqual({ content: [{ type: "text", text: "ROME" }] });
});

describe.each([
  ["zod", zodInput],
  ["TypeBox", typeboxInput],
  ["JSON Schema", jsonInput],
])("an input of %s", (_name, input) => {
  test("reaches the model as it is, and the tool with its scope", async () => {
    const tool = defineTool({
      name: "weather",
      description: "The weather of a place",
      input: input as typeof zodInput,
      execute: ({ place }, { toolCallId, signal, progress }) => {
        progress(`Asking about ${place}`);
        return { place, toolCallId, isAborted: signal.aborted };
      },
    });
    expect(tool).toMatchObject({ name: "weather", label: "weather", description: "The weather of a place" });
    expect(tool.parameters).toBe(input);
    const updates: unknown[] = [];
    expect(await call(tool, { place: "Rome" }, updates)).toEqual({
      content: [{ type: "text", text: '{"place":"Rome","toolCallId":"call-1","isAborted":false}' }],
    });
    expect(updates).toEqual([{ content: [{ type: "text", text: "Asking about Rome" }], updateType: "progress" }]);
  });
});

test("a tool without input takes no arguments", () => {
  const tool = defineTool({ name: "now", description: "The time", execute: () => "noon" });
  expect(tool.parameters).toEqual({ type: "object", properties: {} });
});

test("a schema that cannot describe itself to a model is refused where the tool is defined", () => {
  const input = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } } as const;
  expect(() => defineTool({ name: "x", description: "", input, execute: () => "" })).toThrow(
    "The input of the tool x cannot be shown to a model. Use a Standard Schema that describes itself",
  );
});

describe("a tool with an output", () => {
  const output = z.object({ celsius: z.number().transform((value) => Math.round(value)) });
  const define = (execute: () => unknown) =>
    defineTool({ name: "weather", description: "", output, execute: execute as () => { celsius: number } });

  test("gives its value as data besides the text", async () => {
    expect(
      await call(
        define(() => ({ celsius: 20.6 })),
        {},
      ),
    ).toEqual({
      content: [{ type: "text", text: '{"celsius":21}' }],
      structuredContent: { celsius: 21 },
    });
  });

  test("keeps the text of a result that it wrote itself", async () => {
    const content = [{ type: "text", text: "warm" }];
    const result = await call(
      define(() => ({ content, structuredContent: { celsius: 30.2 } })),
      {},
    );
    expect(result).toEqual({ content, structuredContent: { celsius: 30 } });
  });

  test("fails with what is wrong", async () => {
    await expect(
      call(
        define(() => ({ celsius: "hot" })),
        {},
      ),
    ).rejects.toThrow("The result of weather does not fit its schema: celsius: ");
  });

  test("is not waited for when the call is aborted while code of the schema checks it", async () => {
    const controller = new AbortController();
    const output = {
      parse: async () => {
        controller.abort();
        return await new Promise<never>(() => {});
      },
    };
    const tool = defineTool({ name: "slow", description: "Waits", output, execute: () => 1 as never });
    const result = tool.execute("call-1", {}, controller.signal);
    await expect(result).rejects.toMatchObject({ code: "aborted" });
  });

  test("has a schema that something can fit", () => {
    const output = { type: "objekt" };
    expect(() => defineTool({ name: "a", description: "", output, execute: () => ({}) })).toThrow(
      "The output schema of the tool a cannot be used: type must",
    );
  });

  test("may fail without a value", async () => {
    const failed = { content: [{ type: "text", text: "No such place" }], isError: true };
    expect(
      await call(
        define(() => failed),
        {},
      ),
    ).toBe(failed);
  });

  test("says what its value looks like where the schema can", () => {
    const plain = { type: "object", properties: { celsius: { type: "number" } } };
    expect(defineTool({ name: "a", description: "", output: plain, execute: () => ({}) }).outputSchema).toEqual(plain);
    expect(define(() => ({})).outputSchema).toMatchObject({ type: "object" });
  });
});

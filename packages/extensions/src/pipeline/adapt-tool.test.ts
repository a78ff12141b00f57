import { validateToolArguments } from "@tau/ai";
import { createFiles, createSpawn } from "@tau/tools";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adaptTool } from "./adapt-tool.ts";
import type { GivenTool, InputSchemaTool, PipelineTool } from "./layer.ts";

const given = (execute: InputSchemaTool["execute"], more: Partial<InputSchemaTool> = {}): InputSchemaTool => ({
  name: "weather",
  description: "Tells the weather",
  execute,
  ...more,
});

const getResult = (value: unknown) => adaptTool(given(() => value)).execute("1", {});

const getText = async (value: unknown) => {
  const { content } = await getResult(value);
  expect(content).toHaveLength(1);
  return content[0]?.type === "text" ? content[0].text : undefined;
};

describe("the inputSchema form", () => {
  test("gets its input, the signal and the call's id, and keeps its `this`", async () => {
    const seen: unknown[] = [];
    const tool = adaptTool({
      ...given(() => undefined),
      answer: 42,
      execute(this: { answer: number }, input, context) {
        seen.push(input, context);
        return `${this.answer}`;
      },
    } as InputSchemaTool & { answer: number });
    const { signal } = new AbortController();
    expect(await tool.execute("c1", { city: "Bern" }, signal)).toEqual({ content: [{ type: "text", text: "42" }] });
    expect(seen).toMatchObject([{ city: "Bern" }, { signal, toolCallId: "c1" }]);
  });

  test("has a signal to look at even where nobody gives one", async () => {
    const tool = adaptTool(given((_input, { signal }) => String(signal.aborted)));
    expect((await tool.execute("1", {})).content).toEqual([{ type: "text", text: "false" }]);
  });

  test("is described by its schema, as an object, and by defaults where it says nothing", () => {
    const inputSchema = { type: "object", properties: { city: { type: "string" } } };
    expect(adaptTool(given(() => 1, { inputSchema, label: "Weather", requiredScope: "net" }))).toMatchObject({
      label: "Weather",
      requiredScope: "net",
      parameters: inputSchema,
    });
    expect(adaptTool(given(() => 1, { inputSchema })).parameters).toBe(inputSchema);
    expect(adaptTool(given(() => 1))).toMatchObject({
      label: "weather",
      parameters: { type: "object", properties: {} },
    });
    const untyped = { properties: { city: { type: "string" } } };
    expect(adaptTool(given(() => 1, { inputSchema: untyped })).parameters).toEqual({ type: "object", ...untyped });
    expect(untyped).toEqual({ properties: { city: { type: "string" } } });
  });

  test("that throws or rejects fails with its own words", async () => {
    const thrown = adaptTool(
      given(() => {
        throw new Error("no clouds");
      }),
    );
    await expect(thrown.execute("1", {})).rejects.toThrow("no clouds");
    await expect(adaptTool(given(() => Promise.reject(new Error("no sky")))).execute("1", {})).rejects.toThrow(
      "no sky",
    );
  });
});

describe("what it returns", () => {
  test("is the text itself, or the result itself", async () => {
    expect(await getText("sunny")).toBe("sunny");
    const result = { content: [{ type: "text", text: "sunny" }], details: { at: 1 }, terminate: true };
    expect(await getResult(result)).toBe(result);
    const image = { content: [{ type: "image", data: "AA==", mimeType: "image/png" }] };
    expect(await getResult(image)).toBe(image);
  });

  test("is a confirmation where it is nothing", async () => {
    expect(await getText(undefined)).toBe("Done.");
    expect(await getText("")).toBe("Done.");
    expect(await getText(() => 1)).toBe("Done.");
  });

  test("is JSON where it is anything else, also data with a field that is called content", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue().filter((value) => typeof value !== "string"),
        async (value) => {
          expect(await getText(value)).toBe(JSON.stringify(value));
          expect(await getText({ content: [value] })).toBe(JSON.stringify({ content: [value] }));
        },
      ),
    );
    expect(await getText({ content: "prose" })).toBe('{"content":"prose"}');
    expect(await getText({ content: [{ type: "text" }] })).toBe('{"content":[{"type":"text"}]}');
  });

  test("may go round in circles and hold what JSON does not know", async () => {
    const circle: Record<string, unknown> = { big: 2n ** 64n, set: new Set([1]), map: new Map([["a", 1n]]) };
    circle["self"] = circle;
    const twice = { x: 1 };
    expect(await getText({ circle, pair: [twice, twice] })).toBe(
      '{"circle":{"big":"18446744073709551616","set":[1],"map":[["a","1"]],"self":"[circular]"},"pair":[{"x":1},{"x":1}]}',
    );
    const map = new Map<string, unknown>();
    map.set("me", map);
    expect(await getText(map)).toBe('[["me","[circular]"]]');
    expect(await getText(Object.assign(new Error("broke"), { code: "E1" }))).toBe(
      '{"code":"E1","name":"Error","message":"broke"}',
    );
    expect(await getText([7n])).toBe('["7"]');
  });

  test("says that the tool has run where it cannot be written at all", async () => {
    const hostile = {
      toJSON() {
        throw new Error("not me");
      },
    };
    await expect(getResult(hostile)).rejects.toThrow(/has run, but .* not me/);
  });
});

describe("adapting", () => {
  const tool: PipelineTool = {
    name: "echo",
    label: "Echo",
    description: "",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }),
  };

  test("leaves a complete tool as it is, and gives the same tool for the same object", () => {
    expect(adaptTool(tool)).toBe(tool);
    const form = given(() => 1);
    expect(adaptTool(form)).toBe(adaptTool(form));
    expect(adaptTool(adaptTool(form))).toBe(adaptTool(form));
  });

  test("makes a tool of a class that survives being copied, with its private fields", async () => {
    class Counter {
      readonly name = "count";
      readonly label = "Count";
      readonly parameters = { type: "object", properties: { by: { type: "integer" } } };
      #count = 0;
      readonly description = "Counts";
      prepareArguments(args: unknown) {
        return { by: this.#count, ...(args as object) };
      }
      async execute(_id: string, { by }: { by: number }) {
        this.#count += by;
        return { content: [{ type: "text", text: `${this.#count}` }] };
      }
    }
    const counter = { ...adaptTool(new Counter() as unknown as GivenTool) };
    expect(counter).toMatchObject({ name: "count", label: "Count", description: "Counts" });
    await counter.execute("1", { by: 2 });
    const args = counter.prepareArguments!({});
    const call = { type: "toolCall" as const, id: "1", name: "count", arguments: args };
    expect(await counter.execute("2", validateToolArguments(counter, call))).toEqual({
      content: [{ type: "text", text: "4" }],
    });
  });

  const description = {
    shows: "list",
    readOnly: true,
    promptSnippet: "count things",
    promptGuidelines: ["Count twice."],
  } as const;

  test("keeps what a tool of either form says about itself", async () => {
    const form: InputSchemaTool = {
      ...description,
      name: "count",
      description: "Counts",
      access: (_input, cwd) => [{ capability: "read", target: { kind: "path", path: cwd } }],
      summarise: ({ by }) => `Count by ${String(by)}`,
      touches: () => ({ read: ["a"], modified: [] }),
      execute: (_input, { files }) => String(files !== undefined),
    };
    const adapted = adaptTool(form);
    expect(adapted).toMatchObject(description);
    expect(adapted.access!({}, "/w")).toEqual([{ capability: "read", target: { kind: "path", path: "/w" } }]);
    expect(adapted.summarise!({ by: 2 })).toBe("Count by 2");
    expect(adapted.touches!({})).toEqual({ read: ["a"], modified: [] });
    const context = { files: createFiles(), spawn: createSpawn() };
    expect(await adapted.execute("1", {}, undefined, undefined, context)).toEqual({
      content: [{ type: "text", text: "true" }],
    });
  });

  test("keeps what a class says about itself, with its private fields", () => {
    class Counter {
      readonly name = "count";
      readonly parameters = { type: "object", properties: {} };
      readonly promptSnippet = "count things";
      readonly #path = "/counts";
      access() {
        return [{ capability: "read", target: { kind: "path", path: this.#path } }];
      }
      summarise() {
        return `Count in ${this.#path}`;
      }
      touches() {
        return { read: [this.#path], modified: [] };
      }
      async execute() {
        return { content: [] };
      }
    }
    const counter = { ...adaptTool(new Counter() as unknown as GivenTool) };
    expect(counter.promptSnippet).toBe("count things");
    expect(counter.access!({}, "/w")).toEqual([{ capability: "read", target: { kind: "path", path: "/counts" } }]);
    expect(counter.summarise!({})).toBe("Count in /counts");
    expect(counter.touches!({})).toEqual({ read: ["/counts"], modified: [] });
  });

  test("fills in what only people read", () => {
    const { label: _label, description: _description, ...bare } = tool;
    expect(adaptTool(bare as PipelineTool)).toMatchObject({
      ...bare,
      execute: expect.any(Function),
      label: "echo",
      description: "",
    });
  });

  test.each([
    [null, /A tool is an object/],
    ["read", /A tool is an object/],
    [{ execute: Date }, /no name/],
    [{ name: "", execute: Date }, /no name/],
    [{ name: "x" }, /x is not a tool.*no function/],
  ])("refuses %j, which is no tool", (value, words) => {
    expect(() => adaptTool(value as unknown as GivenTool)).toThrow(words);
    expect(() => adaptTool(value as unknown as GivenTool)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

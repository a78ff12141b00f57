import fc from "fast-check";
import { type Static, Type } from "typebox";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { JsonSchema, Tool } from "./context.ts";
import { type AiError, isAiError } from "./errors.ts";
import type { ToolCall } from "./message.ts";
import { StringEnum } from "./schema/string-enum.ts";
import { validateToolArguments, validateToolCall } from "./validate.ts";

const tool = <T extends Tool["parameters"]>(parameters: T): Tool<T> => ({
  name: "edit",
  description: "Edits",
  parameters,
});
const call = (args: unknown, extra: Partial<ToolCall> = {}): ToolCall => ({
  type: "toolCall",
  id: "1",
  name: "edit",
  arguments: args as Record<string, unknown>,
  ...extra,
});
const object = (properties: Record<string, unknown>, required: string[] = [], rest: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  required,
  ...rest,
});

const validate = (parameters: Tool["parameters"], args: unknown) =>
  validateToolArguments(tool(parameters), call(args)) as ToolCall["arguments"];
/** The validated value of one required property. */
const fit = (schema: unknown, value: unknown) =>
  validate(object({ it: schema }, ["it"]), { it: value })["it"] as unknown;

function failure(act: () => unknown): AiError {
  try {
    act();
  } catch (error) {
    if (isAiError(error)) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

const refusal = (parameters: Tool["parameters"], args: unknown) => failure(() => validate(parameters, args)).message;

const text = { type: "string" };
const number = { type: "number" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
const texts = { type: "array", items: text };

test("valid arguments are returned as a new object of the tool's own type", () => {
  const place = Type.Object({ name: Type.String(), unit: Type.Optional(StringEnum(["C", "F"])) });
  const given = { name: "Rome", unit: "C" };
  const validated = validateToolArguments(tool(place), call(given));
  expectTypeOf(validated).toEqualTypeOf<Static<typeof place>>();
  expect(validated).toEqual(given);
  expect(validated).not.toBe(given);
});

describe("harmless mistakes of a model are corrected", () => {
  test.each<[string, unknown, unknown, unknown]>([
    ["a number in quotes", number, "-1.5e3", -1500],
    ["a whole number in quotes", integer, " 5 ", 5],
    ["a whole number with a point", integer, "5.0", 5],
    ["true in quotes", boolean, "true", true],
    ["false in quotes", boolean, "false", false],
    ["a number for a text", text, 5, "5"],
    ["a boolean for a text", text, false, "false"],
    ["a single value instead of an array", texts, "a", ["a"]],
    ["a single value instead of an array, itself corrected", texts, 5, ["5"]],
    ["a list in a text", texts, '["a","b"]', ["a", "b"]],
    ["an object in a text", object({ n: number }), '{"n":"1"}', { n: 1 }],
    ["an object for a list of them", { type: "array", items: object({ n: number }) }, { n: 1 }, [{ n: 1 }]],
    ["text that looks like JSON but is not", texts, "[a", ["[a"]],
    ["a constant in quotes", { const: 5 }, "5", 5],
    ["a choice of numbers in quotes", { enum: [1, 2] }, "2", 2],
    ["a choice of texts without quotes", { type: "string", enum: ["1", "2"] }, 2, "2"],
    ["several types, of which the value has none", { type: ["integer", "boolean"] }, "true", true],
    ["items of a list", { type: "array", items: number }, ["1", 2], [1, 2]],
    ["a tuple", { type: "array", prefixItems: [number, text], items: boolean }, ["1", 2, "true"], [1, "2", true]],
    ["values of a map", { type: "object", additionalProperties: number }, { a: "1" }, { a: 1 }],
    [
      "values by pattern",
      { type: "object", patternProperties: { "^n": number } },
      { n: "1", t: "1" },
      { n: 1, t: "1" },
    ],
    [
      "all of several",
      { allOf: [object({ a: number }), object({ b: boolean })] },
      { a: "1", b: "true" },
      { a: 1, b: true },
    ],
  ])("%s", (_name, schema, given, expected) => {
    expect(fit(schema, given)).toEqual(expected);
  });

  test("null for an optional property is removed", () => {
    const schema = object({ a: text, b: { type: ["string", "null"] }, c: text }, ["c"]);
    expect(validate(schema, { a: null, b: null, c: "x" })).toEqual({ b: null, c: "x" });
    expect(refusal(schema, { c: null })).toContain("c: must be string");
  });

  test("missing properties get a fresh copy of their default", () => {
    const schema = object({ list: { ...texts, default: ["a"] }, inner: object({ n: { ...number, default: 1 } }) });
    const first = validate(schema, { inner: {} });
    expect(first).toEqual({ list: ["a"], inner: { n: 1 } });
    first["list"].push("b");
    expect(validate(schema, { inner: { n: 2 } })).toEqual({ list: ["a"], inner: { n: 2 } });
  });

  test("an invalid default is not filled in", () => {
    expect(validate(object({ n: { ...number, default: "x" } }), {})).toEqual({});
  });
});

describe("values that could only be corrected by changing their meaning are rejected", () => {
  test.each<[string, unknown, unknown]>([
    ["words for a number", number, "five"],
    ["nothing for a number", number, ""],
    ["another notation", integer, "0x10"],
    ["a fraction for a whole number", integer, "5.5"],
    ["an id that would be rounded", number, "12345678901234567890"],
    ["words for a boolean", boolean, "yes"],
    ["a number for a boolean", boolean, 1],
    ["an object for a text", text, {}],
    ["null for a text", text, null],
    ["null for a list", texts, null],
    ["a text that is not an object", object({}), "[]"],
    ["a value that is not in the enum", { enum: ["a"] }, "b"],
  ])("%s", (_name, schema, given) => {
    expect(failure(() => fit(schema, given)).code).toBe("invalid_arguments");
  });
});

describe("unions", () => {
  const shapes = {
    anyOf: [
      object({ kind: { const: "circle" }, radius: number, name: { ...text, default: "round" } }, ["kind", "radius"]),
      object({ kind: { const: "square" }, side: number }, ["kind", "side"]),
    ],
  };

  test("a value that is valid for a member is not changed", () => {
    expect(fit({ anyOf: [number, text] }, "5")).toBe("5");
    expect(fit({ anyOf: [texts, text] }, '["a"]')).toBe('["a"]');
    expect(fit({ oneOf: [integer, text] }, "5")).toBe("5");
  });

  test("otherwise the first member that accepts the corrected value is used", () => {
    expect(fit({ anyOf: [number, boolean] }, "true")).toBe(true);
    expect(fit(shapes, { kind: "square", side: "2" })).toEqual({ kind: "square", side: 2 });
  });

  test("the defaults of the matching member are filled in", () => {
    expect(fit(shapes, { kind: "circle", radius: 1 })).toEqual({ kind: "circle", radius: 1, name: "round" });
    expect(fit(shapes, { kind: "square", side: 1 })).toEqual({ kind: "square", side: 1 });
  });
});

describe("references", () => {
  const tree = {
    ...object({ root: { $ref: "#/$defs/node" } }, ["root"]),
    $defs: { node: object({ value: number, children: { type: "array", items: { $ref: "#/$defs/node" } } }, ["value"]) },
  };

  test("are resolved, even if they are recursive", () => {
    expect(validate(tree, { root: { value: "1", children: { value: "2" } } })).toEqual({
      root: { value: 1, children: [{ value: 2 }] },
    });
    expect(refusal(tree, { root: { value: 1, children: [{}] } })).toContain(
      "root.children.0: must have required properties value",
    );
  });

  test("to the root schema work inside unions", () => {
    const self = object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] }, n: number }, ["n"]);
    expect(validate(self, { n: "1", next: { n: "2", next: null } })).toEqual({ n: 1, next: { n: 2, next: null } });
  });

  test("TypeBox's own recursive types validate", () => {
    const node = Type.Cyclic(
      { Node: Type.Object({ id: Type.String(), next: Type.Optional(Type.Ref("Node")) }) },
      "Node",
    );
    expect(validate(node, { id: "a", next: { id: "b" } })).toEqual({ id: "a", next: { id: "b" } });
    expect(refusal(node, { id: "a", next: {} })).toContain("next");
  });

  test("that are endless give a clean error", () => {
    expect(failure(() => validate({ $ref: "#" }, {})).code).toBe("invalid_arguments");
    const lists = {
      ...object({ it: { $ref: "#/$defs/l" } }),
      $defs: { l: { type: "array", items: { $ref: "#/$defs/l" } } },
    };
    expect(failure(() => validate(lists, { it: "x" })).code).toBe("invalid_arguments");
    const member = { $ref: "#/$defs/u" };
    const unions = {
      ...object({ it: member }),
      $defs: { u: { anyOf: [object({ a: member }, ["a", "x"]), object({ a: member }, ["a", "y"]), text] } },
    };
    const deep = { it: Array.from({ length: 12 }).reduce<unknown>((inner) => ({ a: inner }), []) };
    expect(failure(() => validate(unions, deep)).code).toBe("invalid_arguments");
  });
});

describe("the error message", () => {
  test("contains the tool, the path and reason of every problem, and the received arguments", () => {
    const schema = object(
      {
        path: text,
        edits: { type: "array", items: object({ line: integer }, ["line"]) },
        mode: StringEnum(["a", "b"]),
      },
      ["path"],
      {
        additionalProperties: false,
      },
    );
    expect(refusal(schema, { edits: [{ line: "x" }], mode: "c", "a/b": 1 })).toBe(
      [
        "The arguments for edit are not valid:",
        "- (arguments): must have required properties path",
        "- (arguments): must not have additional properties: a/b",
        "- edits.0.line: must be integer",
        '- mode: must be equal to one of the allowed values: ["a","b"]',
        'Received: {"edits":[{"line":"x"}],"mode":"c","a/b":1}',
      ].join("\n"),
    );
  });

  test("stays short, however large the arguments are", () => {
    const message = refusal(object({ list: { type: "array", items: number } }), {
      list: Array.from({ length: 500 }, () => "x".repeat(100)),
    });
    expect(message.split("Received: ")[1]).toHaveLength(2_001);
    expect(message.length).toBeLessThan(4_000);
  });

  test("is the call's argumentsError if the arguments could not be parsed", () => {
    const error = failure(() => validateToolArguments(tool({}), call({}, { argumentsError: "They were cut off." })));
    expect(error).toMatchObject({ code: "invalid_arguments", message: "They were cut off." });
  });

  test("names the problem of arguments that are too deep or circular", () => {
    const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) });
    expect(validate({ type: "object" }, deep(63))).toEqual(deep(63));
    expect(refusal({ type: "object" }, deep(64))).toBe("The arguments for edit are nested deeper than 64 levels.");
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    cyclic["again"] = cyclic;
    expect(refusal({ type: "object" }, cyclic)).toBe("The arguments for edit contain themselves.");
  });

  test("has the code invalid_schema if the schema is invalid", () => {
    expect(failure(() => validate(object({ a: { type: "string", pattern: "(" } }), { a: "x" })).code).toBe(
      "invalid_schema",
    );
  });

  test("for an unknown tool lists the known tools", () => {
    const tools = [tool({}), { ...tool({}), name: "read" }];
    expect(failure(() => validateToolCall(tools, call({}, { name: "write" })))).toMatchObject({
      code: "unknown_tool",
      message: "There is no tool write. Known tools: edit, read.",
    });
    expect(validateToolCall(tools, call({ a: 1 }, { name: "read" }))).toEqual({ a: 1 });
  });
});

describe("property names", () => {
  test("__proto__ is an ordinary property, and no prototype changes", () => {
    const given = JSON.parse('{"__proto__":{"polluted":"1"},"inner":{"__proto__":"5"}}') as Record<string, unknown>;
    const properties = JSON.parse('{"__proto__":{"type":"number"}}') as Record<string, unknown>;
    const validated = validate(object({ inner: { type: "object", properties } }), given);
    expect(JSON.stringify(validated)).toBe('{"__proto__":{"polluted":"1"},"inner":{"__proto__":5}}');
    expect(Object.getPrototypeOf(validated)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(validated["inner"])).toBe(Object.prototype);
  });

  test.each(["constructor", "toString", "getValue", "hasOwnProperty", "__proto__"])(
    "a missing parameter named %s is not taken from the prototype",
    (name) => {
      const properties = Object.fromEntries([[name, text]]);
      expect(validate({ type: "object", properties }, {})).toEqual({});
      expect(refusal({ type: "object", properties, required: [name] }, {})).toContain(name);
      const given = Object.fromEntries([[name, "x"]]);
      expect(JSON.stringify(validate({ type: "object", properties, required: [name] }, given))).toBe(
        JSON.stringify(given),
      );
    },
  );

  test("nothing in a schema is executed", () => {
    const code = `"];globalThis.executed=true;//'\`\${globalThis.executed=true}`;
    for (const keyword of [
      "type",
      "pattern",
      "format",
      "minimum",
      "maxLength",
      "minItems",
      "required",
      "enum",
      "const",
      "multipleOf",
    ]) {
      for (const value of [code, [code], { [code]: code }]) {
        try {
          validate(object({ [code]: { [keyword]: value, properties: { [code]: text } } }, [code]), { [code]: code });
        } catch (error) {
          expect(isAiError(error)).toBe(true);
        }
      }
    }
    expect((globalThis as { executed?: boolean }).executed).toBeUndefined();
  });
});

describe("a Standard Schema validates itself", () => {
  /** Accepts `{ n: number }` and doubles it. */
  const doubling = (extra: object = {}) => ({
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) => {
        const { n } = value as { n: unknown };
        return typeof n === "number"
          ? { value: { n: n * 2 } }
          : { issues: [{ message: "not a number", path: ["list", { key: 0 }] }] };
      },
      ...extra,
    },
  });

  test("its output is returned", () => {
    expect(validate(doubling(), { n: 2 })).toEqual({ n: 4 });
  });

  test("it may be a function, as those of arktype are", () => {
    expect(
      validate(
        Object.assign(() => undefined, doubling()),
        { n: 2 },
      ),
    ).toEqual({ n: 4 });
  });

  test("its issues are the problems", () => {
    expect(refusal(doubling(), { n: "2" })).toBe(
      'The arguments for edit are not valid:\n- list.0: not a number\nReceived: {"n":"2"}',
    );
  });

  test("many issues are not all listed", () => {
    const issues = Array.from({ length: 25 }, (_, index) => ({ message: "wrong", path: [index] }));
    const message = refusal(doubling({ validate: () => ({ issues }) }), {});
    expect(message).toContain("- 19: wrong\n- and 5 more\nReceived");
  });

  test("a schema with a JSON Schema is called again with corrected arguments", () => {
    const described = doubling({ jsonSchema: { input: () => object({ n: number }) } });
    expect(validate(described, { n: "2" })).toEqual({ n: 4 });
    expect(refusal(described, { n: "x" })).toContain("list.0: not a number");
  });

  test("an asynchronous schema and a schema that throws are errors", () => {
    const slow = doubling({ validate: () => Promise.reject(new Error("late")) });
    expect(refusal(slow, {})).toBe(
      "The test schema of edit validates asynchronously, which a tool's schema cannot do.",
    );
    const broken = doubling({
      validate: () => {
        throw new TypeError("broken");
      },
    });
    expect(refusal(broken, {})).toBe("Validating the arguments for edit failed: broken");
  });
});

/** A schema without defaults, with a valid value. */
interface Sample {
  schema: JsonSchema;
  value: unknown;
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .oneof(fc.string(), fc.constantFrom("5", "true", "[1]", '{"a":1}', "null"))
      .map((value) => ({ schema: text, value })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ schema: number, value })),
    fc.boolean().map((value) => ({ schema: boolean, value })),
    fc.constantFrom("1", 1, true, null).map((value) => ({ schema: { enum: ["1", 1, true, null] }, value })),
    fc.jsonValue().map((value) => ({ schema: {}, value })),
    fc.tuple(tie("sample"), fc.array(tie("sample"), { maxLength: 2 }), fc.boolean()).map(([chosen, others, first]) => {
      const schemas = others.map(({ schema }) => schema);
      return {
        schema: { anyOf: first ? [chosen.schema, ...schemas] : [...schemas, chosen.schema] },
        value: chosen.value,
      };
    }),
    fc.tuple(tie("sample"), fc.nat(2)).map(([{ schema, value }, count]) => ({
      schema: { type: "array", items: schema },
      value: Array.from({ length: count }, () => value),
    })),
    objectSample(tie("sample")),
  ),
}));

function objectSample(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const name = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("__proto__", "toString", "a/b", "a~b", "%"));
  return fc
    .dictionary(name, fc.record({ inner, presence: fc.constantFrom("required", "given", "absent") }), { maxKeys: 4 })
    .map((properties) => {
      const entries = Object.entries(properties);
      return {
        schema: {
          type: "object",
          properties: Object.fromEntries(
            entries.map(
              ([
                key,
                {
                  inner: { schema },
                },
              ]) => [key, schema],
            ),
          ),
          required: entries.filter(([, { presence }]) => presence === "required").map(([key]) => key),
        },
        value: Object.fromEntries(
          entries
            .filter(([, { presence }]) => presence !== "absent")
            .map(
              ([
                key,
                {
                  inner: { value },
                },
              ]) => [key, value],
            ),
        ),
      };
    });
}

describe("for every schema", () => {
  test("a valid value is returned deeply equal, even if other properties have defaults", () => {
    fc.assert(
      fc.property(objectSample(sample), ({ schema, value }) => {
        const given = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(validate(schema, given)).toStrictEqual(given);
        const properties = { ...(schema["properties"] as object), absent: { ...text, default: "x" } };
        expect(validate({ ...schema, properties }, given)).toStrictEqual({ ...given, absent: "x" });
      }),
    );
  });

  test("the call is never changed, and only AiError is thrown", () => {
    fc.assert(
      fc.property(
        sample,
        fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true }),
        fc.jsonValue(),
        ({ schema }, anything, json) => {
          for (const given of [anything, json, { it: anything }, { it: json }]) {
            const before = JSON.stringify(given, (_key, value: unknown) =>
              typeof value === "bigint" ? `${value}n` : value,
            );
            for (const parameters of [schema, object({ it: schema }, ["it"])]) {
              try {
                validate(parameters, given);
              } catch (error) {
                expect(isAiError(error)).toBe(true);
              }
            }
            const after = JSON.stringify(given, (_key, value: unknown) =>
              typeof value === "bigint" ? `${value}n` : value,
            );
            expect(after).toBe(before);
          }
        },
      ),
    );
  });

  test("any schema gives arguments or an AiError", () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "anyOf",
      "oneOf",
      "allOf",
      "enum",
      "$ref",
      "required",
      "$defs",
      "default",
      "additionalProperties",
    );
    fc.assert(
      fc.property(fc.dictionary(keyword, fc.jsonValue()), fc.jsonValue(), (schema, given) => {
        try {
          validate(schema as JsonSchema, { it: given });
        } catch (error) {
          expect(isAiError(error)).toBe(true);
        }
      }),
    );
  });
});

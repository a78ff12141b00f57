import { Type } from "typebox";
import { expect, test } from "vitest";
import { z } from "zod";
import type { OutputSchema } from "./output-schema.ts";
import { parseOutput, readOutput } from "./read-output.ts";

const json = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const schemas: Record<string, OutputSchema> = {
  zod: z.object({ n: z.number() }),
  async: z.object({ n: z.number() }).refine(async () => true),
  typebox: Type.Object({ n: Type.Number() }),
  json,
};

const fitting = [
  '{"n":1}',
  'Here it is:\n```json\n{"n":1}\n```\nDone.',
  'First {"m": 0}, but the answer is {"n":1}.',
  '```\n{"x":"}"}\n```\n```json\n{"n": 1}',
  'A "quote" [1] and {"n":1} }',
];

test.each(Object.keys(schemas))("%s finds the JSON of an answer", async (name) => {
  for (const text of fitting) expect(await parseOutput(text, schemas[name]!)).toEqual({ n: 1 });
});

test.each(Object.keys(schemas))("%s corrects nothing and names the property", async (name) => {
  await expect(parseOutput('{"n":"1"}', schemas[name]!)).rejects.toThrow(/^n: /);
  await expect(parseOutput("none", schemas[name]!)).rejects.toThrow("The answer contains no JSON.");
});

test("an object with parse is a schema", async () => {
  const schema = {
    parse: (value: unknown) => {
      if (value !== 1) throw new Error("not one");
      return "one";
    },
  };
  expect(await parseOutput("1", schema)).toBe("one");
  await expect(parseOutput("2", schema)).rejects.toThrow("not one");
});

test("what providers that enforce a form send for absent properties is removed, and only then", async () => {
  const optional = z.object({ n: z.number(), note: z.string().optional() });
  const answer = '{"n":1,"note":null}';
  expect(await readOutput(answer, optional, { isEnforced: true })).toEqual({ kind: "fits", value: { n: 1 } });
  expect(await readOutput(answer, optional)).toMatchObject({ kind: "unfit" });
});

test("a flood of brackets is searched within limits", async () => {
  await expect(parseOutput("{[".repeat(500_000), json)).rejects.toThrow("no JSON");
});

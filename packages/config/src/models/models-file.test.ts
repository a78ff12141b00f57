import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { parseModels } from "./models-file.ts";

/** The problems as the user sees them. */
async function describeProblems(text: string): Promise<string[]> {
  const parsed = await parseModels(text, "models.json");
  return (parsed.kind === "damaged" ? [parsed.problem] : parsed.problems).map(formatFileProblem);
}

/** Creates a file with one provider `p` with these fields, on the second line. */
const provider = (fields: string) => `{ "providers": { "p":\n${fields}\n} }`;
const model = (fields: string) => provider(`{ "models": [{ "id": "m", ${fields} }] }`);

test("comments, trailing commas and a byte-order mark are no errors", async () => {
  const text = `\uFEFF// mine
  {
    "$schema": "x", /* of the editor */
    "providers": { "p": { "baseUrl": "http://h/{REGION}/v1", "models": [{ "id": "m", }, ], }, },
  }`;
  const parsed = await parseModels(text, "f");
  expect(parsed).toMatchObject({ kind: "read", problems: [] });
  expect(parsed.kind === "read" && parsed.providers.get("p")).toEqual({
    baseUrl: "http://h/{REGION}/v1",
    models: [{ id: "m", path: ["providers", "p", "models", 0] }],
    path: ["providers", "p"],
  });
});

describe("a file that is not JSON is damaged, and its problem has a position", () => {
  for (const [text, expected] of [
    ["", "models.json:1:1: The file is empty. Write {} into it, or remove it."],
    ['{\n"providers": {\n', "models.json:3:1: A closing brace is missing."],
    ['{\n"a": 1\n"b": 2 }', "models.json:3:1: A comma is missing before this."],
    ["{'providers': {}}", "models.json:1:2: This is not JSON. Put names and strings in double quotes."],
    ["[]", "models.json:1:1: The file has to hold an object: { … }."],
    [`${"[".repeat(100_000)}`, "models.json:1:65: This is nested more than 64 levels deep."],
  ] as const) {
    test(JSON.stringify(text.slice(0, 30)), async () => expect(await describeProblems(text)).toEqual([expected]));
  }
});

describe("an error has a position and a key, and only its field is ignored", () => {
  for (const [text, ...expected] of [
    ['{ "provider": {} }', '1:3: There is no field "provider". Did you mean "providers"?'],
    ['{ "providers": [] }', '1:3: "providers" has to be an object with values by name, not a list.'],
    [provider("null"), '1:18: "providers.p" has to be an object, not null.'],
    [provider('{ "baseURL": "http://h" }'), '2:3: There is no field "providers.p.baseURL". Did you mean "baseUrl"?'],
    [
      provider('{ "baseUrl": "localhost:80" }'),
      '2:3: "providers.p.baseUrl" has to be an address that begins with http:// or https://, not this string.',
    ],
    [provider('{ "apiKey": "" }'), '2:3: "providers.p.apiKey" has to be a string that is not empty, not "".'],
    [provider('{ "authHeader": "yes" }'), '2:3: "providers.p.authHeader" has to be true or false, not this string.'],
    [provider('{ "headers": { "a b": "c" } }'), `2:16: "providers.p.headers['a b']" cannot be the name of a header.`],
    [
      provider('{ "headers": { "a": "b\\nc" } }'),
      '2:16: "providers.p.headers.a" has to be one line of text that is not empty, not this string.',
    ],
    [provider('{ "oauth": "radius" }'), '2:3: "providers.p.oauth" is not used by tau yet.'],
    [
      provider('{ "models": [{}, 7] }'),
      '2:14: "providers.p.models[0].id" has to be a string that is not empty, and is missing.',
      '2:18: "providers.p.models[1]" has to be an object, not this number.',
    ],
    [
      model('"contextWindow": -1'),
      '2:27: "providers.p.models[0].contextWindow" has to be a whole number of tokens, 1 or more, not this number.',
    ],
    [
      model('"cost": { "input": "1" }'),
      '2:37: "providers.p.models[0].cost.input" has to be a number of dollars per million tokens, 0 or more, not this string.',
    ],
    [
      model('"cost": { "tiers": [{ "input": 1, "output": 1 }] }'),
      '2:47: "providers.p.models[0].cost.tiers[0].inputTokensAbove" has to be a number of tokens, 0 or more, and is missing.',
    ],
    [
      model('"input": ["text", "video"]'),
      '2:45: "providers.p.models[0].input[1]" has to be "text" or "image", not this string.',
    ],
    [
      model('"thinkingLevelMap": { "hihg": "x", "max": 1 }'),
      '2:49: There is no field "providers.p.models[0].thinkingLevelMap.hihg". Did you mean "high" or "xhigh"?',
      '2:62: "providers.p.models[0].thinkingLevelMap.max" has to be a string, or null, not this number.',
    ],
    [
      model('"samplingParams": 1, "promptCache": { "short": 0 }'),
      '2:27: "providers.p.models[0].samplingParams" has to be an object, not this number.',
      '2:65: "providers.p.models[0].promptCache.short" has to be a whole number of seconds, 1 or more, not this number.',
    ],
    [
      model('"compat": { "supportsStore": 1, "vllmPriority": "high", "imageInput": "assets" }'),
      '2:39: "providers.p.models[0].compat.supportsStore" has to be true or false, not this number.',
      '2:59: "providers.p.models[0].compat.vllmPriority" has to be a number, not this string.',
      '2:83: "providers.p.models[0].compat.imageInput" is not used by tau yet.',
    ],
    [provider('{ "name": "a",\n"name": "b" }'), '3:1: "providers.p.name" is set more than once. The last one counts.'],
    [
      provider('{ "modelOverrides": { "a.b": { "maxTokens": "many" } } }'),
      `2:32: "providers.p.modelOverrides['a.b'].maxTokens" has to be a whole number of tokens, 1 or more, not this string.`,
    ],
  ] as const) {
    test(text.replaceAll("\n", " "), async () =>
      expect(await describeProblems(text)).toEqual(expected.map((problem) => `models.json:${problem}`)),
    );
  }

  test("everything else in the file counts", async () => {
    const text = `{ "providers": {
      "bad": 5,
      "p": { "baseUrl": "http://h/v1", "apiKey": 5, "models": [{ "id": 1 }, { "id": "m", "maxTokens": "x", "reasoning": true }] }
    } }`;
    const parsed = await parseModels(text, "f");
    expect(parsed.kind === "read" && [...parsed.providers]).toEqual([
      [
        "p",
        {
          baseUrl: "http://h/v1",
          models: [{ id: "m", reasoning: true, path: ["providers", "p", "models", 1] }],
          path: ["providers", "p"],
        },
      ],
    ]);
  });
});

test("a problem never repeats a key or the value of a header", async () => {
  const secret = "fake-secret-1234";
  const texts = [
    provider(`{ "apiKey": ["${secret}"], "headers": { "a": ["${secret}"], "b": { "c": "${secret}" } } }`),
    provider(`{ "headers": "${secret}", "authHeader": "${secret}", "baseUrl": "${secret}" }`),
    provider(`{ "apiKey": "${secret}" "x" }`),
    provider(`{ "apiKey": '${secret}' }`),
  ];
  for (const text of texts) {
    const problems = await describeProblems(text);
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain(secret);
  }
});

test("names that are special in JavaScript are ordinary names", async () => {
  const parsed = await parseModels(
    '{ "providers": { "__proto__": { "name": "x", "compat": { "openRouterRouting": { "__proto__": 1 } } }, "constructor": { "toString": 1 } } }',
    "f",
  );
  expect(parsed.kind === "read" && [...parsed.providers.keys()]).toEqual(["__proto__", "constructor"]);
  expect(parsed.kind === "read" && parsed.problems.map(({ key }) => key)).toEqual(["providers.constructor.toString"]);
  expect({}).not.toHaveProperty("name");
});

test("no text makes it throw", async () => {
  const json = fc.json({ maxDepth: 4 });
  const cut = fc.tuple(fc.constant(provider('{ "models": [{ "id": "m", "cost": { "input": 1 } }] }')), fc.nat(60));
  const texts = fc.oneof(
    fc.string(),
    json,
    json.map(provider),
    json.map((inner) => model(`"compat": ${inner}`)),
    cut.map(([text, at]) => text.slice(0, at)),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(["read", "damaged"]).toContain((await parseModels(text, "f")).kind);
    }),
    { numRuns: 300 },
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeProblem, parseModels } from "./models-file.ts";

/** The problems, as people see them. */
async function describeProblems(text: string): Promise<string[]> {
  const parsed = await parseModels(text, "models.json");
  return (parsed.kind === "broken" ? [parsed.problem] : parsed.problems).map(describeProblem);
}

/** One provider `p` with these fields, on the second line. */
const provider = (fields: string) => `{ "providers": { "p":\n${fields}\n} }`;
const model = (fields: string) => provider(`{ "models": [{ "id": "m", ${fields} }] }`);

test("comments, trailing commas and a byte-order mark are no mistakes", async () => {
  const text = `\uFEFF// mine
  {
    "$schema": "x", /* of the editor */
    "providers": { "p": { "baseUrl": "http://h/{REGION}/v1", "models": [{ "id": "m", }, ], }, },
  }`;
  const parsed = await parseModels(text, "f");
  expect(parsed).toMatchObject({ kind: "read", problems: [] });
  expect(parsed.kind === "read" && parsed.providers.get("p")).toMatchObject({
    models: [{ id: "m", line: 4 }],
    line: 4,
  });
});

describe("a file that is no JSON is broken, and the line is named", () => {
  for (const [text, expected] of [
    ["", "models.json:1: This is not JSON: value expected."],
    ['{\n"providers": {\n', "models.json:3: This is not JSON: close brace expected."],
    ['{\n"a": 1\n"b": 2 }', "models.json:3: This is not JSON: comma expected."],
    ["{'providers': {}}", "models.json:1: This is not JSON: invalid symbol."],
    [`${"[".repeat(100_000)}`, "models.json:1: This is nested more than 64 levels deep."],
  ] as const) {
    test(JSON.stringify(text.slice(0, 30)), async () => expect(await describeProblems(text)).toEqual([expected]));
  }
});

describe("a mistake names its line and key, and costs no more than its field", () => {
  const left = "It is left out.";
  for (const [text, ...expected] of [
    ["[]", `models.json:1: This must be an object, and is a list. ${left}`],
    ['{ "provider": {} }', 'models.json:1: provider: There is no such field. Did you mean "providers"?'],
    ['{ "providers": [] }', `models.json:1: providers: This must be an object, and is a list. ${left}`],
    [provider("null"), `models.json:2: providers.p: This must be an object, and is null. ${left}`],
    [
      provider('{ "baseURL": "http://h" }'),
      'models.json:2: providers.p.baseURL: There is no such field. Did you mean "baseUrl"?',
    ],
    [
      provider('{ "baseUrl": "localhost:80" }'),
      `models.json:2: providers.p.baseUrl: This must be an address that begins with http:// or https://. ${left}`,
    ],
    [
      provider('{ "apiKey": "" }'),
      `models.json:2: providers.p.apiKey: This must be a text that is not empty, and is an empty text. ${left}`,
    ],
    [
      provider('{ "authHeader": "yes" }'),
      `models.json:2: providers.p.authHeader: This must be true or false, and is a text. ${left}`,
    ],
    [
      provider('{ "headers": { "a b": "c" } }'),
      `models.json:2: providers.p.headers["a b"]: This cannot be the name of a header. ${left}`,
    ],
    [
      provider('{ "headers": { "a": "b\\nc" } }'),
      `models.json:2: providers.p.headers.a: A header is one line. ${left}`,
    ],
    [provider('{ "oauth": "radius" }'), "models.json:2: providers.p.oauth: tau does not use this yet."],
    [
      provider('{ "models": [{}, 7] }'),
      `models.json:2: providers.p.models[0]: A model needs an "id". ${left}`,
      `models.json:2: providers.p.models[1]: This must be an object, and is the number 7. ${left}`,
    ],
    [
      model('"contextWindow": -1'),
      `models.json:2: providers.p.models[0].contextWindow: This must be a whole number above 0, and is the number -1. ${left}`,
    ],
    [
      model('"cost": { "input": "1" }'),
      `models.json:2: providers.p.models[0].cost.input: This must be a price: a number, 0 or more, and is a text. ${left}`,
    ],
    [
      model('"cost": { "tiers": [{ "input": 1 }] }'),
      `models.json:2: providers.p.models[0].cost.tiers[0]: A tier needs inputTokensAbove, input and output. ${left}`,
    ],
    [
      model('"input": ["text", "video"]'),
      `models.json:2: providers.p.models[0].input[1]: This must be "text" or "image", and is a text. ${left}`,
    ],
    [
      model('"thinkingLevelMap": { "hihg": "x" }'),
      'models.json:2: providers.p.models[0].thinkingLevelMap.hihg: There is no such field. Did you mean "high" or "xhigh"?',
    ],
    [model('"samplingParams": {}'), "models.json:2: providers.p.models[0].samplingParams: tau does not use this yet."],
    [
      model('"compat": { "supportsStore": 1, "vllmPriority": 1 }'),
      `models.json:2: providers.p.models[0].compat.supportsStore: This must be true or false, and is the number 1. ${left}`,
      "models.json:2: providers.p.models[0].compat.vllmPriority: tau does not use this yet.",
    ],
    [
      provider('{ "name": "a",\n"name": "b" }'),
      "models.json:3: providers.p.name: This is here twice. The last one counts.",
    ],
    [
      provider('{ "modelOverrides": { "a/b": { "maxTokens": "many" } } }'),
      `models.json:2: providers.p.modelOverrides["a/b"].maxTokens: This must be a whole number above 0, and is a text. ${left}`,
    ],
  ] as const) {
    test(text.replaceAll("\n", " "), async () => expect(await describeProblems(text)).toEqual(expected));
  }

  test("and everything else in the file is kept", async () => {
    const text = `{ "providers": {
      "bad": 5,
      "p": { "baseUrl": "http://h/v1", "apiKey": 5, "models": [{ "id": 1 }, { "id": "m", "maxTokens": "x", "reasoning": true }] }
    } }`;
    const parsed = await parseModels(text, "f");
    expect(parsed.kind === "read" && [...parsed.providers]).toEqual([
      ["p", { baseUrl: "http://h/v1", models: [{ id: "m", reasoning: true, line: 3 }], line: 3 }],
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

test("names that are special to JavaScript are names like others", async () => {
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
      expect(["read", "broken"]).toContain((await parseModels(text, "f")).kind);
    }),
    { numRuns: 300 },
  );
});

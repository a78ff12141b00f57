import { describe, expect, test } from "vitest";
import { parseModelsYml } from "./models-yml.ts";

const file = "/home/me/.tau/models.yml";

async function read(text: string) {
  const parsed = await parseModelsYml(text, file);
  if (parsed.kind === "damaged") throw new Error(parsed.problem.message);
  return parsed;
}

const listProblems = async (text: string) =>
  (await read(text)).problems.map(({ line, key, message }) => `${line} ${key}: ${message}`);

test("a whole file of oh-my-pi is read as it is", async () => {
  const parsed = await read(`# Model providers
providers:
  anthropic:
    api_key: \${ANTHROPIC_API_KEY}
  openai:
    api_key: \${OPENAI_API_KEY}
roles:
  default:
    model: claude-sonnet-4
  smol:
    model: claude-haiku-4
  slow: claude-opus-4:high
modelRoles:
  paths:
    "**/*.py":
      role: slow
    "**/planning/**": "@plan"
retry:
  fallbackChains:
    - [claude-opus-4, claude-sonnet-4, gpt-4o]
apiKeys:
  anthropic:
    - \${ANTHROPIC_API_KEY_1}
    - \${ANTHROPIC_API_KEY_2}
`);
  expect(parsed.problems).toEqual([]);
  expect([...parsed.providers].map(([name, { apiKey }]) => [name, apiKey])).toEqual([
    ["anthropic", "${ANTHROPIC_API_KEY}"],
    ["openai", "${OPENAI_API_KEY}"],
  ]);
  expect(parsed.roles).toEqual({ default: "claude-sonnet-4", smol: "claude-haiku-4", slow: "claude-opus-4:high" });
  expect(parsed.pathRoles).toEqual([
    { pattern: "**/*.py", role: "slow" },
    { pattern: "**/planning/**", role: "plan" },
  ]);
  expect(parsed.fallbackChains).toEqual([["claude-opus-4", "claude-sonnet-4", "gpt-4o"]]);
  expect([...parsed.apiKeys]).toEqual([["anthropic", ["${ANTHROPIC_API_KEY_1}", "${ANTHROPIC_API_KEY_2}"]]]);
});

test("chains can be lists by name, and providers have the fields of models.json", async () => {
  const { fallbackChains, providers } = await read(
    "retry:\n  fallbackChains:\n    slow: [a, b]\n    anthropic/*: [c]\nproviders:\n  lab:\n    baseUrl: http://127.0.0.1:1/v1\n    apiKey: none\n    models:\n      - id: q\n",
  );
  expect(fallbackChains).toEqual({ slow: ["a", "b"], "anthropic/*": ["c"] });
  expect(providers.get("lab")).toMatchObject({ apiKey: "none", models: [{ id: "q" }] });
});

test.each(["", "# nothing\n", "roles:\n", "providers:\napiKeys:\nretry:\n  fallbackChains:\n"])(
  "a file without content has no problems: %j",
  async (text) => expect(await read(text)).toMatchObject({ problems: [], roles: {}, pathRoles: [] }),
);

describe("an invalid part is reported with its line, and the rest is used", () => {
  test("of every kind", async () => {
    const text = `roles:
  smol:
    model: 5
  slow:
    model: opus
  a/b:
    model: x
  plan: {}
modelRoles:
  paths:
    "*.md": [slow]
    "../[": slow
    "*.ts":
      role: slow
retry:
  fallbackChains:
    - [a, 7, b]
    - c
apiKeys:
  xai: sk-secret
colour: red
providers:
  lab:
    baseUrl: 7
    api_key:
      nested: sk-secret
`;
    const problems = await listProblems(text);
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      "3 roles.smol.model",
      "6 roles.a/b",
      "8 roles.plan.model",
      "11 modelRoles.paths['*.md']",
      "12 modelRoles.paths['../[']",
      "17 retry.fallbackChains[0][1]",
      "18 retry.fallbackChains[1]",
      "20 apiKeys.xai",
      "21 colour",
      "24 providers.lab.baseUrl",
      "25 providers.lab.apiKey",
    ]);
    expect(problems.join()).not.toContain("sk-secret");
    expect(await read(text)).toMatchObject({
      roles: { slow: "opus" },
      pathRoles: [{ pattern: "*.ts", role: "slow" }],
      fallbackChains: [["a", "b"]],
    });
  });

  test("a list instead of a map is reported, too", async () => {
    expect(await listProblems("- a\n- b\n")).toEqual(["1 : The file has to be an object, not a list."]);
  });
});

test.each(["roles: [", "roles:\n  a: 1\n  a: 2\n", "a: *b\n"])("what is not YAML is damaged: %j", async (text) => {
  expect(await parseModelsYml(text, file)).toMatchObject({ kind: "damaged", problem: { file } });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { type CreateModelRegistryOptions, ModelRegistry } from "./model-registry.ts";

interface Files {
  yml?: string;
  json?: object;
}

async function open({ yml, json }: Files, options: CreateModelRegistryOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), "tau-model-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "models.yml");
  if (yml !== undefined) writeFileSync(path, yml);
  if (json) writeFileSync(join(directory, "models.json"), JSON.stringify(json));
  const registry = await ModelRegistry.create(directory, { env: () => undefined, ...options });
  onTestFinished(() => registry.close());
  return { registry, path };
}

test("roles of the file name models, those of the settings come first, and defaultModel before both", async () => {
  const yml =
    "roles:\n  default:\n    model: openai/gpt-5\n  slow:\n    model: openai/o3\n  smol:\n    model: openai/gpt-5-mini:low\n";
  const { registry } = await open({ yml }, { getSettings: () => ({ roles: { slow: "openai/o3-pro" } }) });
  expect(registry.getRoles()).toEqual({
    default: "openai/gpt-5",
    slow: "openai/o3-pro",
    smol: "openai/gpt-5-mini:low",
  });
  expect(registry.resolve("@smol")).toMatchObject({ model: { id: "gpt-5-mini" }, thinkingLevel: "low", role: "smol" });
  expect(registry.resolve("@commit")).toMatchObject({ model: { id: "gpt-5" }, role: "commit", isDefault: true });
  const stored = await open({ yml }, { getSettings: () => ({ defaultModel: "openai/o3" }) });
  expect(stored.registry.resolve("@default")).toMatchObject({ model: { id: "o3" }, isDefault: true });
});

test("a key is that of the file only if its variables are set, and models.json comes first", async () => {
  const yml =
    "providers:\n  anthropic:\n    api_key: ${ONE_KEY}\n  openai:\n    api_key: ${NO_KEY}\n  xai:\n    api_key: from-yml\n";
  const json = { providers: { xai: { apiKey: "from-json", name: "X" } } };
  const env = (name: string) => (name === "ONE_KEY" ? "sk-1" : undefined);
  const { registry } = await open({ yml, json }, { env });
  expect(["anthropic", "openai", "xai"].map((provider) => registry.modelsKey(provider))).toEqual([
    { key: "${ONE_KEY}", isOwn: true, place: "models.yml" },
    undefined,
    { key: "from-json", isOwn: true },
  ]);
  expect(registry.displayName("xai")).toBe("X");
});

test("all keys are known as secrets, and chains and keys are data", async () => {
  const yml =
    "apiKeys:\n  xai:\n    - literal-1\n    - ${KEY_2}\nproviders:\n  xai:\n    api_key: literal-0\nretry:\n  fallbackChains:\n    slow: [a]\n";
  const { registry } = await open({ yml });
  expect(registry.writtenValues()).toEqual(["literal-0", "literal-1", "${KEY_2}"]);
  expect(registry.modelsYml.fallbackChains).toEqual({ slow: ["a"] });
  expect([...registry.modelsYml.apiKeys]).toEqual([["xai", ["literal-1", "${KEY_2}"]]]);
});

test("errors are reported with file and line, also about roles and providers that do not exist", async () => {
  const yml =
    'roles:\n  plan:\n    model: "@slow"\n  slow:\n    model: "@plan"\n  mine:\n    model: "@none"\nmodelRoles:\n  paths:\n    "*.py":\n      role: fast\n    "*.ts": mine\nproviders:\n  antropic:\n    api_key: x\n';
  const { registry, path } = await open({ yml });
  expect(registry.problems.map(formatFileProblem)).toEqual([
    expect.stringMatching(/:2: The role plan stands for no model.*@plan → @slow → @plan/),
    expect.stringMatching(/:4: The role slow/),
    expect.stringMatching(/:6: There is no role "none", to which the role mine refers\./),
    expect.stringMatching(/:10: There is no role "fast"\. The roles are: .*mine/),
    expect.stringMatching(/:14: There is no provider "antropic".* Did you mean "anthropic"\?/),
  ]);
  expect(registry.problems.every(({ file }) => file === path)).toBe(true);
});

test("a change of the file is noticed, and a damaged file keeps its last valid content", async () => {
  const { registry, path } = await open({});
  expect(registry.getRoles()).toEqual({});
  writeFileSync(path, "roles:\n  slow:\n    model: o3\n");
  await expect.poll(() => registry.getRoles(), { timeout: 20_000 }).toEqual({ slow: "o3" });
  writeFileSync(path, "roles: [");
  await expect.poll(() => registry.problems.length, { timeout: 20_000 }).toBe(1);
  expect(registry.problems[0]).toMatchObject({ file: path, line: 1 });
  expect(registry.getRoles()).toEqual({ slow: "o3" });
  rmSync(path);
  await expect.poll(() => registry.getRoles(), { timeout: 20_000 }).toEqual({});
  expect(registry.problems).toEqual([]);
});

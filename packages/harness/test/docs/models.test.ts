/** docs/models.md is true: its examples are read without a problem, and its tables have every field. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getApiProviders, getModels, getProviders } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { type CreateModelRegistryOptions, ModelRegistry, type ModelSettings } from "@tau/config/models";
import { type SettingsInput, SettingsManager } from "@tau/config/settings";
import { modelsFile } from "../../../config/src/models/schema.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/models.md"), "utf8");

const readSection = (heading: string) => page.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;

/** The names in the first cells of the table of a section. */
const readNames = (heading: string): string[] =>
  [...readSection(heading).matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  enum?: string[];
}

const provider = (modelsFile.schema as Schema).properties!["providers"]!.additionalProperties!.properties!;
const model = provider["models"]!.items!.properties!;

const readExamples = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text]) => text!);

const isModelsFile = (text: string) => text.includes('"providers"');
const examples = readExamples("json").filter(isModelsFile);
const settings = readExamples("json").filter((text) => !isModelsFile(text));

async function open(text: string, file = "models.json", options: CreateModelRegistryOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), "tau-docs-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, file), text);
  const registry = await ModelRegistry.create(directory, { watch: false, ...options });
  onTestFinished(() => registry.close());
  return registry;
}

const hasKey = (provider: string) => provider === "anthropic" || provider === "openai";

test("the examples of roles name models", async () => {
  const registry = await open("{}", "models.json", {
    getSettings: () => JSON.parse(settings[0]!) as ModelSettings,
    hasKey,
  });
  for (const role of ["@smol", "@slow", "@plan"])
    expect(registry.resolve(role)).toMatchObject({ kind: "resolved", model: { provider: "anthropic" } });
  const [text] = readExamples("yaml");
  const fromFile = await open(text!, "models.yml", { hasKey });
  expect(fromFile.problems).toEqual([]);
  const { roles, pathRoles, fallbackChains, apiKeys } = fromFile.modelsYml;
  const models = [...Object.values(roles), ...(fallbackChains as string[][]).flat()];
  for (const name of models) expect(fromFile.resolve(name)).toMatchObject({ kind: "resolved" });
  expect([pathRoles.length, apiKeys.size]).toEqual([1, 1]);
});

test("the examples of settings have no error", () => {
  for (const text of settings) expect(SettingsManager.inMemory(JSON.parse(text) as SettingsInput).problems).toEqual([]);
});

test("the example of a local server describes a model that can be chosen", async () => {
  const registry = await open(examples[0]!);
  expect(registry.problems).toEqual([]);
  expect(registry.find("lab", "coder-30b")).toMatchObject({ contextWindow: 65_536, reasoning: true });
});

test("the example of an override changes a model of the catalogue and moves the others", async () => {
  const registry = await open(examples[1]!);
  expect(registry.problems).toEqual([]);
  const baseUrl = "https://gateway.example.com/anthropic";
  expect(registry.find("anthropic", "claude-opus-4-5")).toMatchObject({ baseUrl, maxTokens: 16_000 });
  for (const each of registry.getAll()) if (each.provider === "anthropic") expect(each.baseUrl).toBe(baseUrl);
  expect(examples).toHaveLength(2);
});

test("the tables have every field, and no other", () => {
  expect(readNames("Fields of a provider").toSorted()).toEqual(Object.keys(provider).toSorted());
  expect(readNames("Fields of a model").toSorted()).toEqual(Object.keys(model).toSorted());
  const withoutEffect = /These change nothing: ([^.]*)\./.exec(page)![1]!;
  const unused = [...withoutEffect.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const compat = provider["compat"]!.properties!;
  expect([...readNames("Compat"), ...unused].toSorted()).toEqual(Object.keys(compat).toSorted());
  const values = Object.values({ ...compat, ...model }).flatMap((field) => field.enum ?? []);
  for (const value of values) expect(readSection("Compat")).toContain(`\`${value}\``);
});

test("the APIs are those that models can have", () => {
  // Other tests in this process register APIs of their own, and code mode those of models that do not answer in words.
  const used = new Set(getProviders().flatMap((provider) => getModels(provider).map(({ api }) => api as string)));
  const apis = getApiProviders()
    .map(({ api }) => api)
    .filter((api) => used.has(api));
  const [list] = readSection("APIs").split(". Most");
  expect([...list!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!).toSorted()).toEqual(apis.toSorted());
});

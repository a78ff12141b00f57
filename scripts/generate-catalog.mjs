/**
 * Writes the model catalogue of packages/ai from one JSON file of facts:
 *
 *     node scripts/generate-catalog.mjs PATH-TO-models.json
 *
 * The input maps each provider to its models. The output is one JSON file a provider, one model a line, and the types
 * that let `getModel` know every id. The same input gives the same bytes; providers that are gone lose their files.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const fieldOrder = [
  "id",
  "name",
  "api",
  "baseUrl",
  "reasoning",
  "thinkingLevelMap",
  "input",
  "cost",
  "contextWindow",
  "maxTokens",
  "headers",
  "compat",
];

/** What every model must have, by the type of its value. */
const required = {
  id: "string",
  name: "string",
  api: "string",
  baseUrl: "string",
  reasoning: "boolean",
  input: "object",
  cost: "object",
  contextWindow: "number",
  maxTokens: "number",
};

const byCodeUnit = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Checks the input and puts it in order. Throws with the name of whatever is wrong. */
function readFacts(path) {
  const facts = JSON.parse(readFileSync(path, "utf8"));
  return Object.keys(facts)
    .sort(byCodeUnit)
    .map((provider) => {
      if (!/^[a-z0-9][a-z0-9-]*$/.test(provider)) throw new Error(`${JSON.stringify(provider)} cannot name a file.`);
      const seen = new Set();
      for (const model of facts[provider]) {
        for (const [field, type] of Object.entries(required)) {
          if (typeof model[field] !== type) throw new Error(`${provider}/${model.id}: ${field} is not a ${type}.`);
        }
        if (seen.has(model.id)) throw new Error(`${provider}/${model.id} occurs twice.`);
        seen.add(model.id);
      }
      return { provider, models: facts[provider].map(ordered).sort((a, b) => byCodeUnit(a.id, b.id)) };
    });
}

function ordered(model) {
  const extra = Object.keys(model).filter((field) => field !== "provider" && !fieldOrder.includes(field));
  const fields = [...fieldOrder.filter((field) => field in model), ...extra.sort(byCodeUnit)];
  return Object.fromEntries(fields.map((field) => [field, field === "cost" ? prices(model.cost) : model[field]]));
}

/** A router whose price depends on who answers says a negative one. Nothing is known then, and nobody earns money. */
const prices = (cost) => Object.fromEntries(Object.entries(cost).map(([name, price]) => [name, price < 0 ? 0 : price]));

const catalogFile = (models) => `[\n${models.map((model) => JSON.stringify(model)).join(",\n")}\n]\n`;

/** Types only: for each provider, which ids are spoken to in which API. */
function typesFile(catalogue) {
  const lines = ["// Written by scripts/generate-catalog.mjs. Do not edit.", "", "export interface CatalogModels {"];
  for (const { provider, models } of catalogue) {
    lines.push(`  ${JSON.stringify(provider)}: {`);
    for (const api of [...new Set(models.map((model) => model.api))].sort(byCodeUnit)) {
      const ids = models.filter((model) => model.api === api).map((model) => JSON.stringify(model.id));
      lines.push(
        `    ${JSON.stringify(api)}:`,
        ...ids.map((id, at) => `      | ${id}${at === ids.length - 1 ? ";" : ""}`),
      );
    }
    lines.push("  };");
  }
  return [...lines, "}", ""].join("\n");
}

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("Usage: node scripts/generate-catalog.mjs PATH-TO-models.json");
  process.exit(2);
}

const catalogue = readFacts(path);
const ai = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "ai");
const folder = join(ai, "catalog");
mkdirSync(folder, { recursive: true });
const wanted = new Set(catalogue.map(({ provider }) => `${provider}.json`));
for (const file of readdirSync(folder)) if (!wanted.has(file)) rmSync(join(folder, file));
for (const { provider, models } of catalogue) writeFileSync(join(folder, `${provider}.json`), catalogFile(models));
mkdirSync(join(ai, "src", "catalog"), { recursive: true });
writeFileSync(join(ai, "src", "catalog", "models.generated.ts"), typesFile(catalogue));
const count = catalogue.reduce((sum, { models }) => sum + models.length, 0);
console.log(`${catalogue.length} providers, ${count} models.`);

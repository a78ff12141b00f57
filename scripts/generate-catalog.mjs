/**
 * Writes the model catalogue of packages/ai from one JSON file of facts:
 *
 *     node scripts/generate-catalog.mjs PATH-TO-models.json
 *
 * The input maps each provider to its models; `tau models update` checks such a file in the same way. The output is one
 * JSON file a provider, one model a line; the models that the catalogue had before and that are no longer in the input, in
 * `retired/`; the types that let `getModel` know every id; and an entry for each provider. The same input twice gives the
 * same bytes.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { writeEntries } from "./generate-entries.mjs";

const root = join(import.meta.dirname, "..");
const ai = join(root, "packages", "ai");
const folder = join(ai, "catalog");
const retiredFolder = join(folder, "retired");

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

const byCodeUnit = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byId = (a, b) => byCodeUnit(a.id, b.id);
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The functions of the packages that know providers and check facts. */
async function loadChecks() {
  const directory = mkdtempSync(join(tmpdir(), "tau-catalog-"));
  try {
    const outfile = join(directory, "checks.mjs");
    await build({
      stdin: {
        contents: [
          'export { checkCatalogue } from "./packages/config/src/models/catalogue/check-catalogue.ts";',
          'export { toProviderId } from "./packages/ai/src/providers/index.ts";',
        ].join("\n"),
        resolveDir: root,
      },
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@tau/source"],
      outfile,
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Checks the input and puts it in order. Throws with everything that is wrong. */
function readFacts(path, checkCatalogue) {
  const { models, problems, notes } = checkCatalogue(readJson(path));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  for (const note of notes) console.warn(note);
  return [...models]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([provider, entries]) => ({ provider, models: entries.map(ordered).sort(byId) }));
}

function ordered(model) {
  const extra = Object.keys(model).filter((field) => !fieldOrder.includes(field));
  const fields = [...fieldOrder.filter((field) => field in model), ...extra.sort(byCodeUnit)];
  return Object.fromEntries(fields.map((field) => [field, model[field]]));
}

/** Every model of the catalogue before, listed or retired, by the current id of its provider. */
function readFormerModels(toProviderId) {
  const former = new Map();
  const add = (provider, models) => {
    const known = former.get(toProviderId(provider)) ?? new Map();
    for (const model of models) known.set(model.id, model);
    former.set(toProviderId(provider), known);
  };
  for (const directory of [retiredFolder, folder])
    for (const file of listFiles(directory)) add(basename(file, ".json"), readJson(join(directory, file)));
  return former;
}

const listFiles = (directory) => readdirSync(directory).filter((file) => file.endsWith(".json"));

function findRetired(catalogue, former) {
  const listed = new Map(catalogue.map(({ provider, models }) => [provider, new Set(models.map(({ id }) => id))]));
  return [...former]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([provider, models]) => ({
      provider,
      models: [...models.values()].filter(({ id }) => !listed.get(provider)?.has(id)).sort(byId),
    }))
    .filter(({ models }) => models.length > 0);
}

const catalogFile = (models) =>
  models.length === 0 ? "[]\n" : `[\n${models.map((model) => JSON.stringify(model)).join(",\n")}\n]\n`;

/** Types only: for each provider, which ids are spoken to in which API. Retired ids stay usable, so they are included. */
function typesFile(catalogue) {
  const lines = ["// Written by scripts/generate-catalog.mjs. Do not edit.", "", "export interface CatalogModels {"];
  for (const { provider, models } of catalogue) {
    lines.push(`  ${JSON.stringify(provider)}: {`);
    for (const api of [...new Set(models.map((model) => model.api))].sort(byCodeUnit)) {
      const ids = models.filter((model) => model.api === api).map((model) => JSON.stringify(model.id));
      lines.push(
        `    ${JSON.stringify(api)}:`,
        ...ids.map((id, index) => `      | ${id}${index === ids.length - 1 ? ";" : ""}`),
      );
    }
    lines.push("  };");
  }
  return [...lines, "}", ""].join("\n");
}

const count = (catalogue) => catalogue.reduce((sum, { models }) => sum + models.length, 0);

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("Usage: node scripts/generate-catalog.mjs PATH-TO-models.json");
  process.exit(2);
}

const { checkCatalogue, toProviderId } = await loadChecks();
const catalogue = readFacts(path, checkCatalogue);
const retired = findRetired(catalogue, readFormerModels(toProviderId));
for (const directory of [retiredFolder, folder]) for (const file of listFiles(directory)) rmSync(join(directory, file));
const findRetiredOf = (provider) => retired.find((each) => each.provider === provider)?.models ?? [];
for (const { provider, models } of catalogue) {
  writeFileSync(join(folder, `${provider}.json`), catalogFile(models));
  writeFileSync(join(retiredFolder, `${provider}.json`), catalogFile(findRetiredOf(provider)));
}
const usable = catalogue.map(({ provider, models }) => ({
  provider,
  models: [...models, ...findRetiredOf(provider)].sort(byId),
}));
writeFileSync(join(ai, "src", "catalog", "models.generated.ts"), typesFile(usable));
writeEntries();
console.log(`${catalogue.length} providers, ${count(catalogue)} models, and ${count(retired)} retired ones.`);

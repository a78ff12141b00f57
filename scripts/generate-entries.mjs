/**
 * Writes what packages/ai has for each provider of its catalogue: an entry with its models and protocols alone, such as
 * `@tau/ai/anthropic`, and the list of all models for bundles, which cannot read the files of the catalogue:
 *
 *     node scripts/generate-entries.mjs
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const ai = join(import.meta.dirname, "..", "packages", "ai");
const catalog = join(ai, "catalog");
const header = "// Written by scripts/generate-entries.mjs. Do not edit.";

const toCamelCase = (name) => name.replaceAll(/-(\w)/g, (_dash, letter) => letter.toUpperCase());
const readJson = (...path) => JSON.parse(readFileSync(join(catalog, ...path), "utf8"));

/** From the path of each file in `src` to its text. */
export function formatEntries() {
  const providers = readdirSync(catalog)
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
    .sort();
  const entries = providers.map((provider) => [`entries/${provider}.ts`, formatEntry(provider)]);
  return new Map([...entries, ["catalog/bundled.generated.ts", formatBundled(providers)]]);
}

function formatEntry(provider) {
  const name = toCamelCase(provider);
  const models = [...readJson(`${provider}.json`), ...readJson("retired", `${provider}.json`)];
  const apis = [...new Set(models.map(({ api }) => api))].sort();
  const loaders = apis.map((api) => toCamelCase(`load-${api}`));
  const protocols = apis.map((api, index) => `${JSON.stringify(api)}: ${loaders[index]}`);
  return `${header}
import listed from "#catalog/${provider}.json" with { type: "json" };
import retired from "#catalog/retired/${provider}.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { ${loaders.join(", ")} } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider \`${provider}\`, for \`createAI\`. Costs a bundle this provider's models and protocols only. */
export const ${name}: SelectModel<CatalogModelId<"${provider}">> = /* @__PURE__ */ defineEntry({
  provider: "${provider}",
  listed,
  retired: () => retired,
  protocols: { ${protocols.join(", ")} },
});
`;
}

function formatBundled(providers) {
  const imports = providers.flatMap((provider) => [
    `import ${toCamelCase(provider)} from "#catalog/${provider}.json" with { type: "json" };`,
    `import ${toCamelCase(provider)}Retired from "#catalog/retired/${provider}.json" with { type: "json" };`,
  ]);
  const rows = providers.map(
    (provider) =>
      `  ${JSON.stringify(provider)}: { listed: ${toCamelCase(provider)}, retired: () => ${toCamelCase(provider)}Retired },`,
  );
  return `${header}
${imports.join("\n")}
import type { ModelLists } from "./builtin-models.ts";

const lists: Readonly<Record<string, ModelLists>> = {
${rows.join("\n")}
};

/** The models of a provider of the catalogue, from the bundle. */
export const readModels = (provider: string): ModelLists => lists[provider]!;
`;
}

export function writeEntries() {
  rmSync(join(ai, "src", "entries"), { recursive: true, force: true });
  mkdirSync(join(ai, "src", "entries"));
  for (const [path, text] of formatEntries()) writeFileSync(join(ai, "src", path), text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeEntries();

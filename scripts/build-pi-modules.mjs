/**
 * Modules under pi's names that a plain process of Node can import. Their code is in the program for isolated extensions, which
 * has all of it already.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** From the entries of each package to our modules. */
const packages = {
  "pi-agent-core": { ".": "@tau/pi/pi-agent-core", "./node": "@tau/pi/pi-agent-core" },
  "pi-ai": {
    ".": "@tau/pi/pi-ai",
    "./compat": "@tau/pi/pi-ai/compat",
    "./models": "@tau/pi/pi-ai/models",
    "./oauth": "@tau/pi/pi-ai/oauth",
    "./providers/all": "@tau/pi/pi-ai/providers/all",
  },
  "pi-coding-agent": { ".": "@tau/pi-sdk" },
  "pi-tui": { ".": "@tau/pi/pi-tui" },
  typebox: { ".": "typebox", "./compile": "typebox/compile", "./value": "typebox/value" },
};
/** The names under which pi is published, now and before. */
const scopes = ["@earendil-works", "@mariozechner"];

const sources = [...new Set(Object.values(packages).flatMap(Object.values))];

/** A file that is the program for isolated extensions if Node runs it, and has the modules by our names if it is required. */
export const childSource = [
  `if (require.main === module) require("./hosting/extension-child.ts");`,
  "else module.exports = {",
  ...sources.map((source) => `get ${JSON.stringify(source)}() { return require(${JSON.stringify(source)}); },`),
  "};",
].join("\n");

/** Writes `pi-modules/` beside that file: a module for each, and `packages.json`, which says what they stand for. */
export function writePiModules(outdir) {
  const directory = join(outdir, "pi-modules");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const built = createRequire(import.meta.url)(join(outdir, "extension-child.cjs"));
  for (const source of sources) {
    const names = Object.keys(built[source]).filter((name) => name !== "default");
    const text = [
      `import modules from "../extension-child.cjs";`,
      `export const { ${names.join(", ")} } = modules[${JSON.stringify(source)}];`,
    ];
    writeFileSync(join(directory, toFile(source)), `${text.join("\n")}\n`);
  }
  const toFiles = (entries) =>
    Object.fromEntries(Object.entries(entries).map(([entry, source]) => [entry, toFile(source)]));
  const named = Object.entries(packages).flatMap(([name, entries]) =>
    (name === "typebox" ? [name] : scopes.map((scope) => `${scope}/${name}`)).map((full) => [full, toFiles(entries)]),
  );
  const table = { version: built["@tau/pi-sdk"].VERSION, packages: Object.fromEntries(named) };
  writeFileSync(join(directory, "packages.json"), `${JSON.stringify(table, undefined, 2)}\n`);
}

const toFile = (source) => `${source.replace("@tau/", "").replaceAll("/", "-")}.mjs`;

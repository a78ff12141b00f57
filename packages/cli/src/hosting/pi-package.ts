/**
 * A directory with the layout of pi's npm packages that leads to tau's modules. Extensions that start a program of their own look
 * for pi's package with `import.meta.resolve` and give its modules to that program, which is a plain process of Node.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** `packages.json` beside the modules, which the build writes: from the entries of each package to the file of a module. */
interface Modules {
  /** The version of pi whose names the modules have. */
  version: string;
  packages: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface PiPackageParts {
  /** The directory that directories are created in. */
  cache: string;
  /** The directory of the modules. */
  modules: string;
}

/**
 * Returns the file that stands for one of pi's modules, and creates the directory around it the first time. Undefined for any
 * other name. `importer` is the file that asks: packages of pi's scopes that tau has none for are found as the importer would
 * find them.
 */
export function locatePiModule(name: string, importer: string, { cache, modules }: PiPackageParts): string | undefined {
  const [, packageName = "", subpath = ""] = /^(@[a-z-]+\/[a-z-]+)(\/.+)?$/.exec(name) ?? [];
  const text = packageName === "" ? undefined : readFileSync(join(modules, "packages.json"), "utf8");
  const table = text === undefined ? undefined : (JSON.parse(text) as Modules);
  const entries = table && Object.hasOwn(table.packages, packageName) ? table.packages[packageName] : undefined;
  const file = entries?.[`.${subpath}`];
  if (!table || file === undefined) return undefined;
  const others = listOtherPackages(importer, Object.keys(table.packages));
  const key = createHash("sha256")
    .update(JSON.stringify([modules, text, ...others]))
    .digest("hex");
  const directory = join(cache, key.slice(0, 16));
  if (!existsSync(directory)) createDirectory(directory, { table, modules, others });
  return join(directory, "node_modules", packageName, toOwnFile(file));
}

/** Lists packages of the same scopes that the importer would find. The nearest one of each name applies. */
function listOtherPackages(importer: string, names: readonly string[]): [name: string, path: string][] {
  const scopes = new Set(names.filter((name) => name.startsWith("@")).map((name) => dirname(name)));
  const others = new Map<string, string>();
  for (let directory = dirname(importer); ; directory = dirname(directory)) {
    for (const scope of scopes) {
      const path = join(directory, "node_modules", scope);
      for (const entry of existsSync(path) ? readdirSync(path) : []) {
        const name = `${scope}/${entry}`;
        if (!names.includes(name) && !others.has(name)) others.set(name, join(path, entry));
      }
    }
    if (directory === dirname(directory)) return [...others];
  }
}

interface DirectoryParts {
  table: Modules;
  modules: string;
  others: readonly [name: string, path: string][];
}

function createDirectory(directory: string, { table, modules, others }: DirectoryParts): void {
  const temporary = `${directory}.${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  for (const [name, entries] of Object.entries(table.packages)) {
    const path = join(temporary, "node_modules", name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const file of Object.values(entries)) {
      const target = pathToFileURL(join(modules, file)).href;
      writeFileSync(join(path, toOwnFile(file)), `export * from ${JSON.stringify(target)};\n`);
    }
    const exports = Object.fromEntries(Object.entries(entries).map(([entry, file]) => [entry, `./${toOwnFile(file)}`]));
    const manifest = { name, version: table.version, type: "module", main: exports["."], exports };
    writeFileSync(join(path, "package.json"), JSON.stringify(manifest, undefined, 2));
  }
  for (const [name, path] of others) symlinkSync(path, join(temporary, "node_modules", name), "junction");
  try {
    renameSync(temporary, directory);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process that created it was first: its content is the same.
    if (!existsSync(directory)) throw error;
  }
}

const toOwnFile = (file: string): string => file.replace(/\.mjs$/, ".js");

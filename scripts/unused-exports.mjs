/**
 * Finds the exports of the packages' sources that no other file imports. It reads each file once with a few regular expressions,
 * because a parser would take longer than all other rules: sources are formatted, so that declarations and clauses begin a line.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

const declaration =
  /^export (default )?(?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum|namespace) ([\w$]+)/gm;
const clause =
  /^(import|export) (type )?(\* as [\w$]+|\*|(?:[\w$]+, )?\{[^}]*\}|[\w$]+(?= from ))(?: from "([^"]+)")?/gm;
const nameInClause = /(?:type )?([\w$]+)(?: as ([\w$]+))?/g;
const dynamicImport = /\bimport\(\s*"([^"]+)"/g;

/** Programs import public entries. An `internal` entry is what the packages share among themselves. */
const isPublic = (entry) => !/\/internal(?:\/|$)/.test(entry);

/**
 * Lists the unused exports as `{ file, line, name }`. `texts` has the text of all sources, tests, examples and scripts below
 * `root` by absolute path. The exports of modules that a package's `exports` name are public and therefore used.
 */
export function findUnusedExports(root, texts) {
  const { entryPoints, resolveSpecifier } = readManifests(root, texts);
  const modules = new Map();
  for (const [file, text] of texts) modules.set(file, readModule(file, text, resolveSpecifier));
  const used = new Map([...texts.keys()].map((file) => [file, new Set()]));

  const use = (file, name) => {
    const names = used.get(file);
    if (!names || names.has(name)) return;
    names.add(name);
    for (const target of modules.get(file).stars) use(target, name);
  };
  const useAll = (file, isRead = () => true) => {
    const module = modules.get(file);
    for (const name of module?.exports.keys() ?? []) if (isRead(name)) use(file, name);
    for (const target of module?.stars ?? []) useAll(target, isRead);
  };
  for (const file of entryPoints) useAll(file);
  for (const [file, { imports, namespaces, namespaceTypes }] of modules) {
    for (const { target, name } of imports) if (target !== file) use(target, name);
    // What is read from a namespace stands in the file. It may stand there for something else, which is harmless.
    for (const target of namespaces) if (target !== file) useAll(target, (name) => texts.get(file).includes(name));
    // A namespace that has a type is passed on, and what is read from it stands in other files.
    for (const target of namespaceTypes) useAll(target);
  }

  const isSource = /^packages\/[^/]+\/src\/(?!.*\.(?:test|generated)\.)/;
  const problems = [];
  for (const [file, { exports }] of modules) {
    if (!isSource.test(relative(root, file).split(sep).join("/"))) continue;
    for (const [name, offset] of exports) {
      if (used.get(file).has(name)) continue;
      problems.push({ file, name, line: texts.get(file).slice(0, offset).split("\n").length });
    }
  }
  return problems;
}

/** Reads what a file exports, and where, and what it imports: names, namespaces, and modules whose exports it passes on. */
function readModule(file, text, resolveSpecifier) {
  const module = { exports: new Map(), imports: [], namespaces: [], namespaceTypes: [], stars: [] };
  for (const { 1: isDefault, 2: name, index } of text.matchAll(declaration))
    module.exports.set(isDefault ? "default" : name, index);
  for (const { 1: kind, 2: isType, 3: names, 4: specifier, index } of text.matchAll(clause)) {
    const targets = specifier === undefined ? [] : resolveSpecifier(file, specifier);
    if (names === "*") module.stars.push(...targets);
    else if (names.startsWith("* as")) {
      module[isType ? "namespaceTypes" : "namespaces"].push(...targets);
      if (kind === "export") module.exports.set(names.slice("* as ".length), index);
    } else {
      for (const [outer, inner] of readNames(names, kind)) {
        if (kind === "export" && names.startsWith("{")) module.exports.set(inner, index);
        for (const target of targets) module.imports.push({ target, name: outer });
      }
    }
  }
  for (const [, specifier] of text.matchAll(dynamicImport))
    module.namespaces.push(...resolveSpecifier(file, specifier));
  return module;
}

/** Pairs of the name in the other module and the name here. A word of a comment becomes a pair too, which is harmless. */
function readNames(names, kind) {
  const pairs = [];
  for (const [, outer, inner = outer] of names.matchAll(nameInClause)) pairs.push([outer, inner]);
  if (kind === "import" && !names.startsWith("{")) pairs[0][0] = "default";
  return pairs;
}

/** Reads which modules the packages' manifests name. */
function readManifests(root, texts) {
  const entries = new Map();
  const imports = new Map();
  for (const name of readdirSync(join(root, "packages"))) {
    const directory = join(root, "packages", name);
    const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const list = (target) => listTargets(directory, target, texts);
    for (const [path, target] of Object.entries(manifest.exports ?? {}))
      entries.set(manifest.name + path.slice(1), list(target));
    for (const [path, target] of Object.entries(manifest.imports ?? {})) imports.set(`${name}${path}`, list(target));
  }
  const resolveSpecifier = (file, specifier) => {
    if (specifier.startsWith(".")) return [resolve(dirname(file), specifier.replace(/\?.*/, ""))];
    if (!specifier.startsWith("#")) return entries.get(specifier) ?? [];
    return imports.get(`${relative(root, file).split(sep)[1]}${specifier}`) ?? [];
  };
  const entryPoints = [...entries].flatMap(([entry, targets]) => (isPublic(entry) ? targets : []));
  return { entryPoints, resolveSpecifier };
}

/** The sources that an entry of `exports` or `imports` stands for, under any of its conditions. `*` stands for any name. */
function listTargets(directory, target, texts) {
  if (typeof target !== "string")
    return Object.values(target ?? {}).flatMap((each) => listTargets(directory, each, texts));
  // Some conditions name only what the build writes.
  const path = resolve(directory, target.replace(/^\.\/dist\/(.*)\.js$/, "./src/$1.ts"));
  if (!path.includes("*")) return texts.has(path) ? [path] : [];
  const [before, after] = path.split("*");
  return [...texts.keys()].filter((file) => file.startsWith(before) && file.endsWith(after));
}

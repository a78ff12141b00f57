/** Finds what a module of an extension means by the name that it imports. */
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isWithin, systemCode } from "@tau/tools/platform";
import { findFile, loadManifest } from "@tau/config/internal";
import type { Manifest } from "@tau/config/installs";
import { isTypeScript } from "./compile.ts";
import { mapImport } from "./map-import.ts";

type ResolvedImport =
  | { kind: "builtin"; name: string }
  /** Compiled and evaluated by us. */
  | { kind: "file"; path: string }
  /** Loaded by Node's `require`. */
  | { kind: "commonjs"; path: string }
  /** Loaded by Node's `import()`. */
  | { kind: "esm" }
  | { kind: "missing"; message: string };

interface ResolveOptions {
  /** The directory of the extension: what is inside it is compiled by us, except what is in a `node_modules` there. */
  root: string;
  /** Whether a package is one of ours that extensions import. */
  isShared: (name: string) => boolean;
}

export function resolveImport(name: string, importer: string, options: ResolveOptions): ResolvedImport {
  if (isBuiltin(name)) return { kind: "builtin", name };
  const mapped = name.startsWith("#") ? findMapped(name, importer) : undefined;
  // The name of another package.
  if (mapped !== undefined && !isAbsolute(mapped)) return resolveImport(mapped, importer, options);
  const path = mapped ?? toPath(name, importer);
  if (path === undefined) return resolvePackage(name, importer, options);
  const file = findFile(path);
  if (file === undefined) return missing(name, importer);
  return { kind: extname(file) === ".node" ? "commonjs" : "file", path: file };
}

function toPath(name: string, importer: string): string | undefined {
  if (name.startsWith("file:")) return fileURLToPath(name);
  if (isAbsolute(name)) return name;
  return /^\.\.?(?:\/|$)/.test(name) ? resolve(dirname(importer), name) : undefined;
}

/** The path or the package that a name of the importer's own package leads to. Unlike Node, a path needs no ending, as elsewhere. */
function findMapped(name: string, importer: string): string | undefined {
  const { directory, manifest } = findManifest(importer) ?? {};
  const target = manifest && mapImport(name, manifest.imports);
  return directory !== undefined && target?.startsWith("./") ? join(directory, target) : target;
}

function resolvePackage(name: string, importer: string, { root, isShared }: ResolveOptions): ResolvedImport {
  let path: string;
  try {
    path = createRequire(importer).resolve(name);
  } catch (error) {
    // A package for `import` only is refused to `require` with another code.
    return systemCode(error) === "MODULE_NOT_FOUND" ? missingPackage(name, importer, root) : { kind: "esm" };
  }
  if (isOwn(path, root) || isTypeScript(path)) return { kind: "file", path };
  const { manifest } = findManifest(path) ?? {};
  // Such a package needs our modules, which Node does not find.
  if (listDependencies(manifest).some(isShared)) return { kind: "file", path };
  const extension = extname(path);
  const isEsm = extension === ".mjs" || (extension === ".js" && manifest?.isModule === true);
  return isEsm ? { kind: "esm" } : { kind: "commonjs", path };
}

const isOwn = (path: string, root: string): boolean =>
  isWithin(root, path) && !path.slice(root.length).split(/[\\/]/).includes("node_modules");

const missing = (name: string, importer: string): ResolvedImport => ({
  kind: "missing",
  message: `There is no module ${JSON.stringify(name)}, which ${importer} imports.`,
});

const missingPackage = (name: string, importer: string, root: string): ResolvedImport => ({
  kind: "missing",
  message: `There is no package for ${JSON.stringify(name)}, which ${importer} imports. Run \`npm install\` in ${root}.`,
});

const listDependencies = (manifest: Manifest | undefined): string[] =>
  manifest ? [...Object.keys(manifest.dependencies), ...manifest.peerDependencies] : [];

/** The nearest `package.json` above a file. */
function findManifest(path: string): { directory: string; manifest: Manifest } | undefined {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const manifest = loadManifest(directory);
    if (manifest instanceof Error) throw manifest;
    if (manifest) return { directory, manifest };
    if (directory === dirname(directory)) return undefined;
  }
}

/**
 * The files of one extension during one load. First everything that a file imports is found, compiled and, where only
 * waiting can load it, loaded; then the code runs, and its `require` finds all of it without waiting.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { didYouMean, getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";
import { CompileError } from "./compile.ts";
import { compileCached, type RunnableModule } from "./compile-cache.ts";
import { importPackage } from "./import-package.ts";
import type { LoadSharedModule, LocateSharedModule } from "./loaded-module.ts";
import type { ModuleGlobals } from "./module-globals.ts";
import { toModuleObject, toNamespace } from "./module-object.ts";
import { resolveImport } from "./resolve-import.ts";

interface Unit {
  readonly path: string;
  readonly code: RunnableModule;
  readonly module: { exports: unknown };
  /** Maps the names that it imports to what they stand for. */
  readonly links: Map<string, Link>;
  /** The result of running it; an error is thrown again for every later import. */
  state: { kind: "new" } | { kind: "started"; done?: Promise<unknown> } | { kind: "failed"; error: unknown };
}

type Link =
  | { kind: "file"; path: string }
  | { kind: "builtin"; name: string }
  | { kind: "commonjs"; path: string }
  /** Loaded already. */
  | { kind: "loaded"; module: object }
  | { kind: "missing"; message: string }
  | { kind: "failed"; error: unknown };

export interface GraphOptions {
  loadShared: LoadSharedModule;
  /** Default: Node resolves the names of shared modules too. */
  locateShared?: LocateSharedModule | undefined;
  /** Where compiled code is kept. Undefined: nowhere. */
  cacheDirectory: string | undefined;
  /** Timers that end with the extension. Default: those of the process. */
  globals?: ModuleGlobals;
  /** The directory of the extension. */
  root: string;
}

export class ModuleGraph {
  readonly #options: GraphOptions;
  readonly #units = new Map<string, Unit>();
  readonly #json = new Map<string, unknown>();
  readonly #linking = new SerialQueue();

  constructor(options: GraphOptions) {
    this.#options = options;
  }

  /** The files that were read so far. */
  get files(): readonly string[] {
    return [...this.#units.keys(), ...this.#json.keys()];
  }

  /** The exports of a file. Rejects with what is wrong with it or with a file that it imports. */
  async load(path: string): Promise<unknown> {
    await this.#prepare(path);
    await this.#settle(path);
    return this.#getExports(path);
  }

  async #prepare(path: string): Promise<void> {
    if (this.#units.has(path) || this.#json.has(path)) return;
    const source = readFileSync(path, "utf8");
    if (extname(path) === ".json") {
      this.#json.set(path, parseJson(path, source));
      return;
    }
    const code = await compileCached(path, source, this.#options);
    const unit: Unit = { path, code, module: { exports: {} }, links: new Map(), state: { kind: "new" } };
    this.#units.set(path, unit);
    for (const name of code.requires) {
      const used = code.usedNames.find(({ module }) => module === name);
      unit.links.set(name, await this.#link(name, unit, used?.names));
    }
  }

  /**
   * A name that cannot be found or loaded fails where it is used: code may have a way to do without. `names` are the exports
   * that the code uses; undefined if it may use any.
   */
  async #link(name: string, unit: Unit, names?: readonly string[]): Promise<Link> {
    const shared = this.#options.loadShared(name, names);
    if (shared) {
      const module = await shared;
      checkNames(unit, name, module);
      return { kind: "loaded", module: toModuleObject(module) };
    }
    const target = resolveImport(name, unit.path, {
      root: this.#options.root,
      isShared: (dependency) => this.#options.loadShared(dependency, []) !== undefined,
    });
    switch (target.kind) {
      case "file":
        await this.#prepare(target.path);
        return target;
      case "esm":
        return await importPackage(name, unit.path).then(
          (module): Link => ({ kind: "loaded", module: toModuleObject(module) }),
          (error: unknown): Link => ({ kind: "failed", error }),
        );
      case "missing":
      case "builtin":
      case "commonjs":
        return target;
    }
  }

  #getExports(path: string): unknown {
    if (this.#json.has(path)) return this.#json.get(path);
    const unit = this.#units.get(path)!;
    this.#start(unit);
    if (unit.state.kind === "failed") throw unit.state.error;
    return unit.module.exports;
  }

  /**
   * Runs what a file needs of the files that wait at their top level, and waits for it, also if another import has begun
   * it. Imports come first. Files that wait for the one that asks are not waited for.
   */
  async #settle(path: string, importer?: Unit): Promise<void> {
    for (const unit of this.#listImports(path)) {
      if (!unit.code.isAsync) continue;
      this.#start(unit);
      const isCircle = importer !== undefined && this.#listImports(unit.path, "all").has(importer);
      if (unit.state.kind === "started" && !isCircle) await unit.state.done;
      if (unit.state.kind === "failed") throw unit.state.error;
    }
  }

  /** A file after those that it imports: of itself, or `all`, also with \`import()\`. */
  #listImports(path: string, which: "static" | "all" = "static"): Set<Unit> {
    const visited = new Set<string>();
    const units = new Set<Unit>();
    const visit = (next: string): void => {
      const unit = this.#units.get(next);
      if (!unit || visited.has(next)) return;
      visited.add(next);
      const names = which === "all" ? unit.links.keys() : unit.code.requires;
      for (const name of names) {
        const link = unit.links.get(name);
        if (link?.kind === "file") visit(link.path);
      }
      units.add(unit);
    };
    visit(path);
    return units;
  }

  /** Does nothing for a file that has run or is running, as one of several that import each other. */
  #start(unit: Unit): void {
    if (unit.state.kind !== "new") return;
    unit.state = { kind: "started" };
    const fail = (error: unknown): void => {
      unit.state = { kind: "failed", error };
    };
    try {
      const result = unit.code.run(this.#createScope(unit));
      if (unit.code.isAsync) unit.state.done = Promise.resolve(result).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Creates the variables that the code of a file sees besides the globals. */
  #createScope(unit: Unit): Record<string, unknown> {
    const { path, module } = unit;
    const directory = dirname(path);
    const require = Object.assign((name: string) => this.#require(unit, name, "require"), {
      resolve: (name: string) => this.#locate(name, path) ?? createRequire(path).resolve(name),
    });
    return {
      ...this.#options.globals?.bindings,
      module,
      exports: module.exports,
      require,
      require$: (name: string) => this.#require(unit, name, "import"),
      import$: (name: unknown) => this.#import(unit, String(name)),
      importMeta$: createImportMeta(path, (name) => this.#locate(name, path)),
      __filename: path,
      __dirname: directory,
    };
  }

  #locate(name: string, importer: string): string | undefined {
    return this.#options.locateShared?.(name, importer);
  }

  #require(unit: Unit, name: string, form: "require" | "import"): unknown {
    const link = unit.links.get(name);
    if (!link) return this.#requireLate(unit, name);
    switch (link.kind) {
      case "file":
        return this.#getExports(link.path);
      case "builtin":
        return this.#getBuiltin(link.name, form);
      case "commonjs":
        return createRequire(unit.path)(link.path);
      case "loaded":
        return link.module;
      case "missing":
        throw createMissingError(link.message);
      case "failed":
        throw link.error;
    }
  }

  /** A name that the code puts together. What needs waiting cannot be loaded any more. */
  #requireLate(unit: Unit, name: string): unknown {
    const target = resolveImport(name, unit.path, { root: this.#options.root, isShared: () => false });
    if (target.kind === "builtin") return this.#getBuiltin(target.name, "require");
    if (target.kind === "commonjs") return createRequire(unit.path)(target.path);
    if (target.kind === "file" && this.files.includes(target.path)) return this.#getExports(target.path);
    if (target.kind === "missing") throw createMissingError(target.message);
    throw new ExtensionError(
      "invalid_input",
      `${name} cannot be required by a name that is put together. Write \`await import(…)\` instead.`,
    );
  }

  async #import(unit: Unit, name: string): Promise<unknown> {
    // One after the other: two imports at once must not each compile a file that both need.
    const link = await this.#linking.add(async () => {
      const known = unit.links.get(name);
      // A declaration may have loaded only the exports that it names.
      if (known && known.kind !== "loaded") return known;
      const whole = await this.#link(name, unit);
      unit.links.set(name, whole);
      return whole;
    });
    if (link.kind === "file") await this.#settle(link.path, unit);
    return toNamespace(this.#require(unit, name, "import"));
  }

  #getBuiltin(name: string, form: "require" | "import"): object {
    const own = this.#options.globals?.bindings["process"] as object | undefined;
    const module = own && /^(?:node:)?process$/.test(name) ? own : (process.getBuiltinModule(name) as object);
    return form === "require" ? module : toModuleObject(module, module);
  }
}

/** Most modules do not ask for their address, and making it takes longer than everything else here. */
const createImportMeta = (path: string, locate: (name: string) => string | undefined): object => ({
  get url() {
    return pathToFileURL(path).href;
  },
  filename: path,
  dirname: dirname(path),
  resolve: (name: string) => resolveAddress(name, path, locate),
});

/** The address of a module. As in Node, a file need not exist. */
function resolveAddress(name: string, importer: string, locate: (name: string) => string | undefined): string {
  if (/^(?:\.{0,2}\/|file:)/.test(name)) return new URL(name, pathToFileURL(importer)).href;
  const path = locate(name) ?? createRequire(importer).resolve(name);
  return isAbsolute(path) ? pathToFileURL(path).href : `node:${path.replace(/^node:/, "")}`;
}

function parseJson(path: string, source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw new CompileError(`${path}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** With the code that Node's own error has, because code that can do without a module asks for it. */
const createMissingError = (message: string): Error => Object.assign(new Error(message), { code: "MODULE_NOT_FOUND" });

/** An import of a name that our module does not have would be undefined and fail later, where nobody looks for it. */
function checkNames({ path, code }: Unit, name: string, module: Record<string, unknown>): void {
  for (const { module: imported, line, names } of code.imports) {
    const missing = imported === name ? names.filter((key) => !(key in module)) : [];
    if (missing.length === 0) continue;
    const list = missing.map((key) => JSON.stringify(key)).join(", ");
    const advice = missing.length === 1 ? didYouMean(missing[0]!, Object.keys(module)) : "";
    throw new ExtensionError("invalid_input", `${path}:${line}: The module ${name} has no export ${list}.${advice}`);
  }
}

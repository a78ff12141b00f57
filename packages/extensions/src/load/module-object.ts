/** Makes of modules that were not compiled here what compiled code expects of an ES module. */

/**
 * Compiled code tells an ES module by `__esModule`. The properties are read when they are used: some of Node's modules load
 * much more when a property is read.
 */
export function toModuleObject(module: object, defaultExport?: unknown): object {
  const existing = objects.get(module);
  if (existing) return existing;
  const object: object = Object.defineProperty({}, "__esModule", { value: true });
  for (const key of Object.keys(module)) {
    const get = (): unknown => (module as Record<string, unknown>)[key];
    Object.defineProperty(object, key, { enumerable: true, configurable: true, get });
  }
  if (defaultExport !== undefined) Object.defineProperty(object, "default", { value: defaultExport });
  objects.set(module, object);
  return object;
}

/** Caches an object for each module, so that an extension that compares two imports finds them equal. */
const objects = new WeakMap<object, object>();

/** Returns what `import()` resolves to for a module that was compiled here or that Node's `require` gave. */
export function toNamespace(exports: unknown): unknown {
  if (isObject(exports) && (exports as Record<string, unknown>)["__esModule"] === true) return exports;
  return { ...(isObject(exports) ? exports : {}), default: exports };
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

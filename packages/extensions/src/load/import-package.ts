/** Node's own `import()`, as a file anywhere on the disk would call it. */
import Module from "node:module";

interface CompilingModule {
  exports: unknown;
  _compile(code: string, path: string): void;
}

/**
 * Resolves the name as an `import` in `importer` would. Code that is compiled in any other way either cannot import, as that of
 * the packed program, or makes Node print a warning.
 */
export function importPackage(name: string, importer: string): Promise<object> {
  const module = new Module(importer) as unknown as CompilingModule;
  // oxlint-disable-next-line no-underscore-dangle -- the name that Node gave it
  module._compile("module.exports = (name) => import(name)", importer);
  return (module.exports as (name: string) => Promise<object>)(name);
}

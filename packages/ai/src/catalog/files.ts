import { AiError } from "../errors.ts";
import type { ModelLists } from "./builtin-models.ts";

/** The models of a provider from the files of the package, which are read when they are needed. Synchronous. */
export const readModels = (provider: string): ModelLists => ({
  listed: load(`#catalog/${provider}.json`),
  retired: () => load(`#catalog/retired/${provider}.json`),
});

function load(file: string) {
  try {
    // Here, because an import of `node:module` costs 1 ms, and a bundle in the format of CommonJS has no URL of its own.
    return process.getBuiltinModule("node:module").createRequire(import.meta.url)(file);
  } catch (cause) {
    throw new AiError(
      "no_catalogue",
      `The catalogue of models cannot be read (${file}). In a bundle it is only if the bundler uses the condition "module", as bundlers do by default: add it to your conditions, or take the model from a provider's own entry, such as "@tau/ai/anthropic".`,
      { cause },
    );
  }
}

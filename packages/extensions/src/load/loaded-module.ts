/** The kinds of modules that extensions can be. */
import type { ExtensionFactory } from "../api/api.ts";
import type { ExtensionObject } from "../api/object-form.ts";
import type { DescribedProvider } from "../providers/provider-definition.ts";

/**
 * Loads modules that extensions import by a name of ours, such as `typebox` or those of pi. Undefined for any other name,
 * which Node then resolves from the file that imports it. `names` are the exports that the importer uses; undefined if it may use
 * any. The module may lack others.
 */
export type LoadSharedModule = (
  name: string,
  names?: readonly string[],
) => Promise<Record<string, unknown>> | undefined;

/**
 * Finds the file that stands for such a module where an extension asks for its path, with `import.meta.resolve` or
 * `require.resolve`. `importer` is the file that asks. Undefined for any other name.
 */
export type LocateSharedModule = (name: string, importer: string) => string | undefined;

export type LoadedModule =
  | { kind: "factory"; factory: ExtensionFactory }
  /** `providers` were registered while it was evaluated. */
  | { kind: "object"; object: ExtensionObject; providers: readonly DescribedProvider[] }
  /** `message` names the file and, where there is one, the line. */
  | { kind: "failed"; message: string };

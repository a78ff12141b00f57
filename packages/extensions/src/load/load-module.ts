/** Loads the module of an extension, with everything that it imports. */
import { dirname } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";
import type { ExtensionFactory } from "../api/api.ts";
import type { ExtensionObject } from "../api/object-form.ts";
import {
  collectProviders,
  type DescribedProvider,
  findExportedProviders,
  isDefinition,
  withProviders,
} from "../providers/provider-definition.ts";
import { describeLoadError } from "./load-error.ts";
import type { LoadedModule } from "./loaded-module.ts";
import { type GraphOptions, ModuleGraph } from "./module-graph.ts";

export interface LoadModuleOptions extends Omit<GraphOptions, "root"> {
  /** The directory of the extension. Default: that of the file. */
  root?: string;
}

/**
 * Every call evaluates the files of the extension anew, and nothing keeps them: a reloaded extension leaves no code behind.
 * Packages from a `node_modules` that need none of our modules are Node's, which loads them once.
 */
export async function loadExtensionModule(path: string, options: LoadModuleOptions): Promise<LoadedModule> {
  const graph = new ModuleGraph({ ...options, root: options.root ?? dirname(path) });
  try {
    const { result, providers } = await collectProviders(() => graph.load(path));
    return toLoadedModule(result, path, providers);
  } catch (error) {
    return { kind: "failed", message: describeLoadError(error, { path, files: graph.files }) };
  }
}

function toLoadedModule(exports: unknown, path: string, providers: readonly DescribedProvider[]): LoadedModule {
  const exported = isRecord(exports) && "default" in exports ? exports["default"] : exports;
  if (typeof exported === "function") {
    return { kind: "factory", factory: withProviders(exported as ExtensionFactory, providers) };
  }
  if (isRecord(exported) && typeof exported["name"] === "string" && !isDefinition(exported)) {
    return { kind: "object", object: exported as unknown as ExtensionObject, providers };
  }
  // A file that only describes providers needs no function.
  const described = [...providers, ...findExportedProviders(exports)];
  const named = new Map(described.map((provider) => [provider.name, provider]));
  if (named.size > 0) return { kind: "factory", factory: withProviders(() => undefined, [...named.values()]) };
  throw new ExtensionError(
    "invalid_input",
    `${path} is not an extension: it does not export a valid factory function or an object with a name as its default, or a provider.`,
  );
}

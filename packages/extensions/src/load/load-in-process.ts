/** Loads extensions that the user trusts into this process, in order. */
import { dirname, join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import type { ToolLogLevel } from "@tau/tools";
import type { ExtensionFactory } from "../api/api.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import { toFactory } from "../api/object-form.ts";
import { withProviders } from "../providers/provider-definition.ts";
import { loadExtensionModule } from "./load-module.ts";
import type { LoadedModule, LoadSharedModule, LocateSharedModule } from "./loaded-module.ts";
import { createModuleGlobals, type ModuleGlobals } from "./module-globals.ts";
import { type Dependent, orderDependencies } from "./order-dependencies.ts";
import { watchStrayErrors } from "./stray-errors.ts";
import { startExtension, type StartParts } from "./start-extension.ts";

export interface InProcessPorts extends Omit<StartParts, "report" | "globals" | "log"> {
  loadShared: LoadSharedModule;
  locateShared?: LocateSharedModule | undefined;
  /** Where compiled code is kept. Undefined: nowhere. */
  cacheDirectory: string | undefined;
  /** Problems of an extension after it was loaded; those before are in the result. The same one of an extension comes once. */
  report: (problem: ExtensionProblem) => void;
  /** Writes what an extension says into the debug log. */
  log: (extension: string, level: ToolLogLevel, message: string) => void;
  /** Names of extensions that are loaded elsewhere, for dependencies. Default: none. */
  otherNames?: readonly string[];
}

/** Where compiled extensions are kept. */
export const getCacheDirectory = (agentDir: string): string => join(agentDir, "cache", "extensions");

interface Candidate extends Dependent {
  readonly source: ExtensionSource;
  readonly factory: ExtensionFactory;
  readonly globals: ModuleGlobals;
  readonly report: (message: string) => void;
}

/** Never rejects for an extension that cannot be loaded: it is in `problems`, and the others are loaded. */
export async function loadInProcess(
  sources: readonly ExtensionSource[],
  ports: InProcessPorts,
): Promise<{ extensions: Extension[]; problems: ExtensionProblem[] }> {
  const extensions: Extension[] = [];
  const problems: ExtensionProblem[] = [];
  const candidates: Candidate[] = [];
  let isLoading = true;
  // One after the other: what modules do when they are evaluated happens in the same order each time.
  for (const source of sources) {
    const report = createReport(source, (problem) => (isLoading ? problems.push(problem) : ports.report(problem)));
    const globals = createModuleGlobals((error) => report(`A timer of it failed: ${getErrorMessage(error)}`));
    watchStrayErrors(source, report);
    const { baseDir = dirname(source.path) } = source.info;
    const loaded = await loadExtensionModule(source.path, { ...ports, globals, root: baseDir });
    const candidate = toCandidate(source, loaded, globals, ports);
    if (typeof candidate === "object") candidates.push({ ...candidate, report });
    else {
      globals.close();
      problems.push({ extension: source.name, message: candidate });
    }
  }
  const { ordered, refused } = orderDependencies(candidates, ports.otherNames);
  for (const { item, message } of refused) {
    item.globals.close();
    problems.push({ extension: item.source.name, message });
  }
  const failed = new Set<string>();
  for (const { source, factory, globals, report, names, dependencies } of ordered) {
    const needed = dependencies.find((name) => failed.has(name));
    const outcome =
      needed === undefined
        ? await startExtension(source, factory, { ...ports, globals, report })
        : ({ kind: "failed", message: `It needs the extension ${needed}, which cannot be loaded.` } as const);
    if (outcome.kind === "started") extensions.push(outcome.extension);
    else {
      globals.close();
      for (const name of names) failed.add(name);
      problems.push({ extension: source.name, message: outcome.message });
    }
  }
  isLoading = false;
  return { extensions, problems };
}

/** A text says why the module is not an extension. */
function toCandidate(
  source: ExtensionSource,
  loaded: LoadedModule,
  globals: ModuleGlobals,
  { log }: InProcessPorts,
): Omit<Candidate, "report"> | string {
  switch (loaded.kind) {
    case "failed":
      return loaded.message;
    case "factory":
      return { source, globals, factory: loaded.factory, names: [source.name], dependencies: [] };
    case "object": {
      const { name, dependencies = [] } = loaded.object;
      try {
        const own = toFactory(loaded.object, (level, message) => log(name, level, message));
        const factory = withProviders(own, loaded.providers);
        return { source, globals, factory, names: [name, source.name], dependencies };
      } catch (error) {
        return `${source.path}: ${getErrorMessage(error)}`;
      }
    }
  }
}

function createReport(
  { name }: ExtensionSource,
  report: (problem: ExtensionProblem) => void,
): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (reported.has(message)) return;
    reported.add(message);
    report({ extension: name, message });
  };
}

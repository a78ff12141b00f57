/** Finds extensions and loads them into this process. */
import { join, resolve } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import {
  createEventBus,
  type EventBus,
  type ExtensionFactory,
  loadExtensionModule,
  type LoadSharedModule,
  loadTypeboxModule,
} from "@tau/extensions";
import { findAt, findInDirectory } from "@tau/config/internal";
import { loadPiModule } from "@tau/pi";
import { CONFIG_DIR_NAME, expandHome, getAgentDir } from "@tau/pi/internal";
import { createExtension, createExtensionApi } from "./create-api.ts";
import type { ExtensionRuntime, LoadExtensionsResult, PiExtension } from "./extension.ts";
import { createExtensionRuntime } from "./runtime.ts";

const loadShared: LoadSharedModule = (name, names) =>
  loadTypeboxModule(name) ?? loadPiModule(name, { names, loadSdk: () => import("../index.ts") });

export async function loadExtensionFromFactory(
  factory: ExtensionFactory,
  cwd: string,
  events: EventBus,
  runtime: ExtensionRuntime,
  path = "<inline>",
): Promise<PiExtension> {
  const extension = createExtension(path, path);
  await factory(createExtensionApi(extension, runtime, { cwd, events }));
  return extension;
}

/** Loads extensions. If one cannot be loaded, it is reported and the others are loaded. */
export async function loadExtensions(
  paths: readonly string[],
  cwd: string,
  events: EventBus = createEventBus(),
): Promise<LoadExtensionsResult> {
  const result: LoadExtensionsResult = { extensions: [], errors: [], runtime: createExtensionRuntime() };
  for (const path of paths) {
    const fail = (error: string) => result.errors.push({ path, error });
    const failLoad = (error: string) => fail(`Failed to load extension: ${error}`);
    const resolvedPath = toPath(cwd, path);
    const loaded = await loadExtensionModule(resolvedPath, { loadShared, cacheDirectory: undefined });
    if (loaded.kind === "failed") failLoad(loaded.message);
    else if (loaded.kind === "object") fail(`Extension does not export a valid factory function: ${path}`);
    else {
      const extension = createExtension(path, resolvedPath);
      const api = createExtensionApi(extension, result.runtime, { cwd, events });
      await Promise.resolve()
        .then(() => loaded.factory(api))
        .then(
          () => void result.extensions.push(extension),
          (error: unknown) => void failLoad(getErrorMessage(error)),
        );
    }
  }
  return result;
}

/** The project's, then the user's, then those that are named. Each file once. */
export async function discoverAndLoadExtensions(
  configuredPaths: readonly string[],
  cwd: string,
  agentDir: string = getAgentDir(),
  events?: EventBus,
): Promise<LoadExtensionsResult> {
  const discovered = [join(cwd, CONFIG_DIR_NAME), agentDir].map((directory) =>
    findInDirectory(join(directory, "extensions")),
  );
  const named = configuredPaths.map((path) => findAt(toPath(cwd, path)));
  const entries = [...discovered, ...named].flatMap((found) => found.entries);
  const result = await loadExtensions([...new Set(entries.map(({ path }) => path))], cwd, events);
  // Files of a directory that are not extensions are no errors; missing files that somebody named are.
  const problems = named.flatMap((found) => found.problems);
  const errors = problems.map(({ extension, message }) => ({ path: extension, error: message }));
  return { ...result, errors: [...errors, ...result.errors] };
}

const toPath = (cwd: string, path: string): string => resolve(cwd, expandHome(path));

/** Loads extensions for a question that is asked before there is a session. Who loads them closes them. */
import type { Clock } from "@tau/ai";
import { createEventBus } from "../runner/create-api.ts";
import { createLifetime } from "../runner/create-context.ts";
import type { Extension, ExtensionProblem } from "../api/extension.ts";
import { findExtensions, type FoundExtension } from "./find-extensions.ts";
import type { ExtensionPlace, ExtensionsParams } from "./has-extensions.ts";
import { getCacheDirectory, loadInProcess } from "./load-in-process.ts";
import { loadTypeboxModule } from "./shared-modules.ts";

interface WithoutSession extends ExtensionPlace {
  clock: Clock;
  /** Problems of an extension after it was loaded. */
  report: (problem: ExtensionProblem) => void;
}

interface LoadedWithoutSession {
  /** All that there are, in their order. */
  readonly found: readonly FoundExtension[];
  /** The trusted extensions, without those that cannot be loaded. */
  readonly extensions: readonly Extension[];
  readonly problems: readonly ExtensionProblem[];
}

export async function loadWithoutSession(
  { paths = [], packages = [], discovers = false, flags, loadShared, locateShared }: ExtensionsParams,
  { clock, report, ...place }: WithoutSession,
): Promise<LoadedWithoutSession> {
  const { extensions: found, problems } = await findExtensions({ ...place, paths, packages, discovers });
  const trusted = found.filter(({ state }) => state === "trusted").map(({ source }) => source);
  const loaded = await loadInProcess(trusted, {
    lifetime: createLifetime(),
    events: createEventBus(),
    clock,
    report,
    log: () => {},
    getSession: () => undefined,
    flagValues: flags ?? new Map(),
    findFlag: () => undefined,
    listMcpServers: () => [],
    loadShared: (name, names) => loadTypeboxModule(name) ?? loadShared?.(name, names),
    locateShared,
    cacheDirectory: getCacheDirectory(place.agentDir),
  });
  return { found, extensions: loaded.extensions, problems: [...problems, ...loaded.problems] };
}

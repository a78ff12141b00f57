/** Finds and loads the extensions of a session, before there is a session: they may bring its model. */
import type { Clock, Ids } from "@tau/ai";
import type { ToolLogLevel } from "@tau/tools";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ExtensionTrustState } from "../policy/extension-trust.ts";
import type { Audit, Decision } from "../policy/policy.ts";
import type { ContextSource } from "./context-sources.ts";
import { createEventBus } from "./create-api.ts";
import { createLifetime } from "./create-context.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "./extension.ts";
import { findExtensions } from "./find-extensions.ts";
import type { ExtensionPlace, ExtensionsParams, InlineExtension } from "./has-extensions.ts";
import { listIdle } from "./idle-extensions.ts";
import { getCacheDirectory, type InProcessPorts, loadInProcess } from "./load/load-in-process.ts";
import { loadTypeboxModule } from "./load/shared-modules.ts";
import { startExtension } from "./load/start-extension.ts";
import type { Judging } from "./open-isolated.ts";
import { createProviders, registerProviders } from "./providers.ts";
import { ChangedInputs } from "./session/changed-inputs.ts";
import type { SessionStart } from "./session/extension-slot.ts";
import { type LoadedExtensions, SessionExtensions, type SessionExtensionsParts } from "./session/session-extensions.ts";
import type { ExtensionSessionPort } from "./session-port.ts";

export interface OpenExtensionsParts extends ExtensionPlace {
  registry: ModelRegistry;
  clock: Clock;
  ids: Ids;
  start: SessionStart;
  /** For isolated extensions. */
  judging: Judging;
  /** Tells the user what goes wrong later. */
  report: (problem: ExtensionProblem) => void;
  setResources: SessionExtensionsParts["setResources"];
  /** Writes what extensions say into the debug log. */
  log: (extension: string, level: ToolLogLevel, message: string) => void;
}

/** Never rejects for an extension that cannot be loaded: it is in `problems`, and the others are loaded. */
export async function openExtensions(params: ExtensionsParams, parts: OpenExtensionsParts): Promise<SessionExtensions> {
  const { clock, report, start, setResources } = parts;
  const loaded = await loadAll(params, parts);
  return new SessionExtensions({ loaded, clock, report, start, setResources });
}

async function loadAll(params: ExtensionsParams, parts: OpenExtensionsParts): Promise<LoadedExtensions> {
  const { flags = new Map(), loadShared = () => undefined } = params;
  const { contextSources } = parts.settings.get();
  const added = contextSources.length === 0 ? [] : [await describeSources(contextSources)];
  const factories = [...added, ...(params.factories ?? [])];
  const { agentDir, registry, clock, report, log } = parts;
  let session: ExtensionSessionPort | undefined;
  const problems: ExtensionProblem[] = [];
  // Before there is a session nobody can be told. `bind` tells what has been found until then.
  const tell = (problem: ExtensionProblem): void => void (session ? report(problem) : problems.push(problem));
  const all: Extension[] = [];
  const events = createEventBus();
  const lifetime = createLifetime();
  const ports: InProcessPorts = {
    lifetime,
    events,
    clock,
    report: tell,
    log,
    getSession: () => session,
    flagValues: flags,
    findFlag: (name) => all.find((extension) => extension.flags.has(name))?.flags.get(name),
    listMcpServers: () =>
      all.flatMap(({ mcpServers, source }) =>
        [...mcpServers].map(([name, config]) => ({ name, config, extensionPath: source.path })),
      ),
    loadShared: (name) => loadTypeboxModule(name) ?? loadShared(name),
    cacheDirectory: getCacheDirectory(agentDir),
  };
  const changed = new ChangedInputs(parts.judging);
  const early: Decision[] = [];
  const audit: Audit = (decision) =>
    session ? parts.judging.getJudgeParts().audit(decision) : void early.push(decision);
  for (const [index, inline] of factories.entries()) {
    const source = describeInline(inline, index);
    const factory = typeof inline === "function" ? inline : inline.factory;
    const reportOwn = (message: string) => tell({ extension: source.name, message });
    const started = await startExtension(source, factory, { ...ports, report: reportOwn });
    if (started.kind === "started") all.push(started.extension);
    else problems.push({ extension: source.name, message: started.message });
  }
  const { paths = [], packages = [], discovers = false } = params;
  const found = await findExtensions({ ...parts, paths, packages, discovers });
  const byState = (wanted: ExtensionTrustState) => found.extensions.filter(({ state }) => state === wanted);
  const inProcess = await loadInProcess(
    byState("trusted").map(({ source }) => source),
    ports,
  );
  const loaded = [...inProcess.extensions];
  problems.push(...found.problems, ...inProcess.problems);
  const walled = byState("acknowledged").map(({ source }) => source);
  for (const outcome of await loadBehindWall(walled, params, { ...parts, ports, changed, audit })) {
    if ("source" in outcome) loaded.push(outcome);
    else problems.push(outcome);
  }
  const idle = listIdle(
    found.extensions,
    loaded.map(({ source }) => source),
    problems,
  );
  const pending = idle.filter(({ state }) => state === "pending");
  problems.push(...pending.map(({ source, message }) => ({ extension: source.name, message })));
  const order = found.extensions.map(({ source }) => source);
  all.push(...loaded.toSorted((a, b) => order.indexOf(a.source) - order.indexOf(b.source)));
  const providers = createProviders(registry);
  problems.push(...registerProviders(all, providers));
  return {
    extensions: all,
    idle,
    problems,
    lifetime,
    events,
    providers,
    changed,
    bind: (port) => void (session = port),
    async writeEarlyDecisions() {
      for (const decision of early.splice(0)) await parts.judging.getJudgeParts().audit(decision);
    },
  };
}

/** Late, because few extensions need it. */
async function loadBehindWall(
  sources: readonly ExtensionSource[],
  { findChild }: ExtensionsParams,
  {
    changed,
    ...parts
  }: OpenExtensionsParts & {
    ports: InProcessPorts;
    changed: ChangedInputs;
    audit: Audit;
  },
): Promise<(Extension | ExtensionProblem)[]> {
  if (sources.length === 0) return [];
  const child = findChild?.();
  if (!child) {
    return sources.map(({ name }) => ({
      extension: name,
      message: `It would run in a process of its own, which this program does not have. To run it here: tau extensions trust ${name}`,
    }));
  }
  const { openIsolated } = await import("./open-isolated.ts");
  return await openIsolated(sources, { ...parts, child, onInputChanged: (id, name) => changed.add(id, name) });
}

/** Late, because few users have some. */
async function describeSources(sources: readonly ContextSource[]): Promise<InlineExtension> {
  const { createContextSources } = await import("./context-sources.ts");
  return { name: "contextSources", factory: createContextSources(sources) };
}

function describeInline(inline: InlineExtension, index: number): ExtensionSource {
  const name = `<inline:${typeof inline === "function" ? inline.name || index + 1 : inline.name}>`;
  const info = { path: name, source: "inline", scope: "temporary", origin: "top-level" } as const;
  return { id: name, name, path: name, origin: "inline", digest: "", info };
}

/** Finds and loads the extensions of a session, before there is a session: they may bring its model. */
import type { Clock, Ids } from "@tau/ai";
import type { ToolLogLevel } from "@tau/tools";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ExtensionTrustState } from "@tau/config/trust";
import type { Audit, Decision } from "@tau/policy";
import type { ContextSource } from "../runner/context-sources.ts";
import { createEventBus } from "../runner/create-api.ts";
import { createLifetime } from "../runner/create-context.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import type { LoadedFeature } from "../api/feature.ts";
import { ExtensionError } from "../errors.ts";
import { findExtensions } from "./find-extensions.ts";
import type { ExtensionPlace, ExtensionsParams, InlineExtension } from "./has-extensions.ts";
import { type IdleExtension, listIdle } from "./idle-extensions.ts";
import { getCacheDirectory, type InProcessPorts, loadInProcess } from "./load-in-process.ts";
import { loadTypeboxModule } from "./shared-modules.ts";
import type { SharedResources } from "../runner/shared-resources.ts";
import { startExtension } from "./start-extension.ts";
import type { Judging } from "./open-isolated.ts";
import { createProviders, type ProviderPort, registerProviders } from "../providers/providers.ts";
import { ChangedInputs } from "../session/changed-inputs.ts";
import type { SessionStart } from "../session/extension-slot.ts";
import type { FeatureNames } from "../session/list-replaced.ts";
import {
  type LoadedExtensions,
  SessionExtensions,
  type SessionExtensionsParts,
} from "../session/session-extensions.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";

export interface OpenExtensionsParts extends ExtensionPlace {
  registry: ModelRegistry;
  auth: AuthStorage;
  clock: Clock;
  ids: Ids;
  start: SessionStart;
  /** The features that are in use already. */
  features: readonly LoadedFeature[];
  /** The names of all features of the session. */
  featureNames: FeatureNames;
  /** The resources that extensions share by key. */
  shared: SharedResources;
  /** For isolated extensions. */
  judging: Judging;
  /** Reports later problems to the user. */
  report: (problem: ExtensionProblem) => void;
  setResources: SessionExtensionsParts["setResources"];
  /** Writes what extensions say into the debug log. */
  log: (extension: string, level: ToolLogLevel, message: string) => void;
}

/** Never rejects for an extension that cannot be loaded: it is in `problems`, and the others are loaded. */
export async function openExtensions(params: ExtensionsParams, parts: OpenExtensionsParts): Promise<SessionExtensions> {
  const { clock, report, start, setResources, featureNames: features } = parts;
  const loaded = await loadAll(params, parts);
  const getAnswerMs = () => parts.settings.get().extensionTimeoutMs;
  return new SessionExtensions({ loaded, clock, report, start, setResources, features, getAnswerMs });
}

/** State before there is a session. */
interface Loading {
  session: ExtensionSessionPort | undefined;
  readonly extensions: Extension[];
  /** There is no listener yet. `bind` reports what has been found until then. */
  readonly problems: ExtensionProblem[];
  /** About isolated extensions. */
  readonly decisions: Decision[];
  /** Called when servers of MCP were registered or removed. */
  onMcpServersChange: () => void;
  /** Called when virtual models were registered or removed. */
  onVirtualModelsChange: () => void;
}

interface LoadingParts extends OpenExtensionsParts {
  ports: InProcessPorts & { events: LoadedExtensions["events"] };
  changed: ChangedInputs;
  audit: Audit;
  providers: ProviderPort;
}

async function loadAll(params: ExtensionsParams, parts: OpenExtensionsParts): Promise<LoadedExtensions> {
  const loading: Loading = {
    session: undefined,
    extensions: [],
    problems: [],
    decisions: [],
    onMcpServersChange: () => {},
    onVirtualModelsChange: () => {},
  };
  const { extensions, problems, decisions } = loading;
  const ports = createPorts(params, parts, loading);
  const changed = new ChangedInputs(parts.judging);
  const writeDecision: Audit = (decision) => parts.judging.getJudgeParts().audit(decision);
  const audit: Audit = (decision) => (loading.session ? writeDecision(decision) : void decisions.push(decision));
  const sources = parts.settings.get().contextSources;
  const added = sources.length === 0 ? [] : [await describeSources(sources)];
  await startInline([...added, ...(params.factories ?? [])], ports, loading);
  const { registry, auth, clock } = parts;
  const providers = createProviders({
    registry,
    auth,
    clock,
    allowNetwork: params.allowNetwork ?? true,
    report: ports.report,
  });
  const idle = await loadFound(params, { ...parts, ports, changed, audit, providers }, loading);
  const startFeature = ({ name, factory }: LoadedFeature) =>
    startExtension(describeFeature(name), factory, {
      ...ports,
      report: (message) => ports.report({ extension: name, message }),
    });
  for (const feature of parts.features) {
    const started = await startFeature(feature);
    if (started.kind === "started") extensions.push(started.extension);
    else problems.push({ extension: feature.name, message: started.message });
  }
  problems.push(...registerProviders(extensions, providers));
  await providers.settle();
  loading.onVirtualModelsChange = () => providers.setVirtualModels(extensions);
  loading.onVirtualModelsChange();
  return {
    extensions,
    idle,
    problems,
    lifetime: ports.lifetime,
    events: ports.events,
    providers,
    changed,
    bind(port, onMcpServersChange) {
      loading.session = port;
      loading.onMcpServersChange = () => onMcpServersChange(ports.listMcpServers());
    },
    async add(feature) {
      const started = await startFeature(feature);
      if (started.kind === "failed") throw new ExtensionError("failed", started.message);
      extensions.push(started.extension);
      if (started.extension.virtualModels.size > 0) loading.onVirtualModelsChange();
      return started.extension;
    },
    async writeEarlyDecisions() {
      while (decisions[0]) {
        await writeDecision(decisions[0]);
        decisions.shift();
      }
    },
  };
}

function createPorts(
  { flags = new Map(), loadShared = () => undefined, locateShared }: ExtensionsParams,
  { agentDir, clock, report, log, shared }: OpenExtensionsParts,
  loading: Loading,
): LoadingParts["ports"] {
  const { extensions, problems } = loading;
  return {
    lifetime: createLifetime(),
    resources: shared,
    events: createEventBus(),
    clock,
    report: (problem) => void (loading.session ? report(problem) : problems.push(problem)),
    log,
    getSession: () => loading.session,
    flagValues: flags,
    findFlag: (name) => extensions.find((extension) => extension.flags.has(name))?.flags.get(name),
    listMcpServers: () =>
      extensions.flatMap(({ mcpServers, source }) =>
        [...mcpServers].map(([name, config]) => ({ name, config, extensionPath: source.path })),
      ),
    onMcpServersChange: () => loading.onMcpServersChange(),
    onVirtualModelsChange: () => loading.onVirtualModelsChange(),
    loadShared: (name, names) => loadTypeboxModule(name) ?? loadShared(name, names),
    locateShared,
    cacheDirectory: getCacheDirectory(agentDir),
  };
}

async function startInline(
  factories: readonly InlineExtension[],
  ports: InProcessPorts,
  { extensions, problems }: Loading,
): Promise<void> {
  for (const [index, inline] of factories.entries()) {
    const source = describeInline(inline, index);
    const factory = typeof inline === "function" ? inline : inline.factory;
    const report = (message: string) => ports.report({ extension: source.name, message });
    const started = await startExtension(source, factory, { ...ports, report });
    if (started.kind === "started") extensions.push(started.extension);
    else problems.push({ extension: source.name, message: started.message });
  }
}

/** Loads those that are found on the disk. Returns those that do not run. */
async function loadFound(
  params: ExtensionsParams,
  parts: LoadingParts,
  { extensions, problems }: Loading,
): Promise<IdleExtension[]> {
  const { paths = [], packages = [], discovers = false } = params;
  const found = await findExtensions({ ...parts, paths, packages, discovers });
  const listByState = (wanted: ExtensionTrustState) =>
    found.extensions.filter(({ state }) => state === wanted).map(({ source }) => source);
  const inProcess = await loadInProcess(listByState("trusted"), parts.ports);
  const loaded = [...inProcess.extensions];
  problems.push(...found.problems, ...inProcess.problems);
  for (const outcome of await loadIsolatedExtensions(listByState("acknowledged"), params, parts)) {
    if ("source" in outcome) loaded.push(outcome);
    else problems.push(outcome);
  }
  const running = loaded.map(({ source }) => source);
  const idle = listIdle(found.extensions, running, problems);
  const pending = idle.filter(({ state }) => state === "pending");
  problems.push(...pending.map(({ source, message }) => ({ extension: source.name, message })));
  const order = found.extensions.map(({ source }) => source);
  extensions.push(...loaded.toSorted((a, b) => order.indexOf(a.source) - order.indexOf(b.source)));
  return idle;
}

/** Late, because few extensions need it. */
async function loadIsolatedExtensions(
  sources: readonly ExtensionSource[],
  { findChild }: ExtensionsParams,
  { changed, ...parts }: LoadingParts,
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
  const { createContextSources } = await import("../runner/context-sources.ts");
  return { name: "contextSources", factory: createContextSources(sources) };
}

function describeFeature(name: string): ExtensionSource {
  const path = `<feature:${name}>`;
  const info = { path, source: "feature", scope: "temporary", origin: "top-level" } as const;
  return { id: path, name, path, origin: "feature", digest: "", info };
}

function describeInline(inline: InlineExtension, index: number): ExtensionSource {
  const name = `<inline:${typeof inline === "function" ? inline.name || index + 1 : inline.name}>`;
  const info = { path: name, source: "inline", scope: "temporary", origin: "top-level" } as const;
  return { id: name, name, path: name, origin: "inline", digest: "", info };
}

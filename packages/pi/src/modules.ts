/** Finds the module that stands for one of pi's. Each is loaded when an extension first imports it. */
type Module = Record<string, unknown>;

const modules: Readonly<Record<string, () => Promise<Module>>> = {
  "pi-agent-core": () => import("./pi-agent-core.ts"),
  "pi-ai": () => import("./pi-ai/index.ts"),
  "pi-ai/compat": () => import("./pi-ai/compat.ts"),
  "pi-ai/models": () => import("./pi-ai/models.ts"),
  "pi-ai/oauth": () => import("./pi-ai/oauth.ts"),
  "pi-ai/providers/all": () => import("./pi-ai/providers-all.ts"),
  "pi-coding-agent": () => import("./pi-coding-agent/index.ts"),
  "pi-tui": () => import("./pi-tui.ts"),
  // For extensions that are written for tau; the names and classes are the same.
  "@tau/tui": () => import("./pi-tui.ts"),
};

/** The names under which pi is published, now and before. */
const scopes = ["@earendil-works/", "@mariozechner/"];

export interface LoadPiModuleOptions {
  /** The exports that the importer uses. Default: all of them. */
  names?: readonly string[] | undefined;
  /**
   * Loads the exports of `pi-coding-agent` that programs embed, such as `AgentSession`. Called only if `names` has one that
   * this package does not have. Default: the module is without them.
   */
  loadSdk?: () => Promise<Module>;
}

/** Undefined for a name that is not one of pi's modules. */
export function loadPiModule(name: string, { names, loadSdk }: LoadPiModuleOptions = {}): Promise<Module> | undefined {
  const scope = scopes.find((candidate) => name.startsWith(candidate));
  const key = scope === undefined ? name : name.slice(scope.length);
  const load = Object.hasOwn(modules, key) ? modules[key] : undefined;
  return load && key === "pi-coding-agent" && loadSdk ? loadWithSdk(load, loadSdk, names) : load?.();
}

async function loadWithSdk(
  load: () => Promise<Module>,
  loadSdk: () => Promise<Module>,
  names: readonly string[] | undefined,
): Promise<Module> {
  const module = await load();
  if (names?.every((name) => name in module)) return module;
  return await (completeModule ??= loadSdk().then((sdk) => ({ ...sdk, ...module })));
}

/** Created once, so that an extension that compares two imports finds them equal. */
let completeModule: Promise<Module> | undefined;

/** Finds the module that stands for one of pi's. Each is loaded when an extension first imports it. */
type LoadModule = () => Promise<Record<string, unknown>>;

const modules: Readonly<Record<string, LoadModule>> = {
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

/** Undefined for a name that is not one of pi's modules. */
export function loadPiModule(name: string): Promise<Record<string, unknown>> | undefined {
  const scope = scopes.find((candidate) => name.startsWith(candidate));
  const key = scope === undefined ? name : name.slice(scope.length);
  return Object.hasOwn(modules, key) ? modules[key]?.() : undefined;
}

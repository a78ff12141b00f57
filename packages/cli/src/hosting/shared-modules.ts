/** Modules of the program that extensions import by a name of pi's, and the terminal library by its own. */
import type { LoadSharedModule } from "@tau/extensions";
import type { TerminalLook } from "@tau/pi";

const pattern = /^(?:@tau\/tui$|@(?:earendil-works|mariozechner)\/pi-(?:ai|agent-core|tui|coding-agent)(?:\/|$))/;

/** The look that the components of these modules draw with: that of the terminal, once it is there. */
let look: TerminalLook | undefined;
let setLoadedLook: (look: TerminalLook) => void = () => {};

export function shareTerminalLook(shared: TerminalLook): void {
  look = shared;
  setLoadedLook(shared);
}

/** Late, because only extensions need them. Undefined for a name that is none of these. */
export const loadSharedModule: LoadSharedModule = (name, names) => (pattern.test(name) ? load(name, names) : undefined);

async function load(name: string, names: readonly string[] | undefined): Promise<Record<string, unknown>> {
  const { loadPiModule, setTerminalLook } = await import("@tau/pi");
  setLoadedLook = setTerminalLook;
  if (look) setTerminalLook(look);
  const loading = loadPiModule(name, { names, loadSdk: () => import("@tau/pi-sdk") });
  if (loading) return await loading;
  throw new Error(`There is no module ${name} in tau.`);
}

/** Modules of the program that extensions import by a name of pi's, and the terminal library by its own. */
import type { LoadSharedModule } from "@tau/harness/extensions";

const pattern = /^(?:@tau\/tui$|@(?:earendil-works|mariozechner)\/pi-(?:ai|agent-core|tui|coding-agent)(?:\/|$))/;

/** Late, because only extensions need them. Undefined for a name that is none of these. */
export const lendModule: LoadSharedModule = (name) => (pattern.test(name) ? load(name) : undefined);

async function load(name: string): Promise<Record<string, unknown>> {
  const { loadPiModule } = await import("@tau/pi");
  const loading = loadPiModule(name);
  if (loading) return await loading;
  throw new Error(`There is no module ${name} in tau.`);
}

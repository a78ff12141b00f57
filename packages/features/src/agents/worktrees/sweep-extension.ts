/** Sweeps worktrees when a session opens. */
import { type ExtensionAPI, type ExtensionUi, getFeatureSettings } from "@tau/extensions";
import { getFanoutDirectory } from "./directory.ts";
import { fanoutSettings } from "./settings.ts";
import { sweepWorktrees } from "./sweep.ts";

/** The directories that this process has swept: its children open sessions too. */
const swept = new Set<string>();

export function sweepExtension(tau: ExtensionAPI): void {
  tau.on("session_start", (_event, { ui }) => {
    const directory = getFanoutDirectory(getFeatureSettings(tau, fanoutSettings).fanout.directory);
    if (swept.has(directory)) return;
    swept.add(directory);
    // Not waited for: it takes a while where repositories are large. The session may have ended by then.
    sweepAndNotify(directory, ui).catch(() => undefined);
  });
}

async function sweepAndNotify(directory: string, ui: ExtensionUi): Promise<void> {
  const { kept, problems } = await sweepWorktrees(directory);
  const names = kept.map(({ name }) => name).join(", ");
  if (kept.length > 0) {
    ui.notify(`Changes of interrupted tasks were kept: ${names}. To see and apply them: tau worktrees list`, "info");
  }
  for (const problem of problems) ui.notify(`A worktree could not be cleaned up. ${problem}`, "warning");
}

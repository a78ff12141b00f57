/** Loads the extensions of a session before there is one: they may bring its model. */
import { type ExtensionsParams, hasExtensions } from "@tau/extensions";
import { type OpenExtensionsParts, ExtensionSlot } from "@tau/extensions/internal";
import type { SessionSetup } from "./session-setup.ts";

export async function openExtensionSlot(setup: SessionSetup): Promise<ExtensionSlot> {
  const { cwd, agentDir, clock, ids, rules, getPolicy, notices, getSession } = setup;
  const { extensions: params = {}, debugLog } = setup.params;
  const { settings, registry, auth, resources } = setup.services;
  const setResources: OpenExtensionsParts["setResources"] = async (paths) => resources.setExtensionPaths?.(paths);
  const slot = new ExtensionSlot(async (start) => {
    const extensions = await loadExtensions(params, {
      cwd,
      agentDir,
      clock,
      ids,
      settings,
      registry,
      auth,
      start,
      judging: { getPolicy, getJudgeParts: () => getSession().judgeParts, getPathRules: () => rules },
      report: ({ extension, message }) => notices.add("extension", `${extension}: ${message}`),
      log: (extension, level, message) => debugLog?.log("extension", { extension, level, message }),
      setResources,
    });
    if (!extensions) await setResources({ skillPaths: [], promptPaths: [], themePaths: [] });
    return extensions;
  });
  await slot.open(params.start ?? { reason: "startup" });
  setup.closers.add(() => slot.current?.abandon());
  return slot;
}

/** Late: most sessions have no extensions, and their code is not loaded then. */
async function loadExtensions(params: ExtensionsParams, parts: OpenExtensionsParts) {
  if (!hasExtensions(params, parts)) return undefined;
  const { openExtensions } = await import("@tau/extensions/open");
  return await openExtensions(params, parts);
}

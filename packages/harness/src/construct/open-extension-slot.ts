/** Loads the extensions of a session before there is one: they may bring its model. */
import { type ExtensionProblem, type ExtensionsParams, type Feature, hasExtensions } from "@tau/extensions";
import { type OpenExtensionsParts, ExtensionSlot, SessionFeatures } from "@tau/extensions/internal";
import type { SessionSetup } from "./session-setup.ts";

export async function openExtensionSlot(setup: SessionSetup): Promise<ExtensionSlot> {
  const { cwd, agentDir, clock, ids, rules, getPolicy, notices, getSession } = setup;
  const { extensions: params = {}, debugLog } = setup.params;
  const { settings, registry, auth, resources } = setup.services;
  const setResources: OpenExtensionsParts["setResources"] = async (paths) => resources.setExtensionPaths?.(paths);
  const available = listFeatures(setup);
  const featureNames = {
    tools: available.flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
    commands: available.flatMap(({ commands = [] }) => commands.map(({ name }) => name)),
  };
  const slot = new ExtensionSlot(async (start, features) => {
    const extensions = await loadExtensions(params, {
      cwd,
      agentDir,
      clock,
      ids,
      settings,
      registry,
      auth,
      start,
      features,
      featureNames,
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

/** The features of a session: those that it was given and the settings do not turn off. */
export function openFeatures(setup: SessionSetup, slot: ExtensionSlot): SessionFeatures {
  const report = ({ extension, message }: ExtensionProblem) =>
    setup.getSession().notify("extension", `${extension}: ${message}`);
  return new SessionFeatures({ features: listFeatures(setup), slot, report });
}

function listFeatures({ params, services }: SessionSetup): readonly Feature[] {
  const choices = services.settings.get().features;
  return (params.features ?? []).filter(({ name }) => choices[name] !== false);
}

/** Late: most sessions have no extensions, and their code is not loaded then. */
async function loadExtensions(params: ExtensionsParams, parts: OpenExtensionsParts) {
  if (parts.features.length === 0 && !hasExtensions(params, parts)) return undefined;
  const { openExtensions } = await import("@tau/extensions/open");
  return await openExtensions(params, parts);
}

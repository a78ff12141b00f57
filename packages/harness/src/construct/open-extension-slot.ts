/** Loads the extensions of a session before there is one: they may bring its model. */
import { readBuiltinChoices } from "@tau/config/internal";
import {
  type ExtensionProblem,
  type ExtensionsParams,
  type Feature,
  type FeaturePlace,
  hasExtensions,
} from "@tau/extensions";
import { type OpenExtensionsParts, ExtensionSlot, processResources, SessionFeatures } from "@tau/extensions/internal";
import type { SessionSetup } from "./session-setup.ts";

export async function openExtensionSlot(setup: SessionSetup, all: readonly Feature[]): Promise<ExtensionSlot> {
  const { projectDirectory: cwd, agentDir, clock, ids, rules, tenant, getPolicy, notices, getSession } = setup;
  const { extensions: params = {}, debugLog } = setup.params;
  const { settings, registry, auth, resources } = setup.services;
  const setResources: OpenExtensionsParts["setResources"] = async (paths) => resources.setExtensionPaths?.(paths);
  const featureNames = {
    tools: all.flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
    commands: all.flatMap(({ commands = [] }) => commands.map(({ name }) => name)),
    isTemplate: createTemplateCheck(setup),
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
      shared: tenant?.resources ?? processResources,
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

export function openFeatures(setup: SessionSetup, features: readonly Feature[], slot: ExtensionSlot): SessionFeatures {
  const report = ({ extension, message }: ExtensionProblem) =>
    setup.getSession().notify("extension", `${extension}: ${message}`);
  const { parent, permissions } = setup;
  const getMode = () => (parent ? undefined : permissions.mode);
  return new SessionFeatures({
    features,
    slot,
    place: getPlace(setup),
    hasRole: (role) => Object.hasOwn(setup.services.registry.getRoles(), role),
    getMode,
    isTemplate: createTemplateCheck(setup),
    report,
  });
}

/** Whether the session has a prompt template of this name now. */
const createTemplateCheck =
  ({ services }: SessionSetup) =>
  (name: string): boolean =>
    services.resources.resources.promptTemplates.some((template) => template.name === name);

/** Lists the features of a session: those that it was given, the settings do not turn off, and are of use here. */
export function listFeatures(setup: SessionSetup): readonly Feature[] {
  const { features = [] } = setup.params;
  const { settings } = setup.services;
  const choices = settings.get().features;
  // The project's after the user's, because the last one applies.
  const named = (["global", "project"] as const).flatMap((scope) => settings.getGiven(scope, "extensions") ?? []);
  const builtins = readBuiltinChoices(named);
  const place = getPlace(setup);
  return features.filter(
    ({ name, isOffered }) =>
      (choices[name] ?? builtins.get(name)) !== false && (isOffered === undefined || isOffered(place)),
  );
}

export const getPlace = ({
  projectDirectory: cwd,
  agentDir,
  readsUser,
  env,
  canStartPrograms,
  services,
}: SessionSetup): FeaturePlace => ({
  cwd,
  agentDir,
  env,
  canStartPrograms,
  isTemporary: !readsUser,
  settings: services.settings,
  openAuth: async () => services.auth,
});

/** Late: most sessions have no extensions, and their code is not loaded then. */
async function loadExtensions(params: ExtensionsParams, parts: OpenExtensionsParts) {
  if (parts.features.length === 0 && !hasExtensions(params, parts)) return undefined;
  const { openExtensions } = await import("@tau/extensions/open");
  return await openExtensions(params, parts);
}

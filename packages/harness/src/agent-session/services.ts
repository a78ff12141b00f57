/** What a session is made with when it is not given: settings, models and their keys. */
import { type Clock, getEnvApiKey, type Ids } from "@tau/ai";
import { AuthStorage } from "../auth/auth-storage.ts";
import type { AuthNotice } from "../auth/failure.ts";
import { keyCommands } from "../auth/key-command.ts";
import { resolveKey } from "../auth/key-value.ts";
import { chooseKeyChain } from "../auth/system-key-chain.ts";
import type { AgentSessionParams } from "./params.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { formatFileProblem } from "../file-problem.ts";
import { minSecretLength } from "../observe/secret-forms.ts";
import { openSettings } from "../policy/open-settings.ts";
import { createResourceLoader, type ResourceLoader } from "../resources/resource-loader.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { Owned } from "./owned.ts";

export interface SessionBase {
  cwd: string;
  agentDir: string;
  clock: Clock;
  ids: Ids;
}

export interface Services {
  settings: SettingsManager;
  auth: AuthStorage;
  registry: ModelRegistry;
  resources: ResourceLoader;
  /** Problems with stored credentials: `early` has those before there is a session, which then takes over `report`. */
  authNotices: { readonly early: readonly AuthNotice[]; report: (notice: AuthNotice) => void };
}

/** What is given is used as it is; what is made here ends with the session. */
export async function openServices(params: AgentSessionParams, place: SessionBase, owned: Owned): Promise<Services> {
  const { cwd, agentDir, clock, ids } = place;
  const settings = params.settingsManager ?? (await ownSettings(params, place, owned));
  settings.mustBeWhole();
  const early: AuthNotice[] = [];
  const authNotices: Services["authNotices"] = { early, report: (notice) => void early.push(notice) };
  const auth: AuthStorage =
    params.authStorage ??
    AuthStorage.create(agentDir, {
      clock,
      ids,
      modelsKey: (provider) => registry.modelsKey(provider),
      keyChain: chooseKeyChain(() => settings.get()),
      // Permissions that were corrected are told by `tau auth` and `tau doctor`: no session depends on them.
      onNotice: (notice) => void (notice.kind === "permissions" || authNotices.report(notice)),
    });
  const registry: ModelRegistry = params.modelRegistry ?? (await ownRegistry(params, auth, place, owned));
  const resources =
    params.resourceLoader ??
    (await createResourceLoader({
      cwd,
      agentDir,
      skillPaths: settings.get().skills,
      promptPaths: settings.get().prompts,
      isProjectTrusted: () => settings.isProjectTrusted,
      ...(params.agentName !== undefined && { agentName: params.agentName }),
    }));
  return { settings, auth, registry, resources, authNotices };
}

async function ownSettings(
  { projectTrusted, watch = true }: AgentSessionParams,
  { cwd, agentDir, clock, ids }: SessionBase,
  owned: Owned,
) {
  const trust = projectTrusted === undefined ? {} : { projectTrusted };
  const settings = await openSettings({ cwd, agentDir, ...trust, watch, clock, ids });
  owned.add(() => settings.close());
  return settings;
}

/** What can be used depends on keys, which are asked for often: so they are listed once, and again when models change. */
async function ownRegistry(
  { watch = true }: AgentSessionParams,
  auth: AuthStorage,
  { agentDir, clock }: SessionBase,
  owned: Owned,
) {
  const stored = new Set((await auth.list()).map(({ provider }) => provider));
  const registry = await ModelRegistry.create(agentDir, {
    clock,
    watch,
    hasKey: (provider, written) =>
      written !== undefined || stored.has(provider) || getEnvApiKey(provider) !== undefined,
    resolveValue: async (written) => {
      const value = await resolveKey(written, {
        subject: "a value in models.json",
        env: (name) => process.env[name],
        run: keyCommands,
      });
      return value.kind === "value" ? value.value : undefined;
    },
  });
  owned.add(() => registry.close());
  return registry;
}

/** Every secret that can be told without running anything: a person may type one before it is first used. */
export async function knownSecrets({ auth, registry }: Services): Promise<string[]> {
  const models = registry.getAll();
  const providers = new Set(models.map(({ provider }) => provider));
  const places = [...new Set(models.map(({ baseUrl }) => baseUrl))].filter((url) => URL.canParse(url));
  const passwords = places.map((url) => new URL(url).password);
  const stored = await Promise.all((await auth.list()).map(({ provider }) => auth.get(provider)));
  const written = [...providers].flatMap((provider) => [registry.writtenKey(provider), getEnvApiKey(provider)]);
  const fields = stored.flatMap((credential) => Object.values(credential ?? {}));
  return [...written, ...fields, ...passwords].filter(
    (value): value is string => typeof value === "string" && value.length >= minSecretLength,
  );
}

/** What is wrong with the files that a session is made of, in words. */
export function describeProblems(parts: Services) {
  return [
    ...parts.settings.problems.map((problem) => ({ code: "settings", message: formatFileProblem(problem) })),
    ...parts.authNotices.early.map(({ message }) => ({ code: "auth", message })),
    ...parts.registry.problems.map((problem) => ({ code: "models", message: formatFileProblem(problem) })),
    ...parts.resources.problems.map((problem) => ({ code: "resources", message: formatFileProblem(problem) })),
  ];
}

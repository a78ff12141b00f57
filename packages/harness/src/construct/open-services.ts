/** Opens settings, models, keys and resources, unless the caller passes them. */
import { type Closers, withoutUndefined } from "@tau/ai/internal";
import { type Clock, getEnvApiKey, type Ids } from "@tau/ai";
import { AuthStorage, type AuthNotice, type AuthStorageOptions, chooseKeyChain } from "@tau/config/auth";
import { findPackagePaths, joinLists, keyCommands, resolveKey } from "@tau/config/internal";
import type { AgentSessionParams } from "./params.ts";
import { ModelRegistry, type ModelRegistryOptions, type ModelSettings, type RoleModels } from "@tau/config/models";
import { formatFileProblem, type SettingsManager, withProxySetting } from "@tau/config/settings";
import { HarnessError } from "@tau/protocol";
import { minSecretLength } from "@tau/policy/internal";
import { openSettings } from "@tau/config/trust";
import { createResourceLoader, type ResourceLoader } from "@tau/config/resources";
import { type BaseServices, describeResourceProblems, type Services } from "../agent-session/services.ts";
import type { SessionSources } from "./session-sources.ts";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { SessionManager } from "../session/session-manager.ts";

export interface SessionBase extends SessionSources {
  cwd: string;
  /** The project that the session belongs to. Only children that work elsewhere have another one than `cwd`. */
  projectDirectory: string;
  clock: Clock;
  ids: Ids;
}

/** Uses services that were passed as they are; those that are made here end with the session. */
export async function openServices(
  params: AgentSessionParams,
  base: SessionBase,
  closers: Closers,
): Promise<BaseServices> {
  const { agentDir, readsUser, env, clock, ids } = base;
  const settings = params.settingsManager ?? (await ownSettings(params, base, closers));
  settings.mustBeWhole();
  const early: AuthNotice[] = [];
  const authNotices: BaseServices["authNotices"] = { early, report: (notice) => void early.push(notice) };
  const ownAuth = (): AuthStorage => {
    const options: AuthStorageOptions = {
      clock,
      ids,
      env: withProxySetting(
        (name) => env[name],
        () => settings.get().httpProxy,
      ),
      modelsKey: (provider) => registry.modelsKey(provider),
      getHosts: (provider) => registry.getHosts(provider),
      keyChain: chooseKeyChain(() => settings.get()),
      // Permissions that were corrected are reported by `tau auth` and `tau doctor`: no session depends on them.
      onNotice: (notice) => void (notice.kind === "permissions" || authNotices.report(notice)),
    };
    return readsUser ? AuthStorage.create(agentDir, options) : AuthStorage.inMemory({}, options);
  };
  const auth = params.authStorage ?? ownAuth();
  const registry: ModelRegistry =
    params.modelRegistry ?? (await ownRegistry(params, { auth, settings }, base, closers));
  return { settings, auth, registry, authNotices };
}

/** The resources of the session's agent. A log that has entries says which agent that is. */
export async function openResources(
  params: AgentSessionParams,
  { projectDirectory: cwd, agentDir, readsUser, readsProject, clock }: SessionBase,
  { settings, log }: { settings: SettingsManager; log: SessionManager },
): Promise<ResourceLoader> {
  const { resourceLoader } = params;
  const agentName = chooseAgent(
    log,
    resourceLoader ? (resourceLoader.resources.agent?.name ?? null) : params.agentName,
  );
  if (resourceLoader) return resourceLoader;
  const { watch = readsUser || readsProject, resources } = params;
  try {
    return await createResourceLoader({
      cwd,
      agentDir,
      includeHome: readsUser,
      includeProject: readsProject,
      lists: () => ({ skills: joinLists(settings, "skills"), prompts: joinLists(settings, "prompts") }),
      packagePaths: () => findPackagePaths({ cwd, agentDir, settings }),
      isProjectTrusted: () => settings.checkProjectTrust(),
      watch,
      clock,
      ...resources,
      ...(agentName !== undefined && { agentName }),
    });
  } catch (error) {
    if (!(error instanceof HarnessError) || log.getEntryCount() === 0) throw error;
    throw new HarnessError(error.code, `The session ${log.id} cannot be opened. ${error.message}`, { cause: error });
  }
}

/** A session keeps its agent, so that resuming it never gives it other tools. `wanted` is null for none. */
function chooseAgent(log: SessionManager, wanted: string | null | undefined): string | undefined {
  const { agentName: logged } = log;
  if (log.getEntryCount() === 0) {
    if (typeof wanted === "string") log.setAgentName(wanted);
    return log.agentName;
  }
  if (wanted === undefined || wanted === (logged ?? null)) return logged;
  const has = logged === undefined ? "has no named agent" : `uses the agent ${JSON.stringify(logged)}`;
  const advice = "A session keeps its agent: start a new session, or fork this one.";
  throw new HarnessError("invalid_input", `The session ${log.id} ${has}. ${advice}`);
}

async function ownSettings(
  { projectTrusted, watch, features = [] }: AgentSessionParams,
  { projectDirectory: cwd, agentDir, readsUser, readsProject, clock, ids }: SessionBase,
  closers: Closers,
) {
  // A stored answer is about a project that is used.
  const isTrusted = projectTrusted ?? (readsProject ? undefined : false);
  const settings = await openSettings({
    cwd,
    agentDir,
    scopes: [...(readsUser ? (["global"] as const) : []), ...(readsProject ? (["project"] as const) : [])],
    ...withoutUndefined({ projectTrusted: isTrusted, watch }),
    features,
    clock,
    ids,
  });
  closers.add(() => settings.close());
  return settings;
}

/** Lists the keys once and follows them from then on, because they decide often which models can be used. */
async function ownRegistry(
  { watch = true, roles }: AgentSessionParams,
  { auth, settings }: { auth: AuthStorage; settings: SettingsManager },
  { agentDir, readsUser, env, clock }: SessionBase,
  closers: Closers,
) {
  const known = new Map((await auth.list()).map(({ provider, serves }) => [provider, serves]));
  closers.add(
    auth.subscribe(({ provider, hasCredential, serves }) => {
      if (hasCredential) known.set(provider, serves);
      else known.delete(provider);
    }),
  );
  const getEnv = (name: string) => env[name] || undefined;
  const options: ModelRegistryOptions = {
    clock,
    getSettings: () => (roles ? withRoles(settings.get(), roles) : settings.get()),
    hasKey: (provider, written) =>
      written !== undefined || known.has(provider) || getEnvApiKey(provider, getEnv) !== undefined,
    getServed: (provider) => known.get(provider),
    resolveValue: async (written) => {
      const value = await resolveKey(written, {
        subject: "a value in models.json",
        env: getEnv,
        run: keyCommands,
      });
      return value.kind === "value" ? value.value : undefined;
    },
  };
  const registry = readsUser
    ? await ModelRegistry.create(agentDir, { ...options, env: getEnv, watch })
    : ModelRegistry.inMemory(options);
  closers.add(() => registry.close());
  return registry;
}

/** A model for the role `default` is used instead of the one that the settings name. */
function withRoles({ defaultModel, defaultProvider, roles }: ModelSettings, others: RoleModels): ModelSettings {
  const merged = { ...roles, ...others };
  return Object.hasOwn(others, "default") ? { roles: merged } : { roles: merged, defaultModel, defaultProvider };
}

/** Lists every secret that is known without running anything: a person may type one before it is first used. */
export async function knownSecrets({
  authStorage: auth,
  modelRegistry: registry,
  settings: { apiKeys },
}: Pick<AgentSession, "authStorage" | "modelRegistry" | "settings">): Promise<string[]> {
  const models = registry.getAll();
  const providers = new Set(models.map(({ provider }) => provider));
  const urls = [...new Set(models.map(({ baseUrl }) => baseUrl))].filter((url) => URL.canParse(url));
  const passwords = urls.map((url) => new URL(url).password);
  const stored = await Promise.all((await auth.list()).map(({ provider }) => auth.get(provider)));
  const written = [...providers].flatMap((provider) => [registry.writtenKey(provider), getEnvApiKey(provider)]);
  const listed = [...Object.values(apiKeys), ...registry.modelsYml.apiKeys.values()].flat();
  const fields = stored.flatMap((credential) => Object.values(credential ?? {}));
  return [...written, ...listed, ...fields, ...passwords].filter(
    (value): value is string => typeof value === "string" && value.length >= minSecretLength,
  );
}

/** Describes what is wrong with the files that a session is made of. */
export function listStartProblems(parts: Services) {
  return [
    ...parts.settings.problems.map((problem) => ({ code: "settings", message: formatFileProblem(problem) })),
    ...parts.authNotices.early.map(({ message }) => ({ code: "auth", message })),
    ...parts.registry.problems.map((problem) => ({ code: "models", message: formatFileProblem(problem) })),
    ...describeResourceProblems(parts.resources),
  ];
}

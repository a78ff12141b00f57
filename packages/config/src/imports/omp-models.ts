/** Reads the providers and roles of oh-my-pi. */
import { isRecord } from "@tau/ai/internal";
import { type ModelsYml, parseModelsYml } from "../models/models-yml.ts";
import { createItems, findProviders, isReference, none } from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { toSetting } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";

/**
 * Providers with an address or models go into `models.json`. Everything else of `models.yml` becomes the file of the same name
 * here, without the keys in it: only variables and commands are taken over.
 */
export async function findOmpModels(files: ToolFiles, path: string): Promise<FoundItem[]> {
  const create = createItems("omp", path);
  const text = await files.readText(path);
  if (text === undefined) return [];
  const parsed = await parseModelsYml(text, path);
  if (parsed.kind === "damaged") {
    files.problems.push({ path, reason: "is not valid YAML." });
    return [];
  }
  const value = (await files.readYaml(path)) ?? {};
  const all = Object.entries(isRecord(value["providers"]) ? value["providers"] : {}).map(withCamelCase);
  const described = all.filter(([, provider]) => !hasOnlyReference(provider));
  const references = all.filter(([, provider]) => hasOnlyReference(provider));
  const content = await formatModelsYml(parsed, references);
  const hidden = [...parsed.apiKeys].filter(([, keys]) => keys.some((key) => !isReference(key)));
  return [
    ...findProviders("omp", path, Object.fromEntries(described)),
    ...(content === undefined
      ? []
      : [create("models", "models.yml", { kind: "write", text: content, to: "models.yml" })]),
    ...hidden.map(([provider]) =>
      create("keys", `apiKeys.${provider}`, none("has keys as text: write the names of variables into models.yml")),
    ),
    // The fields of providers are checked when they are added.
    ...parsed.problems
      .filter(({ key = "" }) => !key.startsWith("providers"))
      .map(({ key = "", line, message }) => create("models", key, none(`cannot be used (line ${line}): ${message}`))),
  ];
}

/** The roles of `config.yml`, by name: `provider/id` with an optional thinking level. */
export function findOmpRoles(path: string, roles: unknown): FoundItem[] {
  return Object.entries(isRecord(roles) ? roles : {}).flatMap(([role, value]): FoundItem[] => {
    const name = `modelRoles.${role}`;
    const source = { tool: "omp" as const, path, name };
    const [, provider, model, level] =
      /^([^/]+)\/(.+?)(?::([a-z]+))?$/.exec(typeof value === "string" ? value : "") ?? [];
    if (provider === undefined)
      return [createItems("omp", path)("settings", name, none("does not name a provider and a model"))];
    if (role !== "default") return [toSetting(source, `roles.${role}`, value)];
    return [
      toSetting(source, "defaultProvider", provider),
      toSetting(source, "defaultModel", model),
      ...(level === undefined ? [] : [toSetting(source, "defaultThinkingLevel", level)]),
    ];
  });
}

function withCamelCase([name, provider]: [string, unknown]): [string, unknown] {
  if (!isRecord(provider) || !Object.hasOwn(provider, "api_key")) return [name, provider];
  const { api_key: apiKey, ...others } = provider;
  return [name, { apiKey, ...others }];
}

const hasOnlyReference = (provider: unknown): boolean =>
  isRecord(provider) && Object.keys(provider).join() === "apiKey" && isReference(provider["apiKey"]);

/** The file without what goes elsewhere. Undefined if nothing is left. */
async function formatModelsYml(
  { roles, pathRoles, fallbackChains, apiKeys }: ModelsYml,
  providers: readonly [string, unknown][],
): Promise<string | undefined> {
  const references = [...apiKeys]
    .map(([provider, keys]) => [provider, keys.filter(isReference)] as const)
    .filter(([, keys]) => keys.length > 0);
  const content = {
    ...(providers.length > 0 && {
      providers: Object.fromEntries(
        providers.map(([name, provider]) => [name, { api_key: (provider as { apiKey: string }).apiKey }]),
      ),
    }),
    ...(Object.keys(roles).length > 0 && {
      roles: Object.fromEntries(Object.entries(roles).map(([name, model]) => [name, { model }])),
    }),
    ...(pathRoles.length > 0 && {
      modelRoles: { paths: Object.fromEntries(pathRoles.map(({ pattern, role }) => [pattern, { role }])) },
    }),
    ...(fallbackChains && { retry: { fallbackChains } }),
    ...(references.length > 0 && { apiKeys: Object.fromEntries(references) }),
  };
  if (Object.keys(content).length === 0) return undefined;
  const { stringify } = await import("yaml");
  return stringify(content);
}

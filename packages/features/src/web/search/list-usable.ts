/** The providers that can be used, in their order. Pure. */
import type { Model } from "@tau/ai";
import { type ModelSearch, modelSearches } from "./model-search.ts";
import { searchProviders } from "./providers.ts";
import { searchProviderNames } from "../settings.ts";
import type { ProviderAccess, SearchProvider } from "./query.ts";

export interface UsableProvider {
  readonly kind: "provider";
  readonly provider: SearchProvider;
  readonly access: ProviderAccess;
  /** Whether the user chose it, by a key, an address or the order in the settings: it is not asked about. */
  readonly isChosen: boolean;
  /** Whether the address is the user's, which may be in their own network. */
  readonly isOwnAddress: boolean;
}

/** A model whose provider searches itself. */
export interface UsableModel {
  readonly kind: "model";
  readonly search: ModelSearch;
  readonly model: Model;
}

type UsableSearch = UsableProvider | UsableModel;

/** The name for people. */
export const getTitle = (usable: UsableSearch): string =>
  usable.kind === "model" ? usable.search.title : usable.provider.title;

interface SearchPorts {
  readonly env: (name: string) => string | undefined;
  /** Undefined if there is no model that could search, or no key. */
  readonly findModel: (search: ModelSearch) => Model | undefined;
}

interface SearchSettings {
  readonly providers?: readonly string[] | undefined;
  readonly baseUrls: Readonly<Record<string, string | undefined>>;
}

/** Leaves out those without a key or an address. Without an order in the settings: all, in the order of their table. */
export function listUsable(
  { providers: order, baseUrls }: SearchSettings,
  { env, findModel }: SearchPorts,
): UsableSearch[] {
  return (order ?? searchProviderNames).flatMap((name): UsableSearch[] => {
    const search = modelSearches.find((each) => each.name === name);
    const model = search && findModel(search);
    if (search) return model ? [{ kind: "model", search, model }] : [];
    const provider = searchProviders.find((each) => each.name === name);
    if (!provider) return [];
    const own = baseUrls[provider.name] ?? (provider.baseUrl === undefined ? env("SEARXNG_URL") : undefined);
    const baseUrl = (own ?? provider.baseUrl)?.replace(/\/+$/, "");
    const key = provider.keys.map(env).find((value) => value !== undefined && value !== "") ?? "";
    const extra = provider.extra === undefined ? "" : (env(provider.extra) ?? "");
    if (baseUrl === undefined || !URL.canParse(baseUrl)) return [];
    if ((provider.keys.length > 0 && key === "") || (provider.extra !== undefined && extra === "")) return [];
    const isChosen = key !== "" || own !== undefined || order !== undefined;
    return [{ kind: "provider", provider, access: { baseUrl, key, extra }, isChosen, isOwnAddress: own !== undefined }];
  });
}

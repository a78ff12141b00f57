/** The providers that can be used, in their order. Pure. */
import { searchProviders } from "./providers.ts";
import type { ProviderAccess, SearchProvider } from "./query.ts";

export interface UsableProvider {
  readonly provider: SearchProvider;
  readonly access: ProviderAccess;
  /** Whether the user chose it, by a key, an address or the order in the settings: it is not asked about. */
  readonly isChosen: boolean;
  /** Whether the address is the user's, which may be in their own network. */
  readonly isOwnAddress: boolean;
}

interface SearchSettings {
  readonly providers?: readonly string[] | undefined;
  readonly baseUrls: Readonly<Record<string, string | undefined>>;
}

/** Leaves out those without a key or an address. Without an order in the settings: all, in the order of their table. */
export function listUsable(
  { providers: order, baseUrls }: SearchSettings,
  env: (name: string) => string | undefined,
): UsableProvider[] {
  const all = order?.flatMap((name) => searchProviders.find((provider) => provider.name === name) ?? []);
  return (all ?? searchProviders).flatMap((provider) => {
    const own = baseUrls[provider.name] ?? (provider.baseUrl === undefined ? env("SEARXNG_URL") : undefined);
    const baseUrl = (own ?? provider.baseUrl)?.replace(/\/+$/, "");
    const key = provider.keys.map(env).find((value) => value !== undefined && value !== "") ?? "";
    const extra = provider.extra === undefined ? "" : (env(provider.extra) ?? "");
    if (baseUrl === undefined || !URL.canParse(baseUrl)) return [];
    if ((provider.keys.length > 0 && key === "") || (provider.extra !== undefined && extra === "")) return [];
    const isChosen = key !== "" || own !== undefined || order !== undefined;
    return [{ provider, access: { baseUrl, key, extra }, isChosen, isOwnAddress: own !== undefined }];
  });
}

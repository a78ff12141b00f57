/** The models that there are before `models.json` changes them: the catalogue, what was added to it, and local servers. */
import { getModel, getModels, getProviders, type Model } from "@tau/ai";
import { getUnlistedModel, isRegisteredModel } from "@tau/ai/internal";
import type { StoredCatalogue } from "./catalogue/stored-catalogue.ts";
import type { BaseModels } from "./configured.ts";
import { isLocalProvider, type LocalModels } from "./local-models.ts";

interface BaseSources {
  local: LocalModels;
  /** Models that replace those of the catalogue with the same provider and id. */
  listExtra: () => readonly Model[];
  renewed: StoredCatalogue | undefined;
}

export function createBaseModels({ local, listExtra, renewed }: BaseSources): BaseModels {
  const findRenewed = (provider: string, id: string) =>
    isRegisteredModel(provider, id) ? undefined : renewed?.get(provider).get(id);
  const listCatalogue = (provider: string) => {
    const additions = renewed?.get(provider);
    const listed = getModels(provider);
    if (!additions || additions.size === 0) return listed;
    const others = [...additions.keys()].filter((id) => !listed.some((model) => model.id === id));
    return [
      ...listed.map((model) => findRenewed(provider, model.id) ?? model),
      ...others.map((id) => additions.get(id)!),
    ];
  };
  const list = (provider: string) => {
    const own = listExtra().filter((model) => model.provider === provider);
    const served = local.list(provider);
    if (own.length === 0 && served.length === 0) return listCatalogue(provider);
    const all = [...served, ...listCatalogue(provider), ...own];
    return [...new Map(all.map((model) => [model.id, model])).values()];
  };
  return {
    providers: () => [
      ...new Set([...listExtra().map(({ provider }) => provider), ...getProviders(), ...local.providers()]),
    ],
    list,
    find: (provider, id) =>
      isLocalProvider(provider)
        ? list(provider).find((model) => model.id === id)
        : (listExtra().find((model) => model.provider === provider && model.id === id) ??
          findRenewed(provider, id) ??
          getModel(provider, id)),
    assumed: (provider, id) => (isLocalProvider(provider) ? getModel(provider, id) : undefined),
    unlisted: (provider, id) => (isLocalProvider(provider) ? getModel(provider, id) : getUnlistedModel(provider, id)),
  };
}

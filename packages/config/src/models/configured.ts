/** The models of each provider, changed as `models.json` says. The same call returns the same object. */
import { getApiProvider, getApiProviders, type Model } from "@tau/ai";
import { didYouMean, oncePerPair } from "@tau/ai/internal";
import type { FileProblem } from "../files/file-problem.ts";
import type { ModelsFile } from "./models-file.ts";
import { type BuiltModel, buildModel, findSimilar, overrideModel } from "./overlay.ts";
import type { ModelEntry, ProviderConfig } from "./schema.ts";

/** The models without the file. */
export interface BaseModels {
  /** Every provider that has models. */
  providers(): string[];
  list(provider: string): readonly Model[];
  /** A listed model. */
  find(provider: string, id: string): Model | undefined;
  /** The assumed properties of any model id of a local server. Undefined for other providers. */
  assumed(provider: string, id: string): Model | undefined;
  /** A model that is not listed. Undefined for a provider whose list is complete. */
  unlisted(provider: string, id: string): Model | undefined;
}

const override = oncePerPair(overrideModel);

type DescribeProblem = ModelsFile["describe"];

export class ConfiguredModels {
  readonly #base: BaseModels;
  readonly #configs: ReadonlyMap<string, ProviderConfig>;
  readonly #built = new WeakMap<ModelEntry, { like: Model | undefined; result: BuiltModel }>();

  constructor(base: BaseModels, configs: ReadonlyMap<string, ProviderConfig>) {
    this.#base = base;
    this.#configs = configs;
  }

  providers(): string[] {
    return [...new Set([...this.#base.providers(), ...this.#configs.keys()])];
  }

  listAll(): Model[] {
    return this.providers().flatMap((provider) => this.list(provider));
  }

  list(provider: string): Model[] {
    const base = this.#base.list(provider);
    const config = this.#configs.get(provider);
    if (!config) return [...base];
    const others = config.replacesModels ? [] : base;
    const models = new Map(others.map((model) => [model.id, override(model, config)]));
    for (const entry of config.models ?? []) {
      const result = this.#build(provider, entry, config);
      if (result.kind === "built") models.set(entry.id, result.model);
    }
    return [...models.values()];
  }

  /** Also a model that is not listed, of a local server or of the catalogue, unless `isListed`. */
  find(provider: string, id: string, isListed = false): Model | undefined {
    const config = this.#configs.get(provider);
    const entry = config?.models?.find((each) => each.id === id);
    const described = config && entry ? this.#build(provider, entry, config) : undefined;
    if (described?.kind === "built") return described.model;
    const model = this.#base.find(provider, id) ?? (isListed ? undefined : this.#base.unlisted(provider, id));
    return model && config ? override(model, config) : model;
  }

  /** Entries of the file that have no effect now; the provider, model or API may be added later. */
  problems(describe: DescribeProblem): FileProblem[] {
    return [...this.#configs].flatMap(([provider, config]) => [
      ...this.#emptyProvider(provider, config, describe),
      ...this.#entryProblems(provider, config, describe),
      ...this.#overrideProblems(provider, config, describe),
    ]);
  }

  #build(provider: string, entry: ModelEntry, config: ProviderConfig): BuiltModel {
    const like = findSimilar(entry.id, this.#base.list(provider));
    const known = this.#built.get(entry);
    if (known && known.like === like) return known.result;
    const assumed = this.#base.assumed(provider, entry.id);
    const result = buildModel(entry, config, { provider, like, assumed });
    this.#built.set(entry, { like, result });
    return result;
  }

  #emptyProvider(provider: string, config: ProviderConfig, describe: DescribeProblem): FileProblem[] {
    const { models = [], replacesModels = false, path } = config;
    // One of an extension, which may still look for its models.
    if (replacesModels) return [];
    if (models.length > 0 || this.#base.list(provider).length > 0 || this.#base.assumed(provider, "any")) return [];
    const hint = didYouMean(provider, this.#base.providers());
    const name = JSON.stringify(provider);
    return [describe(path, `There is no provider ${name}, and no models are described for it.${hint}`)];
  }

  #entryProblems(provider: string, config: ProviderConfig, describe: DescribeProblem): FileProblem[] {
    return (config.models ?? []).flatMap((entry) => {
      const name = JSON.stringify(entry.id);
      const result = this.#build(provider, entry, config);
      if (result.kind === "incomplete") {
        const missing = JSON.stringify(result.missing);
        const message = `The model ${name} is ignored: a model of a provider of your own needs ${missing}.`;
        return [describe(entry.path, message)];
      }
      const { api } = result.model;
      if (getApiProvider(api)) return [];
      const known = getApiProviders().map((each) => each.api);
      const hint = didYouMean(api, known) || ` The APIs are ${known.join(", ")}.`;
      return [describe(entry.path, `The model ${name} needs the API ${JSON.stringify(api)}, which is unknown.${hint}`)];
    });
  }

  #overrideProblems(
    provider: string,
    { modelOverrides, path }: ProviderConfig,
    describe: DescribeProblem,
  ): FileProblem[] {
    // The models of a local server are not known before it was asked.
    if (!modelOverrides || this.#base.assumed(provider, "any")) return [];
    const ids = this.#base.list(provider).map(({ id }) => id);
    return [...modelOverrides.keys()]
      .filter((id) => !ids.includes(id))
      .map((id) => {
        const message = `${provider} has no model ${JSON.stringify(id)} to override.${didYouMean(id, ids)}`;
        return describe([...path, "modelOverrides", id], message);
      });
  }
}

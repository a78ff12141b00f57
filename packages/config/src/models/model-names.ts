/** Finds models by what people write: names, parts of names, patterns and roles. */
import type { Model } from "@tau/ai";
import { didYouMean, getRetiredModels, toProviderId, withoutUndefined } from "@tau/ai/internal";
import type { ConfiguredModels } from "./configured.ts";
import { chooseDefault, type DefaultChoice, type DefaultModel, defaultModels } from "./defaults.ts";
import { isLocalProvider, localProviders } from "./local-models.ts";
import { getReference, type ModelResolution, type ResolvePreference, resolveModel, splitThinking } from "./resolve.ts";
import { resolveRoleModel, toRoleOfProvider } from "./resolve-role.ts";
import { type ModelSettings, parseRoleReference, type RoleModels, type RoleReference } from "./roles.ts";
import { type ModelScope, type ScopeProblem, scopeModels } from "./scope.ts";

interface ModelNamesParts {
  /** The models as they are now. */
  getModels: () => ConfiguredModels;
  isUsable: (provider: string) => boolean;
  getRoles: () => RoleModels;
  getSettings: () => ModelSettings;
  providerOrder: readonly string[];
}

export class ModelNames {
  readonly #parts: ModelNamesParts;

  constructor(parts: ModelNamesParts) {
    this.#parts = parts;
  }

  /** See `ModelRegistry.resolve`. */
  resolve(spec: string, provider?: string): ModelResolution {
    const reference = parseRoleReference(spec);
    if (reference) return provider === undefined ? this.#resolveRole(reference) : toRoleOfProvider(spec);
    if (provider !== undefined) return this.#resolveWithin(toProviderId(provider.trim()), spec.trim());
    const text = withCurrentProvider(spec.trim());
    const exact = this.#findReference(text) ?? this.#findReference(splitThinking(text)?.head ?? "");
    return resolveModel(text, exact ? [exact] : this.#models.listAll(), this.#preference);
  }

  /** Finds the available models that match a list of patterns. */
  scope(patterns: readonly string[], available: readonly Model[]): ModelScope {
    const unlisted: ResolvePreference["unlisted"] = (provider, id) =>
      isLocalProvider(provider) ? this.#find(provider, id) : undefined;
    const named = patterns.map((pattern) => this.#replaceRole(pattern));
    const { models, problems } = scopeModels(
      named.flatMap(({ pattern }) => (pattern === undefined ? [] : [withCurrentProvider(pattern)])),
      available,
      { ...this.#preference, unlisted },
    );
    return { models, problems: [...named.flatMap(({ problem }) => problem ?? []), ...problems] };
  }

  /** See `ModelRegistry.defaultModel`. */
  chooseDefault(choice: DefaultChoice): DefaultModel {
    const role = this.#parts.getRoles()["default"];
    const { defaultModel = choice.defaultProvider === undefined && role !== undefined ? "@default" : "" } = choice;
    const { defaultProvider } = choice;
    const isNamed = defaultModel !== "" || defaultProvider !== undefined;
    const named = isNamed ? this.resolve(defaultModel, defaultProvider) : undefined;
    return chooseDefault(() => this.#models.listAll(), named, this.#preference);
  }

  get #models(): ConfiguredModels {
    return this.#parts.getModels();
  }

  #find(provider: string, id: string): Model | undefined {
    return this.#models.find(toProviderId(provider), id);
  }

  get #preference(): ResolvePreference {
    return {
      hasKey: (provider) => this.#parts.isUsable(provider),
      providerOrder: this.#parts.providerOrder,
      unlisted: (provider, id) => this.#find(provider, id),
      getRetired: (id) =>
        getRetiredModels().filter((model) => model.id === id && this.#find(model.provider, id)?.isRetired),
      getDefault: (provider) => defaultModels.get(provider),
    };
  }

  #resolveRole(reference: RoleReference): ModelResolution {
    return resolveRoleModel(reference, {
      roles: this.#parts.getRoles(),
      resolve: (name) => this.resolve(name),
      getDefault: () => {
        const { defaultModel, defaultProvider } = this.#parts.getSettings();
        return this.chooseDefault(withoutUndefined({ defaultModel, defaultProvider }));
      },
      hasKey: (provider) => this.#parts.isUsable(provider),
    });
  }

  /** The model of a role as a pattern. Any other pattern is returned as it is. */
  #replaceRole(pattern: string): { pattern?: string; problem?: ScopeProblem } {
    const reference = parseRoleReference(pattern);
    if (!reference) return { pattern };
    const resolution = this.#resolveRole(reference);
    if (resolution.kind !== "resolved")
      return { problem: { pattern, kind: resolution.kind, message: resolution.message } };
    const { model, thinkingLevel } = resolution;
    return { pattern: `${getReference(model)}${thinkingLevel === undefined ? "" : `:${thinkingLevel}`}` };
  }

  #resolveWithin(name: string, text: string): ModelResolution {
    const known = [...new Set([...this.#models.providers(), ...localProviders])];
    const provider = known.find((each) => each.toLowerCase() === name.toLowerCase());
    if (provider === undefined) {
      const hint = didYouMean(name, known) || ` The providers are: ${known.join(", ")}.`;
      const message = `There is no provider ${JSON.stringify(name)}.${hint}`;
      return { kind: "not_found", nearest: [], message };
    }
    const own = this.#models.list(provider);
    if (text === "" && own.length === 0) {
      const message = `The models of ${provider} are not known. Name one, as in ${provider}/MODEL.`;
      return { kind: "not_found", nearest: [], message };
    }
    const isRepeated = text.toLowerCase().startsWith(`${provider.toLowerCase()}/`);
    const id = isRepeated ? text.slice(provider.length + 1) : text;
    return resolveModel(`${provider}/${id}`, own, this.#preference);
  }

  /** Most references are exact, and then only one provider's models are looked at. */
  #findReference(reference: string): Model | undefined {
    const slash = reference.indexOf("/");
    if (slash <= 0) return undefined;
    return this.#models.find(reference.slice(0, slash), reference.slice(slash + 1), true);
  }
}

/** `provider/id` with the current id of the provider. Any other text is returned as it is. */
function withCurrentProvider(text: string): string {
  const slash = text.indexOf("/");
  return slash > 0 ? `${toProviderId(text.slice(0, slash))}${text.slice(slash)}` : toProviderId(text);
}

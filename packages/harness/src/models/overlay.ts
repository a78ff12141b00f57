/** What `models.json` makes of the models there are. Pure. */
import { type Model, nearestNames } from "@tau/ai";
import type { Compat, ModelEntry, ModelOverride, ProviderConfig } from "./schema.ts";

/** What pi assumes of a model that says nothing about itself. */
const unsaid = {
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 128_000,
  maxTokens: 16_384,
};

/** A value that is what it says. Others are filled in when a request is made, from the environment or by a command. */
export const isLiteral = (written: string): boolean => !written.startsWith("!") && !written.includes("$");

/** An existing model with what its provider and its override say. The model itself when they say nothing. */
export function overridden(model: Model, config: ProviderConfig): Model {
  const override = config.modelOverrides?.get(model.id) ?? {};
  const { baseUrl } = config;
  const headers = literalHeaders(config.headers, override.headers);
  const compat = { ...config.compat, ...override.compat };
  const changes = {
    ...plain(override),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(override.cost && { cost: { ...model.cost, ...override.cost } }),
    ...(override.thinkingLevelMap && { thinkingLevelMap: { ...model.thinkingLevelMap, ...override.thinkingLevelMap } }),
    ...(headers && { headers: { ...model.headers, ...headers } }),
    ...(Object.keys(compat).length > 0 && { compat: { ...model.compat, ...compat } }),
  };
  return Object.keys(changes).length === 0 ? model : freeze({ ...model, ...changes });
}

export type BuiltModel = { kind: "built"; model: Model } | { kind: "incomplete"; missing: "api" | "baseUrl" };

/**
 * A model as the file describes it. Where the file is silent about the API and the address, they are those of
 * `like`, another model of the provider; `assumed` is what a local server's models are taken to be.
 */
export function built(
  entry: ModelEntry,
  config: ProviderConfig,
  known: { provider: string; like: Model | undefined; assumed: Model | undefined },
): BuiltModel {
  const { provider, like, assumed } = known;
  const api = entry.api ?? config.api ?? like?.api ?? assumed?.api;
  const baseUrl = entry.baseUrl ?? config.baseUrl ?? like?.baseUrl ?? assumed?.baseUrl;
  if (api === undefined) return { kind: "incomplete", missing: "api" };
  if (baseUrl === undefined) return { kind: "incomplete", missing: "baseUrl" };
  const headers = literalHeaders(config.headers, entry.headers);
  const compat: Compat = { ...assumed?.compat, ...config.compat, ...entry.compat };
  const model: Model = {
    ...unsaid,
    ...assumed,
    ...plain(entry),
    ...(entry.thinkingLevelMap && { thinkingLevelMap: entry.thinkingLevelMap }),
    cost: { ...unsaid.cost, ...entry.cost },
    id: entry.id,
    name: entry.name ?? entry.id,
    provider,
    api,
    baseUrl,
    ...(headers && { headers }),
    ...(Object.keys(compat).length > 0 && { compat }),
  };
  // A short window with the usual limit would ask for more than there is.
  if (entry.maxTokens === undefined) model.maxTokens = Math.min(model.maxTokens, model.contextWindow);
  return { kind: "built", model: freeze(model) };
}

/** Which of a provider's models another is most like: the one with its name, the nearest name, or the first. */
export function mostLike(id: string, models: readonly Model[]): Model | undefined {
  const same = models.find((model) => model.id === id);
  if (same || models.length === 0) return same;
  const [nearest] = nearestNames(
    id,
    models.map((model) => model.id),
  );
  return models.find((model) => model.id === nearest) ?? models[0];
}

/** Those that a request still has to resolve, as written. */
export function openHeaders(config: ProviderConfig, id: string): Map<string, string> {
  const own = config.models?.find((entry) => entry.id === id) ?? config.modelOverrides?.get(id);
  return new Map([...allHeaders(config.headers, own?.headers)].filter(([, written]) => !isLiteral(written)));
}

function literalHeaders(
  ofProvider: Map<string, string> | undefined,
  own: Map<string, string> | undefined,
): Record<string, string> | undefined {
  const literal = [...allHeaders(ofProvider, own)].filter(([, written]) => isLiteral(written));
  return literal.length === 0 ? undefined : Object.fromEntries(literal);
}

const allHeaders = (ofProvider: Map<string, string> = new Map(), own: Map<string, string> = new Map()) =>
  new Map([...ofProvider, ...own]);

/** The fields that simply take the place of what is there. */
function plain({ name, reasoning, input, contextWindow, maxTokens }: ModelOverride) {
  return {
    ...(name !== undefined && { name }),
    ...(reasoning !== undefined && { reasoning }),
    ...(input !== undefined && input.length > 0 && { input }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

/** Like the models of the catalogue: shared, so that nobody may change them. */
function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) freeze(inner as object);
  return Object.freeze(value);
}

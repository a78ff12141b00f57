/** Applies `models.json` to the existing models. Pure. */
import type { Model, ModelThinkingLevel, SamplingParams } from "@tau/ai";
import { assumedProperties, deepFreeze, nearestNames, withoutUndefined } from "@tau/ai/internal";
import type { Compat, ModelEntry, ModelOverride, ProviderConfig } from "./schema.ts";

/** Whether a value is used as written. Others are resolved for each request, from the environment or by a command. */
export const isLiteral = (written: string): boolean => !written.startsWith("!") && !written.includes("$");

/** An existing model with the changes of its provider and its override. The model itself if there are none. */
export function overrideModel(model: Model, config: ProviderConfig): Model {
  const override = config.modelOverrides?.get(model.id) ?? {};
  const { baseUrl } = config;
  const headers = getLiteralHeaders(config.headers, override.headers);
  const compat = { ...config.compat, ...override.compat };
  const changes = {
    ...getReplacements(override),
    ...mergeSampling(model, override),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(override.cost && { cost: { ...model.cost, ...override.cost } }),
    ...(override.thinkingLevelMap && { thinkingLevelMap: { ...model.thinkingLevelMap, ...override.thinkingLevelMap } }),
    ...(headers && { headers: { ...model.headers, ...headers } }),
    ...(Object.keys(compat).length > 0 && { compat: { ...model.compat, ...compat } }),
  };
  return Object.keys(changes).length === 0 ? model : deepFreeze({ ...model, ...changes });
}

export type BuiltModel = { kind: "built"; model: Model } | { kind: "incomplete"; missing: "api" | "baseUrl" };

/**
 * A model of the file. If the file has no API or address for it, they are those of `like`, another model of the provider;
 * `assumed` has the properties that models of a local server are assumed to have.
 */
export function buildModel(
  entry: ModelEntry,
  config: ProviderConfig,
  known: { provider: string; like: Model | undefined; assumed: Model | undefined },
): BuiltModel {
  const { provider, like, assumed } = known;
  const api = entry.api ?? config.api ?? like?.api ?? assumed?.api;
  const baseUrl = entry.baseUrl ?? config.baseUrl ?? like?.baseUrl ?? assumed?.baseUrl;
  if (api === undefined) return { kind: "incomplete", missing: "api" };
  if (baseUrl === undefined) return { kind: "incomplete", missing: "baseUrl" };
  const headers = getLiteralHeaders(config.headers, entry.headers);
  const compat: Compat = { ...assumed?.compat, ...config.compat, ...entry.compat };
  const model: Model = {
    ...assumedProperties,
    ...assumed,
    ...getReplacements(entry),
    ...mergeSampling({}, entry),
    ...(entry.thinkingLevelMap && { thinkingLevelMap: entry.thinkingLevelMap }),
    cost: { ...assumedProperties.cost, ...entry.cost },
    id: entry.id,
    name: entry.name ?? entry.id,
    provider,
    api,
    baseUrl,
    ...(headers && { headers }),
    ...(Object.keys(compat).length > 0 && { compat }),
  };
  // The default limit may be larger than a small context window.
  if (entry.maxTokens === undefined) model.maxTokens = Math.min(model.maxTokens, model.contextWindow);
  return { kind: "built", model: deepFreeze(model) };
}

/** The model of a provider that is most like a new one: with the same id, the nearest id, or the first. */
export function findSimilar(id: string, models: readonly Model[]): Model | undefined {
  const same = models.find((model) => model.id === id);
  if (same || models.length === 0) return same;
  const [nearest] = nearestNames(
    id,
    models.map((model) => model.id),
  );
  return models.find((model) => model.id === nearest) ?? models[0];
}

/** Headers that have to be resolved for each request, as written. */
export function getUnresolvedHeaders(config: ProviderConfig, id: string): Map<string, string> {
  const own = config.models?.find((entry) => entry.id === id) ?? config.modelOverrides?.get(id);
  return new Map([...mergeHeaders(config.headers, own?.headers)].filter(([, written]) => !isLiteral(written)));
}

function getLiteralHeaders(
  providerHeaders: Map<string, string> | undefined,
  own: Map<string, string> | undefined,
): Record<string, string> | undefined {
  const literal = [...mergeHeaders(providerHeaders, own)].filter(([, written]) => isLiteral(written));
  return literal.length === 0 ? undefined : Object.fromEntries(literal);
}

const mergeHeaders = (providerHeaders: Map<string, string> = new Map(), own: Map<string, string> = new Map()) =>
  new Map([...providerHeaders, ...own]);

/** The fields that replace those of the model. */
const getReplacements = ({ input = [], ...override }: ModelOverride) => {
  const { name, reasoning, contextWindow, maxTokens, inputLimits, promptCache } = override;
  const kinds = input.length > 0 ? input : undefined;
  return withoutUndefined({ name, reasoning, input: kinds, contextWindow, maxTokens, inputLimits, promptCache });
};

/** The sampling fields of both; those of the override replace the model's, level by level and name by name. */
function mergeSampling(model: Partial<Model>, override: ModelOverride): Partial<Model> {
  const { samplingParams, samplingParamsByThinkingLevel: byLevel } = override;
  const levels = Object.entries(byLevel ?? {}) as [ModelThinkingLevel, SamplingParams][];
  const before = model.samplingParamsByThinkingLevel;
  const merged = levels.map(([level, params]) => [level, { ...before?.[level], ...params }] as const);
  return {
    ...(samplingParams && { samplingParams: { ...model.samplingParams, ...samplingParams } }),
    ...(byLevel && { samplingParamsByThinkingLevel: { ...before, ...Object.fromEntries(merged) } }),
  };
}

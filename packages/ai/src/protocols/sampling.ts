/** Request fields that the user sets for a model, such as `top_k`. Only OpenAI-compatible protocols send them. Pure. */
import type { Model, ModelThinkingLevel, SamplingParams } from "../model.ts";
import type { StreamOptions } from "../options.ts";

/** The fields for a thinking level. Those of the request replace those of the level, which replace the model's. */
export function resolveSamplingParams(
  model: Model,
  level: ModelThinkingLevel,
  options: StreamOptions,
): { samplingParams?: SamplingParams } {
  const ofLevel = model.samplingParamsByThinkingLevel?.[level];
  return ofLevel ? { samplingParams: { ...ofLevel, ...options.samplingParams } } : {};
}

/** The fields of a request. They come last in it: they replace fields that are there by another option. */
export const encodeSamplingParams = (model: Model, options: StreamOptions): SamplingParams => ({
  ...model.samplingParams,
  ...options.samplingParams,
});

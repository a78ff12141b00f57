/** Checks the virtual models of extensions, and describes them as models. Pure. */
import type { Model, ModelThinkingLevel } from "@tau/ai";
import { isRecord, thinkingLevels, toProviderId } from "@tau/ai/internal";
import { virtualApi, type VirtualModel } from "../api/virtual-model.ts";
import { ExtensionError } from "../errors.ts";

export const getVirtualName = ({ provider, id }: Pick<Model, "provider" | "id">): string =>
  `${toProviderId(provider)}/${id}`;

/** Throws `invalid_input` for what is not a virtual model. */
export function checkVirtualModel(value: unknown): VirtualModel {
  const model = isRecord(value) ? value : fail("A virtual model needs an object that describes it.");
  for (const field of ["provider", "id", "name"]) {
    const text = model[field];
    if (typeof text !== "string" || text.trim() === "") fail(`A virtual model needs a text as its ${field}.`);
  }
  const name = `the virtual model ${String(model["provider"])}/${String(model["id"])}`;
  if (typeof model["route"] !== "function") fail(`route of ${name} is not a function.`);
  const { thinkingLevels: levels = ["off"], input = [] } = model;
  if (!isListOf(levels, thinkingLevels) || levels.length === 0)
    fail(`thinkingLevels of ${name} is not a list of ${thinkingLevels.join(", ")}.`);
  if (!isListOf(input, ["text", "image"])) fail(`input of ${name} is not a list of text and image.`);
  for (const field of ["contextWindow", "maxTokens"]) {
    const count = model[field] ?? 0;
    if (!Number.isSafeInteger(count) || Number(count) < 0) fail(`${field} of ${name} is not a number of tokens.`);
  }
  return model as unknown as VirtualModel;
}

/** The virtual model as the registry lists it. */
export function toVirtualModel(definition: Omit<VirtualModel, "route">): Model {
  const { provider, id, name, thinkingLevels: offered = ["off"], input, contextWindow = 0, maxTokens = 0 } = definition;
  const missing = thinkingLevels.filter((level) => !offered.includes(level));
  return {
    provider: toProviderId(provider),
    id,
    name,
    api: virtualApi,
    baseUrl: "",
    reasoning: offered.some((level) => level !== "off"),
    thinkingLevelMap: {
      ...Object.fromEntries(offered.map((level) => [level, level])),
      ...Object.fromEntries(missing.map((level) => [level, null])),
    } as Partial<Record<ModelThinkingLevel, string | null>>,
    input: input && input.length > 0 ? [...input] : ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens,
  };
}

const isListOf = (value: unknown, known: readonly string[]): value is string[] =>
  Array.isArray(value) && value.every((item) => known.includes(item as string));

function fail(message: string): never {
  throw new ExtensionError("invalid_input", message);
}

/**
 * Checks facts about models from outside: the file that the built-in catalogue is generated from, and one that renews it.
 * The facts map each provider to a list of models. Pure.
 */
import type { InputLimits, Model } from "@tau/ai";
import { getProviderInfo } from "@tau/ai/internal";
import type { Field, FieldProblem, FieldValues } from "../../fields/field.ts";
import {
  decimal,
  flag,
  jsonObject,
  list,
  map,
  object,
  oneOf,
  optional,
  scalar,
  text,
  transform,
  wholeNumber,
} from "../../fields/kinds.ts";
import { formatFieldProblem } from "../../fields/problem.ts";
import { compatFields, headers, inputLimits, thinkingLevelMap, tokens } from "../schema.ts";

/** A model of the catalogue: its provider is where it is listed. */
export type CatalogueModel = Omit<Model, "provider">;

interface CheckedCatalogue {
  /** By provider. Empty if there are problems. */
  models: ReadonlyMap<string, readonly CatalogueModel[]>;
  /** Sentences about everything that is wrong. */
  problems: string[];
  /** Sentences about what was corrected. */
  notes: string[];
}

/** A text for people and for headers: without control characters. */
const line = scalar({
  expected: "one line of text that is not empty",
  type: "string",
  schema: { type: "string" },
  accepts: (value): value is string => typeof value === "string" && value.trim() !== "" && !/\p{C}/u.test(value),
});

/** A router whose price depends on the model that answers has a negative one, which means that nothing is known. */
const price = transform(decimal({ min: Number.NEGATIVE_INFINITY, unit: "dollars per million tokens" }), (dollars) =>
  Math.max(0, dollars),
);

const rates = { input: price, output: price, cacheRead: price, cacheWrite: price };
const cost = object({
  ...rates,
  tiers: optional(list(object({ inputTokensAbove: wholeNumber({ min: 0, unit: "tokens" }), ...rates }))),
});

const seconds = wholeNumber({ min: 1, unit: "seconds" });

const fields = {
  id: line,
  name: line,
  api: line,
  baseUrl: text,
  reasoning: flag,
  thinkingLevelMap: optional(thinkingLevelMap),
  input: list(oneOf("text", "image")),
  cost,
  contextWindow: tokens,
  maxTokens: tokens,
  headers: optional(headers),
  compat: optional(object({ ...compatFields, allowedFallbackModels: optional(list(jsonObject)) })),
  inputLimits: optional(inputLimits),
  promptCache: optional(object({ short: optional(seconds), long: optional(seconds) })),
};

// The provider is the name of the list, so that a second one is not needed.
const model: Field<FieldValues<typeof fields>> = object(fields, { unused: { provider: "" } });

const isProviderId = (name: string) => /^[a-z0-9][a-z0-9-]*$/.test(name) && name !== "retired";

const facts = map(list(model), {
  refuseName: (name) => (isProviderId(name) ? undefined : "cannot be the name of a provider."),
});

export function checkCatalogue(value: unknown): CheckedCatalogue {
  const fieldProblems: FieldProblem[] = [];
  const providers = facts.read(value, { path: [], report: (problem) => void fieldProblems.push(problem) }) ?? new Map();
  const problems = fieldProblems.map((problem) => formatFieldProblem(problem, { whole: "The catalogue" }));
  const notes: string[] = [];
  const models = new Map<string, CatalogueModel[]>();
  for (const [provider, entries] of providers) {
    const ids = new Set<string>();
    for (const { id } of entries) {
      if (ids.has(id)) problems.push(`${provider}/${id} occurs twice.`);
      ids.add(id);
    }
    models.set(
      provider,
      entries.map((entry: FieldValues<typeof fields>) => toModel(provider, entry, notes)),
    );
  }
  return problems.length > 0 ? { models: new Map(), problems, notes: [] } : { models, problems, notes };
}

function toModel(provider: string, entry: FieldValues<typeof fields>, notes: string[]): CatalogueModel {
  const { headers: written, inputLimits = {}, ...properties } = entry;
  const { maxRequestBytes, images = {} } = inputLimits;
  const limits: InputLimits = {
    ...(maxRequestBytes !== undefined && { maxRequestBytes }),
    ...(Object.keys(images).length > 0 && { images }),
  };
  // The provider's own headers are sent with every request, so that the model does not need them too.
  const known = getProviderInfo(provider)?.headers ?? {};
  const others = Object.entries(Object.fromEntries(written ?? [])).filter(([name, value]) => known[name] !== value);
  const { contextWindow } = entry;
  if (entry.maxTokens > contextWindow) {
    notes.push(
      `${provider}/${entry.id}: maxTokens ${entry.maxTokens} is more than its context; ${contextWindow} is used.`,
    );
  }
  return {
    ...properties,
    maxTokens: Math.min(entry.maxTokens, contextWindow),
    ...(others.length > 0 && { headers: Object.fromEntries(others) }),
    ...(Object.keys(limits).length > 0 && { inputLimits: limits }),
  } as CatalogueModel;
}

/** Prices of OpenAI's service tiers, from its pages about priority and flex processing. Pure. */

/** By the beginning of the model's id, longest first. Other models cost twice as much. */
const priorityFactors: readonly (readonly [string, number])[] = [
  ["gpt-5-mini", 1.8],
  ["gpt-5.5", 2.5],
  ["gpt-4.1", 1.75],
  ["gpt-4o", 1.7],
];

/** Returns the factor of a model's prices. `tier` is the one that served the request, as the answer names it. */
export function getPriceFactor(modelId: string, tier: string | undefined): number {
  if (tier === "flex") return 0.5;
  if (tier !== "priority") return 1;
  return priorityFactors.find(([start]) => modelId.startsWith(start))?.[1] ?? 2;
}

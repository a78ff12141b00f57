/** Which models are cycled through, and in which order. Pure. */

export interface ScopedModel {
  /** `provider/id` */
  name: string;
  provider: string;
  description: string;
}

/** The chosen ones first, in their order. */
export function orderModels(models: readonly ScopedModel[], chosen: readonly string[]): ScopedModel[] {
  const byName = new Map(models.map((model) => [model.name, model]));
  const first = chosen.flatMap((name) => byName.get(name) ?? []);
  return [...first, ...models.filter(({ name }) => !chosen.includes(name))];
}

export const toggleModel = (chosen: readonly string[], name: string): string[] =>
  chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];

/** All of these, or if they are chosen already none of them. */
export function toggleModels(chosen: readonly string[], names: readonly string[]): string[] {
  const rest = names.filter((name) => !chosen.includes(name));
  return rest.length > 0 ? [...chosen, ...rest] : chosen.filter((name) => !names.includes(name));
}

/** A model that is not chosen, or is at the end already, stays where it is. */
export function moveModel(chosen: readonly string[], name: string, step: -1 | 1): string[] {
  const from = chosen.indexOf(name);
  const to = from + step;
  const other = chosen[to];
  if (from === -1 || other === undefined) return [...chosen];
  return chosen.with(to, name).with(from, other);
}

/** Turns single resources of a package on and off. Pure. */
import { filterResources } from "./filter-resources.ts";

/**
 * The list of a package after one of its resources was turned on or off; undefined for no list. `names` are all resources
 * of the kind. Nothing else in the list changes.
 */
export function toggleResource(
  list: readonly string[] | undefined,
  { names, name, isOn }: { names: readonly string[]; name: string; isOn: boolean },
): readonly string[] | undefined {
  const rest = list?.filter((entry) => entry !== `+${name}` && entry !== `-${name}`);
  // An empty list leaves out everything, so a list that is empty only now is no list.
  const before = rest?.length === 0 && list!.length > 0 ? undefined : rest;
  if (filterResources(names, before ? [before] : []).includes(name) === isOn) return before;
  if (before?.length === 0) return [name];
  return [...(before ?? []), `${isOn ? "+" : "-"}${name}`];
}

/** Turns single resources of a package on and off. Pure. */
import { filterResources } from "./filter-resources.ts";

interface Toggle {
  /** All resources of the kind. */
  names: readonly string[];
  name: string;
  isOn: boolean;
  /** Lists that are applied before this one. Default: none. */
  earlier?: readonly (readonly string[])[];
}

/**
 * The list of a package after one of its resources was turned on or off; undefined for no list. Nothing else in the list
 * changes.
 */
export function toggleResource(
  list: readonly string[] | undefined,
  { names, name, isOn, earlier = [] }: Toggle,
): readonly string[] | undefined {
  const rest = list?.filter((entry) => entry !== `+${name}` && entry !== `-${name}`);
  // An empty list leaves out everything, so a list that is empty only now is no list.
  const before = rest?.length === 0 && list!.length > 0 ? undefined : rest;
  if (filterResources(names, before ? [...earlier, before] : earlier).includes(name) === isOn) return before;
  if (before?.length === 0) return [name];
  return [...(before ?? []), `${isOn ? "+" : "-"}${name}`];
}

/**
 * Whether a pattern matches a whole list. A part for which `isMany` is true matches any number of items. Takes time that is
 * bounded by the product of the two lengths: after a mismatch only the last wildcard needs to match more, because earlier
 * ones that match little leave the most to the rest.
 */
export function matchWildcards<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  isMany: (part: Part) => boolean,
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let [index, taken] = [0, 0];
  let [lastMany, takenByMany] = [-1, 0];
  while (taken < items.length) {
    if (index < pattern.length && isMany(pattern[index]!)) {
      lastMany = index++;
      takenByMany = taken;
    } else if (index < pattern.length && fits(pattern[index]!, items[taken]!)) {
      index++;
      taken++;
    } else if (lastMany >= 0) {
      index = lastMany + 1;
      taken = ++takenByMany;
    } else return false;
  }
  while (index < pattern.length && isMany(pattern[index]!)) index++;
  return index === pattern.length;
}

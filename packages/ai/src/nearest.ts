/** Finds names similar to a mistyped one, for "did you mean" hints. Pure. */

const maxNames = 3;

/**
 * Up to three names similar to `wanted`, the most similar first. By default an edit distance of 40% of the length is
 * allowed: enough for a missing date or a typo, too little for an unrelated word. Names that differ only in upper and lower
 * case are the only ones.
 */
export function nearestNames(
  wanted: string,
  names: readonly string[],
  maxDistance: number = Math.max(2, Math.floor(wanted.length * 0.4)),
): string[] {
  const lowerCase = wanted.toLowerCase();
  const same = names.filter((name) => name.toLowerCase() === lowerCase);
  if (same.length > 0) return same.slice(0, maxNames);
  return names
    .filter((name) => isPossible(wanted, name, maxDistance))
    .map((name) => ({ name, distance: getDistance(lowerCase, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, maxNames)
    .map(({ name }) => name);
}

/** ` Did you mean "a" or "b"?`, or an empty string if no name is similar. */
export function didYouMean(wanted: string, names: readonly string[]): string {
  const nearest = nearestNames(wanted, names).map((name) => JSON.stringify(name));
  return nearest.length === 0 ? "" : ` Did you mean ${nearest.join(" or ")}?`;
}

/** Each character that is too much is one edit. Without this check, a very long text is compared with every name for minutes. */
const isPossible = (wanted: string, name: string, maxDistance: number) => wanted.length - name.length <= maxDistance;

/** A substring of a name counts as one edit. */
const getDistance = (wanted: string, name: string) =>
  wanted.length > 2 && name.includes(wanted) ? 1 : getEditDistance(wanted, name);

/** The number of insertions, deletions, substitutions and swaps of neighbouring letters. */
function getEditDistance(a: string, b: string): number {
  let previousRow: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_unused, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? previousRow[j - 2]! + 1 : substituted;
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1, swapped));
    }
    [previousRow, row] = [row, next];
  }
  return row[b.length]!;
}

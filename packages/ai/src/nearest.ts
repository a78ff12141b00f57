/** Finds what somebody may have meant. Pure. */

/** The most that help; more is a list, not a hint. */
const maxNames = 3;

/**
 * Up to three names that are like `wanted`, the likeliest first; none when nothing is close. By default two fifths of the
 * letters may be wrong: enough for a missing date or a typo, too few for another word.
 */
export function nearestNames(
  wanted: string,
  names: readonly string[],
  farthest: number = Math.max(2, Math.floor(wanted.length * 0.4)),
): string[] {
  const plain = wanted.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceTo(plain, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= farthest)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, maxNames)
    .map(({ name }) => name);
}

/** ` Did you mean "a" or "b"?`, or nothing. */
export function didYouMean(wanted: string, names: readonly string[]): string {
  const nearest = nearestNames(wanted, names).map((name) => JSON.stringify(name));
  return nearest.length === 0 ? "" : ` Did you mean ${nearest.join(" or ")}?`;
}

/** Part of a name is as good as a small typo. */
const distanceTo = (wanted: string, name: string) =>
  wanted.length > 2 && name.includes(wanted) ? 1 : editDistance(wanted, name);

/** How many letters have to be added, removed or changed, or change places with the next. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_unused, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1, isSwap ? before[j - 2]! + 1 : changed));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

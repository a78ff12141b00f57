/** Finds the items of two lists that belong together for certain: those that every shortest diff keeps. Pure. */

/** The steps, of some nanoseconds, that all comparisons together may still take. */
export interface Effort {
  steps: number;
}

/**
 * For each item of `a` its index in `b`, or -1 where none or more than one is possible. Items are small numbers from 0
 * on. Undefined when that would take more effort than is left.
 */
export function unambiguousMatches(a: Int32Array, b: Int32Array, effort: Effort): Int32Array | undefined {
  const [here, there] = [common(a, b), common(b, a)];
  const pick = (list: Int32Array, index: Int32Array) => index.map((position) => list[position]!);
  const kept = forcedSteps(pick(a, here), pick(b, there), effort);
  if (!kept) return undefined;
  const positions = new Int32Array(a.length).fill(-1);
  for (let x = 0; x < here.length; x++) if (kept[x]! >= 0) positions[here[x]!] = there[kept[x]!]!;
  return positions;
}

/** The indices of the items that the other list has too. Every diff removes or inserts all others. */
function common(list: Int32Array, other: Int32Array): Int32Array {
  const isKnown = new Uint8Array(other.reduce((max, item) => Math.max(max, item), 0) + 1);
  for (let index = 0; index < other.length; index++) isKnown[other[index]!] = 1;
  const positions = new Int32Array(list.length);
  let count = 0;
  for (let index = 0; index < list.length; index++) if (isKnown[list[index]!]) positions[count++] = index;
  return positions.subarray(0, count);
}

/**
 * A diff is a path over a grid, from (0, 0) to (a.length, b.length): right removes an item, down inserts one, diagonally
 * keeps one. The distances of a point on a shortest path from both ends add up to the whole. Where a single point has a
 * given x + y, and none has x + y one larger, every shortest path keeps the item there. Returns as `unambiguousMatches`.
 */
function forcedSteps(a: Int32Array, b: Int32Array, effort: Effort): Int32Array | undefined {
  // Mostly nothing was moved: the items that both lists have are then the same list.
  if (a.length === b.length && a.every((item, index) => item === b[index])) return a.map((_item, index) => index);
  const forth = reach(a, b, effort);
  const back = forth && reach(a.toReversed(), b.toReversed(), effort);
  if (!forth || !back) return undefined;
  const distance = forth.length - 1;
  const last = a.length + b.length;
  /** By x + y, as differences to the entry two before: how many points, and the sum of their diagonals x - y. */
  const points = new Int32Array(last + 4);
  const diagonals = new Int32Array(last + 4);
  for (let taken = 0; taken <= distance; taken++) {
    const rest = distance - taken;
    for (let index = 0; index <= taken; index++) {
      const diagonal = 2 * index - taken;
      const mirrored = (a.length - b.length - diagonal + rest) / 2;
      if (mirrored < 0 || mirrored > rest) continue;
      const from = Math.max(0, diagonal, a.length - back[rest]![mirrored]!);
      const to = Math.min(a.length, b.length + diagonal, forth[taken]![index]!);
      if (from > to) continue;
      points[2 * from - diagonal]! += 1;
      points[2 * to - diagonal + 2]! -= 1;
      diagonals[2 * from - diagonal]! += diagonal;
      diagonals[2 * to - diagonal + 2]! -= diagonal;
    }
  }
  for (let sum = 2; sum <= last + 1; sum++) {
    points[sum]! += points[sum - 2]!;
    diagonals[sum]! += diagonals[sum - 2]!;
  }
  const kept = new Int32Array(a.length).fill(-1);
  for (let sum = 0; sum < last; sum++) {
    if (points[sum] !== 1 || points[sum + 1] !== 0) continue;
    const diagonal = diagonals[sum]!;
    kept[(sum + diagonal) / 2] = (sum - diagonal) / 2;
  }
  return kept;
}

/**
 * The furthest points (Myers, 1986): entry `[d][i]` is the largest x that `d` steps, diagonals not counted, reach on the
 * diagonal x - y = 2i - d. The last entry is the first that reaches the far corner.
 */
function reach(a: Int32Array, b: Int32Array, effort: Effort): Int32Array[] | undefined {
  const [right, bottom] = [a.length, b.length];
  const levels: Int32Array[] = [];
  let before = new Int32Array(1);
  for (let d = 0; effort.steps > 0; d++) {
    const level = new Int32Array(d + 1);
    levels.push(level);
    let kept = 0;
    for (let index = 0, diagonal = -d; index <= d; index++, diagonal += 2) {
      const from = Math.max(index < d ? before[index]! : 0, index > 0 ? before[index - 1]! + 1 : 0);
      let x = from;
      while (x < right && x - diagonal < bottom && a[x] === b[x - diagonal]) x++;
      kept += x - from;
      level[index] = x;
      if (x >= right && x - diagonal >= bottom) return levels;
    }
    effort.steps -= d + 1 + kept;
    before = level;
  }
  return undefined;
}

/** Which items of two lists belong together for certain: those that every shortest way from one to the other keeps. Pure. */

/** What comparisons may still cost, all together, in steps of some nanoseconds. */
export interface Effort {
  steps: number;
}

/**
 * For each item of `a` its place in `b`, or -1 where no place or more than one is possible. Items are small numbers from
 * 0 on. Undefined when to find out would take more effort than is left.
 */
export function certainMatches(a: Int32Array, b: Int32Array, effort: Effort): Int32Array | undefined {
  const [here, there] = [common(a, b), common(b, a)];
  const pick = (list: Int32Array, at: Int32Array) => at.map((place) => list[place]!);
  const kept = forcedSteps(pick(a, here), pick(b, there), effort);
  if (!kept) return undefined;
  const places = new Int32Array(a.length).fill(-1);
  for (let x = 0; x < here.length; x++) if (kept[x]! >= 0) places[here[x]!] = there[kept[x]!]!;
  return places;
}

/** Where the items stand that the other list has too. All others are taken out or put in whatever the way. */
function common(list: Int32Array, other: Int32Array): Int32Array {
  const isKnown = new Uint8Array(other.reduce((most, item) => Math.max(most, item), 0) + 1);
  for (let at = 0; at < other.length; at++) isKnown[other[at]!] = 1;
  const places = new Int32Array(list.length);
  let count = 0;
  for (let at = 0; at < list.length; at++) if (isKnown[list[at]!]) places[count++] = at;
  return places.subarray(0, count);
}

/**
 * Ways lead over a grid, from (0, 0) to (a.length, b.length): right takes an item out, down puts one in, diagonally
 * keeps one. Points on a shortest way have distances from both ends that add up to the whole. Where all of them that
 * are equally far from the corner are a single one, and none is half a diagonal further, every shortest way keeps the
 * item there. Returns as `certainMatches`.
 */
function forcedSteps(a: Int32Array, b: Int32Array, effort: Effort): Int32Array | undefined {
  // Mostly nobody moved anything: what is in both lists is then the same list.
  if (a.length === b.length && a.every((item, at) => item === b[at])) return a.map((_item, at) => at);
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
    for (let at = 0; at <= taken; at++) {
      const diagonal = 2 * at - taken;
      const mirrored = (a.length - b.length - diagonal + rest) / 2;
      if (mirrored < 0 || mirrored > rest) continue;
      const from = Math.max(0, diagonal, a.length - back[rest]![mirrored]!);
      const to = Math.min(a.length, b.length + diagonal, forth[taken]![at]!);
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
 * How far one gets (Myers, 1986): entry `[d][i]` is the largest x that `d` steps, diagonals not counted, reach on the
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
    for (let at = 0, diagonal = -d; at <= d; at++, diagonal += 2) {
      const from = Math.max(at < d ? before[at]! : 0, at > 0 ? before[at - 1]! + 1 : 0);
      let x = from;
      while (x < right && x - diagonal < bottom && a[x] === b[x - diagonal]) x++;
      kept += x - from;
      level[at] = x;
      if (x >= right && x - diagonal >= bottom) return levels;
    }
    effort.steps -= d + 1 + kept;
    before = level;
  }
  return undefined;
}

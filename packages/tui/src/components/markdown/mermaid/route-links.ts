/** Decides on which tracks the lines between two ranks run. Pure. */

/** A line from a cell of one rank to a cell of the next. */
export interface Link {
  /** The names of its ends. Lines with an end of the same name belong together there. */
  readonly from: string;
  readonly to: string;
  /** The cells in which it begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** Lines that share a track, because they share an end. */
interface Bundle {
  readonly starts: Set<number>;
  readonly ends: Set<number>;
  readonly links: number[];
}

interface Routes {
  /** By link; undefined for one that needs none, because it is straight. */
  readonly tracks: readonly (number | undefined)[];
  readonly trackCount: number;
}

/** Undefined if two lines would run over each other, so that nobody could tell them apart. */
export function routeLinks(links: readonly Link[]): Routes | undefined {
  const bundles = bundle(links);
  const order = sortBundles(bundles);
  if (!order) return undefined;
  const tracks: (number | undefined)[] = links.map(() => undefined);
  const placed: { bundle: Bundle; track: number }[] = [];
  for (const current of order) {
    const blocked = placed.filter((other) => isBefore(other.bundle, current)).map(({ track }) => track + 1);
    let track = Math.max(0, ...blocked);
    while (placed.some((other) => other.track === track && overlap(other.bundle, current))) track++;
    placed.push({ bundle: current, track });
    for (const link of current.links) tracks[link] = track;
  }
  return { tracks, trackCount: Math.max(0, ...placed.map(({ track }) => track + 1)) };
}

function bundle(links: readonly Link[]): Bundle[] {
  const counts = new Map<string, number>();
  for (const { from } of links) counts.set(from, (counts.get(from) ?? 0) + 1);
  const bundles = new Map<string, Bundle>();
  for (const [index, { from, to, start, end }] of links.entries()) {
    if (start === end) continue;
    const name = (counts.get(from) ?? 0) > 1 ? `from ${from}` : `to ${to}`;
    const known = bundles.get(name) ?? { starts: new Set(), ends: new Set(), links: [] };
    bundles.set(name, known);
    known.starts.add(start);
    known.ends.add(end);
    known.links.push(index);
  }
  return [...bundles.values()];
}

/** Where one begins and the other ends, the first has to leave before the other arrives. */
const isBefore = (first: Bundle, second: Bundle): boolean =>
  first !== second && [...first.starts].some((start) => second.ends.has(start));

function overlap(a: Bundle, b: Bundle): boolean {
  const [aCells, bCells] = [a, b].map(({ starts, ends }) => [...starts, ...ends]) as [number[], number[]];
  return Math.min(...aCells) <= Math.max(...bCells) && Math.min(...bCells) <= Math.max(...aCells);
}

function sortBundles(bundles: readonly Bundle[]): Bundle[] | undefined {
  const rest = new Set(bundles);
  const sorted: Bundle[] = [];
  while (rest.size > 0) {
    const next = [...rest].find((candidate) => ![...rest].some((other) => isBefore(other, candidate)));
    if (!next) return undefined;
    rest.delete(next);
    sorted.push(next);
  }
  return sorted;
}

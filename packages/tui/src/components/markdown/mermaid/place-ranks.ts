/** Decides where the nodes of each rank are, side by side. Pure. */
import type { RankedGraph } from "./rank-graph.ts";

interface PlaceOptions {
  /** By node: how many cells it needs beside its neighbors. */
  readonly sizes: readonly number[];
  /** Free cells between two neighbors. */
  readonly gap: number;
}

const passCount = 12;

/** The first cell of each node, by node. The smallest is 0. */
export function placeRanks({ ranks, edges }: RankedGraph, { sizes, gap }: PlaceOptions): number[] {
  const above = new Map<number, number[]>();
  const below = new Map<number, number[]>();
  for (const { path } of edges) {
    for (const [index, node] of path.slice(1).entries()) {
      const previous = path[index] ?? 0;
      above.set(node, [...(above.get(node) ?? []), previous]);
      below.set(previous, [...(below.get(previous) ?? []), node]);
    }
  }
  const centers = new Map<number, number>();
  const place = (rank: readonly number[], getWish: (node: number) => number | undefined) => {
    const sized = rank.map((node) => ({ size: sizes[node] ?? 1, wish: getWish(node) ?? centers.get(node) ?? 0 }));
    for (const [index, center] of spread(sized, gap).entries()) centers.set(rank[index] ?? 0, center);
  };
  const getMean = (neighbors: ReadonlyMap<number, readonly number[]>) => (node: number) => {
    const known = neighbors.get(node)?.map((neighbor) => centers.get(neighbor) ?? 0) ?? [];
    return known.length === 0 ? undefined : known.reduce((sum, center) => sum + center, 0) / known.length;
  };
  for (const rank of ranks) place(rank, getMean(above));
  for (let pass = 0; pass < passCount; pass++) {
    if (pass % 2 === 0) for (const rank of ranks.toReversed()) place(rank, getMean(below));
    else for (const rank of ranks) place(rank, getMean(above));
  }
  return toCells(ranks, centers, { sizes, gap });
}

interface Sized {
  readonly size: number;
  /** The center that it would like to have. */
  readonly wish: number;
}

/** The centers that are nearest to the wishes, in this order and without overlaps. */
function spread(nodes: readonly Sized[], gap: number): number[] {
  let offset = 0;
  const offsets = nodes.map(({ size }, index) => {
    if (index > 0) offset += ((nodes[index - 1]?.size ?? 0) + size) / 2 + gap;
    return offset;
  });
  // Without the offsets the centers only have to be in order: neighbors that are not are moved together.
  const blocks: { sum: number; count: number }[] = [];
  for (const [index, { wish }] of nodes.entries()) {
    let block = { sum: wish - (offsets[index] ?? 0), count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count > block.sum / block.count; last = blocks.at(-1)) {
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  const bases = blocks.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return bases.map((base, index) => base + (offsets[index] ?? 0));
}

/** Rounds to whole cells, which may need more room than the centers did. */
function toCells(
  ranks: readonly (readonly number[])[],
  centers: ReadonlyMap<number, number>,
  { sizes, gap }: PlaceOptions,
): number[] {
  const starts: number[] = [];
  for (const rank of ranks) {
    let free = Number.NEGATIVE_INFINITY;
    for (const node of rank) {
      const size = sizes[node] ?? 1;
      const start = Math.max(free, Math.round((centers.get(node) ?? 0) - (size - 1) / 2));
      starts[node] = start;
      free = start + size + gap;
    }
  }
  const first = Math.min(...starts);
  return starts.map((start) => start - first);
}

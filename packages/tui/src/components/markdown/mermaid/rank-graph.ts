/** Puts the nodes of a graph into ranks, so that every edge leads from one rank to a later one. Pure. */

interface RankedEdge {
  /** The index of the edge. */
  readonly edge: number;
  /** The nodes that it passes, one in each rank: the first and the last are its ends, the others are places on the way. */
  readonly path: readonly number[];
  /** Whether the path leads from the end of the edge to its start. */
  readonly isReversed: boolean;
  /** The node on the path that has the label. */
  readonly labelNode: number | undefined;
}

export interface RankedGraph {
  /** Nodes, in the order in which they are drawn. Places on the way are numbered after the nodes of the graph. */
  readonly ranks: readonly (readonly number[])[];
  readonly edges: readonly RankedEdge[];
}

interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly hasLabel: boolean;
}

interface Arc {
  readonly edge: number;
  readonly from: number;
  readonly to: number;
  readonly length: number;
  readonly isReversed: boolean;
}

const sweepCount = 12;

/** More places on the way of edges would take seconds to order, and nobody could follow such lines. */
const maxPlaces = 500;

/** Edges from a node to itself are left out. Undefined for a graph whose edges pass too many ranks. */
export function rankGraph(nodeCount: number, edges: readonly GraphEdge[]): RankedGraph | undefined {
  const arcs = toArcs(nodeCount, edges);
  const rankOf = findRanks(nodeCount, arcs);
  const places = arcs.reduce((sum, { from, to }) => sum + (rankOf[to] ?? 0) - (rankOf[from] ?? 0) - 1, 0);
  if (places > maxPlaces) return undefined;
  const ranks: number[][] = Array.from({ length: Math.max(0, ...rankOf) + 1 }, () => []);
  for (let node = 0; node < nodeCount; node++) ranks[rankOf[node] ?? 0]?.push(node);
  let next = nodeCount;
  const ranked = arcs.map(({ edge, from, to, isReversed }): RankedEdge => {
    const start = rankOf[from] ?? 0;
    const end = rankOf[to] ?? 0;
    const path = [from];
    for (let rank = start + 1; rank < end; rank++) {
      path.push(next);
      ranks[rank]?.push(next++);
    }
    path.push(to);
    const labelNode = edges[edge]?.hasLabel ? path[Math.floor(path.length / 2)] : undefined;
    return { edge, path, isReversed, labelNode };
  });
  return { ranks: orderRanks(ranks, ranked), edges: ranked };
}

/** Turns edges that close a circle. An edge with a label is long enough for a place that has the label. */
function toArcs(nodeCount: number, edges: readonly GraphEdge[]): Arc[] {
  const outgoing: number[][] = Array.from({ length: nodeCount }, () => []);
  for (const [index, { from, to }] of edges.entries()) if (from !== to) outgoing[from]?.push(index);
  const state: ("open" | "done" | undefined)[] = [];
  const reversed = new Set<number>();
  for (let root = 0; root < nodeCount; root++) {
    const stack = state[root] === undefined ? [{ node: root, next: 0 }] : [];
    if (stack.length > 0) state[root] = "open";
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const index = outgoing[top.node]?.[top.next++];
      if (index === undefined) {
        state[top.node] = "done";
        stack.pop();
        continue;
      }
      const to = edges[index]?.to ?? 0;
      if (state[to] === "open") reversed.add(index);
      else if (state[to] === undefined) {
        state[to] = "open";
        stack.push({ node: to, next: 0 });
      }
    }
  }
  return edges.flatMap(({ from, to, hasLabel }, edge) => {
    if (from === to) return [];
    const isReversed = reversed.has(edge);
    const ends = isReversed ? { from: to, to: from } : { from, to };
    return [{ edge, ...ends, length: hasLabel ? 2 : 1, isReversed }];
  });
}

/** The longest way to each node. What only leads away is put right before what it leads to. */
function findRanks(nodeCount: number, arcs: readonly Arc[]): number[] {
  const ranks = Array.from({ length: nodeCount }, () => 0);
  // There is no circle, so that every pass but the last moves a node for good.
  for (let isMoving = true; isMoving;) {
    isMoving = false;
    for (const { from, to, length } of arcs) {
      const rank = (ranks[from] ?? 0) + length;
      if ((ranks[to] ?? 0) >= rank) continue;
      ranks[to] = rank;
      isMoving = true;
    }
  }
  const targets = new Set(arcs.map(({ to }) => to));
  for (let node = 0; node < nodeCount; node++) {
    const lengths = arcs.flatMap(({ from, to, length }) => (from === node ? [(ranks[to] ?? 0) - length] : []));
    if (!targets.has(node) && lengths.length > 0) ranks[node] = Math.min(...lengths);
  }
  return ranks;
}

/** Orders each rank by the places of its neighbors, and takes the order with the fewest crossings. */
function orderRanks(ranks: readonly (readonly number[])[], edges: readonly RankedEdge[]): number[][] {
  const above = new Map<number, number[]>();
  const below = new Map<number, number[]>();
  const add = (map: Map<number, number[]>, key: number, value: number) =>
    void (map.get(key)?.push(value) ?? map.set(key, [value]));
  for (const { path } of edges) {
    for (const [index, node] of path.slice(1).entries()) {
      add(above, node, path[index] ?? 0);
      add(below, path[index] ?? 0, node);
    }
  }
  let current = ranks.map((rank) => [...rank]);
  let best = current;
  let fewest = countCrossings(current, below);
  for (let sweep = 0; sweep < sweepCount && fewest > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    const order = isDown ? current : current.toReversed();
    const neighbors = isDown ? above : below;
    let previous: readonly number[] = [];
    const sorted = order.map((rank) => (previous = sortByNeighbors(rank, previous, neighbors)) as number[]);
    current = isDown ? sorted : sorted.toReversed();
    const crossings = countCrossings(current, below);
    if (crossings >= fewest) continue;
    best = current;
    fewest = crossings;
  }
  return best;
}

function sortByNeighbors(
  rank: readonly number[],
  previous: readonly number[],
  neighbors: ReadonlyMap<number, readonly number[]>,
): number[] {
  const places = new Map(previous.map((node, index) => [node, index]));
  const keyed = rank.map((node, index) => {
    const known = (neighbors.get(node) ?? []).flatMap((neighbor) => places.get(neighbor) ?? []);
    const mean = known.reduce((sum, place) => sum + place, 0) / known.length;
    return { node, key: known.length === 0 ? index : mean };
  });
  return keyed.toSorted((a, b) => a.key - b.key).map(({ node }) => node);
}

function countCrossings(ranks: readonly (readonly number[])[], below: ReadonlyMap<number, readonly number[]>): number {
  let count = 0;
  for (const [index, rank] of ranks.entries()) {
    const places = new Map(ranks[index + 1]?.map((node, place) => [node, place]));
    const ends = rank.map((node) => (below.get(node) ?? []).flatMap((target) => places.get(target) ?? []));
    for (const [left, leftEnds] of ends.entries()) {
      for (const rightEnds of ends.slice(left + 1)) {
        for (const a of leftEnds) for (const b of rightEnds) if (a > b) count++;
      }
    }
  }
  return count;
}

/** The tree of a session as rows: which entries are listed, in which order, and how they hang together. Pure. */

/** An entry of a tree, with what a surface shows of it. */
export interface TreeItem {
  readonly id: string;
  /** The entry before it, shown or not; null for a root. */
  readonly parentId: string | null;
}

export interface TreeNode<Item extends TreeItem> {
  readonly item: Item;
  /** Its index in `Tree.nodes`; -1 for a root. */
  readonly parent: number;
}

export interface Tree<Item extends TreeItem> {
  /** Parents before their children; the branch that is shown comes first. */
  readonly nodes: readonly TreeNode<Item>[];
  readonly indexes: ReadonlyMap<string, number>;
  /** The indexes of the branch that is shown. */
  readonly current: ReadonlySet<number>;
  readonly leafId: string | null;
}

export interface TreeRow<Item extends TreeItem> {
  readonly item: Item;
  /** The index in `Tree.nodes`. */
  readonly index: number;
  /** The row above it in the tree; -1 for a root. */
  readonly parent: number;
  /** The row that begins its part of the branch: it or one of its parents. */
  readonly segment: number;
  /** Whether it begins a part of a branch: a root, or one of several children. */
  readonly isStart: boolean;
  readonly isLast: boolean;
  /** How many times a branch beside the first one was taken on the way to it. */
  readonly depth: number;
  readonly isFolded: boolean;
  /** How many rows hang on it, if it is not folded. */
  readonly childCount: number;
}

/**
 * Orders entries, which are listed as they were written. Entries whose parent is missing are roots. There is no recursion,
 * because a conversation is one long chain.
 */
export function createTree<Item extends TreeItem>(items: readonly Item[], leafId: string | null): Tree<Item> {
  const byId = new Map(items.map((item) => [item.id, item]));
  const branch = findBranch(byId, leafId);
  const children = new Map<string | null, Item[]>();
  for (const item of items) {
    const parentId = item.parentId !== null && byId.has(item.parentId) ? item.parentId : null;
    const siblings = children.get(parentId);
    if (siblings) siblings.push(item);
    else children.set(parentId, [item]);
  }
  const nodes: TreeNode<Item>[] = [];
  const indexes = new Map<string, number>();
  const current = new Set<number>();
  /** The next one to be taken is the last; it is the one of the branch that is shown. */
  const waiting: TreeNode<Item>[] = [];
  const wait = (below: readonly Item[] = [], parent: number) => {
    const ordered = below.toSorted((a, b) => Number(branch.has(b.id)) - Number(branch.has(a.id)));
    for (const item of ordered.toReversed()) waiting.push({ item, parent });
  };
  wait(children.get(null), -1);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const index = nodes.push(node) - 1;
    const { id } = node.item;
    indexes.set(id, index);
    if (branch.has(id)) current.add(index);
    wait(children.get(id), index);
  }
  return { nodes, indexes, current, leafId };
}

/** The ids from the leaf up to the root. */
function findBranch(byId: ReadonlyMap<string, TreeItem>, leafId: string | null): Set<string> {
  const branch = new Set<string>();
  for (let item = byId.get(leafId ?? ""); item && !branch.has(item.id); item = byId.get(item.parentId ?? ""))
    branch.add(item.id);
  return branch;
}

export interface RowOptions<Item extends TreeItem> {
  isShown: (item: Item) => boolean;
  /** The ids of the entries that are folded. Default: none. */
  folded?: ReadonlySet<string>;
}

/** Lists the rows. An entry that is not shown is left out, and its children hang on the next one above it. */
export function listTreeRows<Item extends TreeItem>(
  { nodes }: Tree<Item>,
  { isShown, folded = new Set() }: RowOptions<Item>,
): TreeRow<Item>[] {
  const shown = nodes.map(({ item }) => isShown(item));
  /** The nearest shown node above each, and its first and last child and their number. */
  const above: number[] = [];
  const below = new Map<number, { first: number; last: number; count: number }>();
  for (const [index, { parent }] of nodes.entries()) {
    above[index] = parent === -1 ? -1 : shown[parent] ? parent : above[parent]!;
    if (!shown[index]) continue;
    const children = below.get(above[index]);
    if (!children) below.set(above[index], { first: index, last: index, count: 1 });
    else below.set(above[index], { ...children, last: index, count: children.count + 1 });
  }
  const rows: TreeRow<Item>[] = [];
  const positions = new Map<number, number>();
  for (const [index, { item }] of nodes.entries()) {
    if (!shown[index]) continue;
    const parentIndex = above[index]!;
    const parent = parentIndex === -1 ? -1 : positions.get(parentIndex);
    const parentRow = parent === undefined ? undefined : rows[parent];
    if (parent === undefined || parentRow?.isFolded) continue;
    const siblings = below.get(parentIndex)!;
    const isStart = !parentRow || siblings.count > 1;
    positions.set(index, rows.length);
    rows.push({
      item,
      index,
      parent,
      segment: isStart ? rows.length : parentRow.segment,
      isStart,
      isLast: siblings.last === index,
      depth: parentRow ? parentRow.depth + (siblings.first === index ? 0 : 1) : 0,
      isFolded: folded.has(item.id),
      childCount: below.get(index)?.count ?? 0,
    });
  }
  return rows;
}

/** Finds the row of an entry, or of the nearest one above it that is shown; -1 if there is none. */
export function findTreeRow<Item extends TreeItem>(
  { nodes, indexes }: Tree<Item>,
  rows: readonly TreeRow<Item>[],
  id: string | null,
): number {
  const positions = new Map(rows.map((row, position) => [row.index, position]));
  let index = id === null ? -1 : (indexes.get(id) ?? -1);
  while (index !== -1 && !positions.has(index)) index = nodes[index]!.parent;
  return positions.get(index) ?? -1;
}

export interface TreeTarget {
  /** Where the leaf goes; null: before the first entry. */
  readonly entryId: string | null;
  /** The user's text there, to be written again. */
  readonly text: string | undefined;
}

/** Finds where the leaf goes. A user message is written again, so the leaf goes before it. */
export const toTreeTarget = ({ id, parentId }: TreeItem, userText: string | undefined): TreeTarget =>
  userText === undefined ? { entryId: id, text: undefined } : { entryId: parentId, text: userText };

/** The tree of a session as rows: which entries are shown, how they are indented, and where keys lead. Pure. */
import type { SessionEntry, TreeNodeData } from "@tau/protocol";
import { toPlainLine } from "@tau/tui";
import { describeEntry, getUserText, isWordless } from "./describe-entry.ts";

export const treeFilters = ["default", "no-tools", "user-only", "labeled-only", "all"] as const;
export type TreeFilter = (typeof treeFilters)[number];

export interface TreeNode {
  readonly entry: SessionEntry;
  /** Its index in `Tree.nodes`; -1 for a root. */
  readonly parent: number;
  label: string | undefined;
}

export interface Tree {
  /** Parents before their children; the branch that is shown comes first. */
  readonly nodes: readonly TreeNode[];
  readonly indexes: ReadonlyMap<string, number>;
  /** The indexes of the shown branch. */
  readonly current: ReadonlySet<number>;
  readonly leafId: string | null;
  /** When the label of an entry was set, by the id of the entry. */
  readonly labelTimes: ReadonlyMap<string, string>;
}

export interface TreeRow {
  readonly node: TreeNode;
  /** The index in `Tree.nodes`. */
  readonly index: number;
  /** The row above it in the tree; -1 for a root. */
  readonly parent: number;
  /** The row that begins its part of the branch: it or one of its parents. */
  readonly segment: number;
  /** Whether it begins a part of a branch: a root, or one of several children. */
  readonly isStart: boolean;
  readonly isLast: boolean;
  readonly isFolded: boolean;
  /** How many rows hang on it, if it is not folded. */
  readonly childCount: number;
}

/** No recursion: a conversation is one long chain. */
export function createTree(roots: readonly TreeNodeData[], leafId: string | null): Tree {
  const currentIds = findBranch(roots, leafId);
  const nodes: TreeNode[] = [];
  const indexes = new Map<string, number>();
  const current = new Set<number>();
  const labelTimes = new Map<string, string>();
  const waiting = toStack(roots, -1, currentIds);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { data, parent } = next;
    const index = nodes.push({ entry: data.entry, parent, label: data.label }) - 1;
    const { entry } = data;
    indexes.set(entry.id, index);
    if (currentIds.has(entry.id)) current.add(index);
    if (entry.type === "label" && entry.label !== undefined && entry.timestamp > (labelTimes.get(entry.targetId) ?? ""))
      labelTimes.set(entry.targetId, entry.timestamp);
    waiting.push(...toStack(data.children, index, currentIds));
  }
  return { nodes, indexes, current, leafId, labelTimes };
}

/** The first to be taken is the last; it is the one of the shown branch. */
const toStack = (children: readonly TreeNodeData[], parent: number, first: ReadonlySet<string>) =>
  children
    .map((data) => ({ data, parent }))
    .toSorted((a, b) => Number(first.has(b.data.entry.id)) - Number(first.has(a.data.entry.id)))
    .toReversed();

function findBranch(roots: readonly TreeNodeData[], leafId: string | null): Set<string> {
  const parents = new Map<string, string | null>();
  const waiting = [...roots];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    parents.set(node.entry.id, node.entry.parentId);
    for (const child of node.children) waiting.push(child);
  }
  const branch = new Set<string>();
  for (let id = leafId; id !== null && id !== undefined && !branch.has(id); id = parents.get(id) ?? null)
    branch.add(id);
  return branch;
}

export interface RowOptions {
  filter: TreeFilter;
  query: string;
  /** The ids of the entries that are folded. */
  folded: ReadonlySet<string>;
}

/** An entry that is not shown is left out, and its children hang on the next one above it. */
export function listRows({ nodes, leafId }: Tree, { filter, query, folded }: RowOptions): TreeRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = nodes.map(
    (node) => isShown(node, filter, leafId) && words.every((word) => getHaystack(node).includes(word)),
  );
  /** The nearest shown node above each, and how many children it has. */
  const above: number[] = [];
  const counts = new Map<number, number>();
  const last = new Map<number, number>();
  for (const [index, { parent }] of nodes.entries()) {
    above[index] = parent === -1 ? -1 : shown[parent] ? parent : above[parent]!;
    if (!shown[index]) continue;
    counts.set(above[index], (counts.get(above[index]) ?? 0) + 1);
    last.set(above[index], index);
  }
  const rows: TreeRow[] = [];
  const rowOf = new Map<number, number>();
  for (const [index, node] of nodes.entries()) {
    if (!shown[index]) continue;
    const parent = above[index]!;
    const parentRow = parent === -1 ? -1 : rowOf.get(parent);
    if (parentRow === undefined || (parentRow !== -1 && rows[parentRow]!.isFolded)) continue;
    const isStart = parent === -1 || counts.get(parent)! > 1;
    rowOf.set(index, rows.length);
    rows.push({
      node,
      index,
      parent: parentRow,
      segment: isStart ? rows.length : rows[parentRow]!.segment,
      isStart,
      isLast: last.get(parent) === index,
      isFolded: folded.has(node.entry.id),
      childCount: counts.get(index) ?? 0,
    });
  }
  return rows;
}

function isShown({ entry, label }: TreeNode, filter: TreeFilter, leafId: string | null): boolean {
  const role = entry.type === "message" ? entry.message.role : undefined;
  switch (filter) {
    case "all":
      return true;
    case "labeled-only":
      return label !== undefined;
    case "user-only":
      return role === "user";
    case "no-tools":
      return isConversation(entry) && role !== "toolResult" && (entry.id === leafId || !isWordless(entry));
    case "default":
      return isConversation(entry);
  }
}

const conversation = new Set(["message", "compaction", "branch_summary", "custom_message"]);
const isConversation = ({ type }: SessionEntry) => conversation.has(type);

const haystacks = new WeakMap<TreeNode, { label: string | undefined; text: string }>();

function getHaystack(node: TreeNode): string {
  const known = haystacks.get(node);
  if (known && known.label === node.label) return known.text;
  const { author, text } = describeEntry(node.entry);
  const haystack = { label: node.label, text: toPlainLine(`${author} ${text} ${node.label ?? ""}`).toLowerCase() };
  haystacks.set(node, haystack);
  return haystack.text;
}

/** The row of the entry, or of the nearest one above it that is shown. */
export function findRow({ nodes, indexes }: Tree, rows: readonly TreeRow[], id: string | null): number {
  const byIndex = new Map(rows.map((row, position) => [row.index, position]));
  let index = id === null ? -1 : (indexes.get(id) ?? -1);
  while (index !== -1 && !byIndex.has(index)) index = nodes[index]!.parent;
  return index === -1 ? Math.max(0, rows.length - 1) : byIndex.get(index)!;
}

/** The start of its part of the branch; from there, that of the part above. */
export function findStart(rows: readonly TreeRow[], position: number): number {
  const row = rows[position]!;
  if (row.segment !== position) return row.segment;
  return row.parent === -1 ? position : rows[row.parent]!.segment;
}

/** The first row of the next part of the branch; where none follows, the last row of this part. */
export function findNextStart(rows: readonly TreeRow[], position: number): number {
  let end = position;
  while (rows[end + 1]?.parent === end && !rows[end + 1]!.isStart) end++;
  return rows[end + 1]?.parent === end ? end + 1 : end;
}

/** The lines that connect rows, before each row. */
export function drawConnectors(rows: readonly TreeRow[], position: number): string {
  let row = rows[position]!;
  let drawn = "";
  for (let isOwn = row.isStart; ; isOwn = false) {
    const start = rows[row.segment]!;
    if (start.parent === -1) return drawn;
    const tail = start.isLast ? ["└─ ", "   "] : ["├─ ", "│  "];
    drawn = tail[isOwn ? 0 : 1]! + drawn;
    row = rows[start.parent]!;
  }
}

export interface TreeTarget {
  /** Where the leaf goes; null: before the first entry. */
  entryId: string | null;
  /** What the user wrote there, to be written again. */
  text: string | undefined;
}

/** A user message is written again, so the leaf goes before it. */
export function toTarget({ entry }: TreeNode): TreeTarget {
  const text = getUserText(entry);
  return text === undefined ? { entryId: entry.id, text } : { entryId: entry.parentId, text };
}

/** Whether moving there leaves messages behind that are not on the new branch. */
export function leavesMessages({ nodes, indexes, current }: Tree, entryId: string | null): boolean {
  const kept = new Set<number>();
  for (let index = indexes.get(entryId ?? "") ?? -1; index !== -1; index = nodes[index]!.parent) kept.add(index);
  return [...current].some((index) => !kept.has(index) && nodes[index]!.entry.type === "message");
}

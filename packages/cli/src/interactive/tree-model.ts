/** The tree dialog's decisions: which entries its filters and its search show, and where keys lead. Pure. */
import type { SessionEntry, TreeNodeData } from "@tau/protocol";
import {
  createTree,
  describeAnyEntry,
  type EntryDescription,
  type Fields,
  findTreeRow,
  getAnswerText,
  getCallSubject,
  getText,
  getUserText,
  listTreeRows,
  toFields,
  toTreeTarget,
  type Tree,
  type TreeItem,
  type TreeRow,
  type TreeTarget,
} from "@tau/protocol/surface";
import { toPlainLine } from "@tau/tui";

export const treeFilters = ["default", "no-tools", "user-only", "labeled-only", "all"] as const;
export type TreeFilter = (typeof treeFilters)[number];

export interface SessionTreeItem extends TreeItem {
  readonly entry: SessionEntry;
  label: string | undefined;
  /** Says what the call was about whose result it is; undefined for any other entry. */
  readonly subject?: string | undefined;
  /** Whether it is an answer that only calls tools, and the rows of their results stand for it. */
  readonly isInResults?: boolean;
}

export type SessionTree = Tree<SessionTreeItem>;
type Row = TreeRow<SessionTreeItem>;

export const createSessionTree = (roots: readonly TreeNodeData[], leafId: string | null): SessionTree =>
  createTree(withCalls(listItems(roots)), leafId);

/** Gives results what their calls were about. Nothing in a log is validated. */
function withCalls(items: readonly SessionTreeItem[]): SessionTreeItem[] {
  const listBlocks = ({ entry }: SessionTreeItem) => {
    if (entry.type !== "message" || entry.message.role !== "assistant") return [];
    return Array.isArray(entry.message.content) ? entry.message.content.map(toFields) : [];
  };
  const isCall = ({ type }: Fields) => type === "toolCall";
  const subjects = new Map(
    items
      .flatMap((item) => listBlocks(item).filter(isCall))
      .map(({ id, arguments: input }) => [getText(id), getCallSubject(toFields(input))]),
  );
  const getCallId = ({ entry }: SessionTreeItem) =>
    entry.type === "message" && entry.message.role === "toolResult" ? getText(entry.message.toolCallId) : undefined;
  const answered = new Set(items.map(getCallId));
  return items.map((item) => {
    const callId = getCallId(item);
    if (callId !== undefined) return { ...item, subject: subjects.get(callId) };
    const blocks = listBlocks(item);
    const hasWords = blocks.some(({ type, text }) => type === "text" && getText(text).trim() !== "");
    const hasResult = blocks.some((block) => isCall(block) && answered.has(getText(block["id"])));
    return { ...item, isInResults: hasResult && !hasWords };
  });
}

/** Describes an entry for its row: a result by its call, since what the call was about says more than the output. */
export function describeItem({ entry, subject }: SessionTreeItem): EntryDescription {
  const description = describeAnyEntry(entry);
  return subject === undefined || subject === "" ? description : { ...description, text: subject };
}

/** Siblings in their order. No recursion: a conversation is one long chain. */
function listItems(roots: readonly TreeNodeData[]): SessionTreeItem[] {
  const items: SessionTreeItem[] = [];
  const waiting = roots.toReversed();
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { entry, label } = node;
    items.push({ id: entry.id, parentId: entry.parentId, entry, label });
    for (const child of node.children.toReversed()) waiting.push(child);
  }
  return items;
}

/** Finds when the label of each entry was set, by the id of the entry. */
export function findLabelTimes({ nodes }: SessionTree): ReadonlyMap<string, string> {
  const times = new Map<string, string>();
  for (const { entry } of nodes.map(({ item }) => item)) {
    if (entry.type === "label" && entry.label !== undefined && entry.timestamp > (times.get(entry.targetId) ?? ""))
      times.set(entry.targetId, entry.timestamp);
  }
  return times;
}

interface ListOptions {
  filter: TreeFilter;
  query: string;
  /** The ids of the entries that are folded. */
  folded: ReadonlySet<string>;
}

export function listRows(tree: SessionTree, { filter, query, folded }: ListOptions): Row[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return listTreeRows(tree, {
    isShown: (item) => isShown(item, filter, tree.leafId) && words.every((word) => getHaystack(item).includes(word)),
    folded,
  });
}

function isShown(
  { entry, label, isInResults = false }: SessionTreeItem,
  filter: TreeFilter,
  leafId: string | null,
): boolean {
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
      return isConversation(entry) && (!isInResults || label !== undefined || entry.id === leafId);
  }
}

const conversation = new Set(["message", "compaction", "branch_summary", "custom_message"]);
const isConversation = ({ type }: SessionEntry) => conversation.has(type);

/** Whether it is an answer that only calls tools. */
const isWordless = (entry: SessionEntry): boolean =>
  entry.type === "message" && entry.message.role === "assistant" && getAnswerText(entry).trim() === "";

const haystacks = new WeakMap<SessionTreeItem, { label: string | undefined; text: string }>();

function getHaystack(item: SessionTreeItem): string {
  const known = haystacks.get(item);
  if (known && known.label === item.label) return known.text;
  const { author, text } = describeAnyEntry(item.entry);
  const words = `${author} ${item.subject ?? ""} ${text} ${item.label ?? ""}`;
  const haystack = { label: item.label, text: toPlainLine(words).toLowerCase() };
  haystacks.set(item, haystack);
  return haystack.text;
}

/** Finds the row of the entry, or of the nearest one above it that is shown; else the last row. */
export function findRow(tree: SessionTree, rows: readonly Row[], id: string | null): number {
  const position = findTreeRow(tree, rows, id);
  return position === -1 ? Math.max(0, rows.length - 1) : position;
}

/** The start of its part of the branch; from there, that of the part above. */
export function findStart(rows: readonly Row[], position: number): number {
  const row = rows[position]!;
  if (row.segment !== position) return row.segment;
  return row.parent === -1 ? position : rows[row.parent]!.segment;
}

/** The first row of the next part of the branch; where none follows, the last row of this part. */
export function findNextStart(rows: readonly Row[], position: number): number {
  let end = position;
  while (rows[end + 1]?.parent === end && !rows[end + 1]!.isStart) end++;
  return rows[end + 1]?.parent === end ? end + 1 : end;
}

/** The lines that connect rows, before each row. */
export function drawConnectors(rows: readonly Row[], position: number): string {
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

export const toTarget = (item: SessionTreeItem): TreeTarget => toTreeTarget(item, getUserText(item.entry));

/** Whether moving there leaves messages behind that are not on the new branch. */
export function leavesMessages({ nodes, indexes, current }: SessionTree, entryId: string | null): boolean {
  const kept = new Set<number>();
  for (let index = indexes.get(entryId ?? "") ?? -1; index !== -1; index = nodes[index]!.parent) kept.add(index);
  return [...current].some((index) => !kept.has(index) && nodes[index]!.item.entry.type === "message");
}

/** The tree of a session as rows: a conversation is one line down, and only branches are indented. Pure. */
import type { TreeEntryData } from "@tau/protocol/gateway";

export interface TreeRow {
  readonly key: string;
  readonly entry: TreeEntryData;
  /** How many branches it lies in. */
  readonly depth: number;
  /** Whether it begins a branch. */
  readonly isStart: boolean;
  readonly isOnBranch: boolean;
  readonly isLeaf: boolean;
  readonly author: string;
  readonly text: string;
  readonly label: string | undefined;
}

/** Entries in the order they were written, as `sessions.tree` gives them. */
export function listTreeRows(entries: readonly TreeEntryData[], leafId: string | null): TreeRow[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const branch = findBranch(byId, leafId);
  const { children, roots } = findChildren(entries, byId);
  const shownLeaf = [...branch].find((id) => isShown(byId.get(id)!));
  const rows: TreeRow[] = [];
  // No recursion: a conversation is one long chain. The shown branch comes first.
  const order = (list: readonly TreeEntryData[]) =>
    list.toSorted((a, b) => Number(branch.has(b.id)) - Number(branch.has(a.id))).toReversed();
  const waiting = order(roots).map((entry) => ({ entry, depth: 0, isStart: false }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { entry, depth, isStart } = next;
    rows.push({
      key: entry.id,
      entry,
      depth,
      isStart,
      isOnBranch: branch.has(entry.id),
      isLeaf: entry.id === shownLeaf,
      author: authors[entry.kind ?? "other"],
      text: (entry.text ?? "").slice(0, maxText),
      label: entry.label,
    });
    const below = order(children.get(entry.id) ?? []);
    for (const [index, child] of below.entries()) {
      // The last is the first to be taken, and goes on in the same line.
      const isFirst = index === below.length - 1;
      waiting.push({ entry: child, depth: isFirst ? depth : depth + 1, isStart: !isFirst });
    }
  }
  return rows;
}

/** An entry that is not shown is left out, and its children hang on the next one above it. */
function findChildren(entries: readonly TreeEntryData[], byId: ReadonlyMap<string, TreeEntryData>) {
  const children = new Map<string, TreeEntryData[]>();
  const roots: TreeEntryData[] = [];
  for (const entry of entries) {
    if (!isShown(entry)) continue;
    let parent = entry.parentId === null ? undefined : byId.get(entry.parentId);
    while (parent && !isShown(parent)) parent = parent.parentId === null ? undefined : byId.get(parent.parentId);
    if (!parent) roots.push(entry);
    else children.set(parent.id, [...(children.get(parent.id) ?? []), entry]);
  }
  return { children, roots };
}

/** From the leaf up. */
function findBranch(byId: ReadonlyMap<string, TreeEntryData>, leafId: string | null): Set<string> {
  const branch = new Set<string>();
  for (let entry = byId.get(leafId ?? ""); entry && !branch.has(entry.id); entry = byId.get(entry.parentId ?? "")) {
    branch.add(entry.id);
  }
  return branch;
}

const isShown = ({ kind }: TreeEntryData): boolean => kind !== undefined;

const authors = {
  user: "You",
  assistant: "Answer",
  bash: "$",
  summary: "Summary",
  other: "Other",
} as const satisfies Record<NonNullable<TreeEntryData["kind"]>, string>;

/** A row is one line. */
const maxText = 300;

export interface TreeTarget {
  /** Where the leaf goes; null: before the first entry. */
  readonly entryId: string | null;
  /** What the user wrote there, to be written again. */
  readonly text: string | undefined;
}

/** A user message is written again, so the leaf goes before it. */
export const toTarget = ({ entry }: TreeRow): TreeTarget =>
  entry.kind === "user" ? { entryId: entry.parentId, text: entry.text ?? "" } : { entryId: entry.id, text: undefined };

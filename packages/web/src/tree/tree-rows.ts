/** The rows of the tree panel. Pure. */
import type { TreeEntryData } from "@tau/protocol/gateway";
import { createTree, findTreeRow, listTreeRows, toTreeTarget, type TreeTarget } from "@tau/protocol/surface";

export interface PanelRow {
  readonly key: string;
  readonly entry: TreeEntryData;
  /** How many branches it lies in. */
  readonly depth: number;
  readonly isOnBranch: boolean;
  readonly isLeaf: boolean;
  readonly author: string;
  readonly text: string;
}

/** Lists the rows of entries in the order they were written, as `sessions.tree` gives them. */
export function listPanelRows(entries: readonly TreeEntryData[], leafId: string | null): PanelRow[] {
  const tree = createTree(entries, leafId);
  const rows = listTreeRows(tree, { isShown: ({ kind }) => kind !== undefined });
  const leaf = findTreeRow(tree, rows, leafId);
  return rows.map(({ item, index, depth }, position) => ({
    key: item.id,
    entry: item,
    depth,
    isOnBranch: tree.current.has(index),
    isLeaf: position === leaf,
    author: authors[item.kind ?? "other"],
    text: (item.text ?? "").slice(0, maxText),
  }));
}

const authors = {
  user: "You",
  assistant: "Answer",
  bash: "$",
  summary: "Summary",
  other: "Other",
} as const satisfies Record<NonNullable<TreeEntryData["kind"]>, string>;

/** A row is one line. */
const maxText = 300;

export const toTarget = ({ entry }: PanelRow): TreeTarget =>
  toTreeTarget(entry, entry.kind === "user" ? (entry.text ?? "") : undefined);

/** Walking a log's tree without reading what is not shown. */
import type { SessionContext } from "./context.ts";
import { buildContext, settingsOf } from "./context.ts";
import type { CompactionEntry, SessionEntry } from "./entry.ts";
import type { SessionLog } from "./log.ts";

/** The rows from the root to `leaf`, without damaged ones. `until` ends the walk early, with the row it names first. */
export function branchRows({ table }: SessionLog, leaf: number, until = -1): number[] {
  const rows: number[] = [];
  for (let row = leaf; row >= 0; row = table.parent(row)) {
    if (table.kind(row) !== "damaged") rows.push(row);
    if (row === until) break;
  }
  return rows.toReversed();
}

/** The entries from the root to a leaf. */
export const readBranch = (log: SessionLog, leaf: number): Promise<SessionEntry[]> => log.read(branchRows(log, leaf));

/** The part of a branch that matters to the model: from the first entry that the latest compaction kept. */
export async function readContextBranch(log: SessionLog, leaf: number): Promise<SessionEntry[]> {
  const compaction = log.table.ancestor(leaf, "compaction");
  if (compaction < 0) return await readBranch(log, leaf);
  const [entry] = (await log.read([compaction])) as [CompactionEntry];
  const firstKept = await log.find(entry.firstKeptEntryId);
  const isOnBranch = firstKept >= 0 && isAncestor(log, firstKept, compaction);
  return await log.read(branchRows(log, leaf, isOnBranch ? firstKept : compaction));
}

/** What the model is sent for a leaf. Reads the context and at most two entries more, however long the log is. */
export async function readContext(log: SessionLog, leaf: number): Promise<SessionContext> {
  const branch = await readContextBranch(log, leaf);
  const level = log.table.ancestor(leaf, "thinking_level_change");
  const model = log.table.ancestor(leaf, "model_change", "assistant");
  const choices = await log.read([level, model].filter((row) => row >= 0).sort((a, b) => a - b));
  return { ...buildContext(branch), ...settingsOf(choices) };
}

function isAncestor({ table }: SessionLog, ancestor: number, row: number): boolean {
  let at = row;
  // Parents come before their children, so it can stop where the ancestor would have been.
  while (at > ancestor) at = table.parent(at);
  return at === ancestor;
}

/** One entry and what hangs on it. */
export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  /** Its real parent is lost. */
  reattached?: true;
}

/** All entries as trees; more than one when there are several roots. */
export async function readTree(log: SessionLog, labels: ReadonlyMap<string, string>): Promise<SessionTreeNode[]> {
  const { table } = log;
  const rows = table.entryRows();
  const entries = await log.read(rows);
  const nodes = new Map<number, SessionTreeNode>();
  const roots: SessionTreeNode[] = [];
  for (const [at, row] of rows.entries()) {
    const entry = entries[at]!;
    const label = labels.get(entry.id);
    const node: SessionTreeNode = {
      entry,
      children: [],
      ...(label !== undefined && { label }),
      ...(table.isReattached(row) && { reattached: true }),
    };
    nodes.set(row, node);
    const parent = nodes.get(table.nearestEntry(table.parent(row)));
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

/** The labels that stand, by the entry they are on. */
export async function readLabels(log: SessionLog): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const entry of await log.read(log.table.rowsOf("label"))) {
    if (entry.type !== "label") continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

/** The latest name that was given, if it was not taken away. */
export async function readName(log: SessionLog): Promise<string | undefined> {
  const [entry] = await log.read(log.table.rowsOf("session_info").slice(-1));
  return (entry?.type === "session_info" && entry.name?.trim()) || undefined;
}

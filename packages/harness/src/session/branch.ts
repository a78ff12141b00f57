/** Walking a log's tree without reading what is not shown. */
import type { SessionContext } from "./context.ts";
import { buildContext, getSettings } from "./context.ts";
import type { AcceptedEntry, CompactionEntry, PrefixEntry, SessionEntry } from "./entry.ts";
import type { SessionLog } from "./log.ts";
import { startedCalls } from "./unfinished-calls.ts";

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
  // A log is read without being checked: what names no entry has kept none.
  const firstKept = typeof entry.firstKeptEntryId === "string" ? await log.find(entry.firstKeptEntryId) : -1;
  const isOnBranch = firstKept >= 0 && isAncestor(log, firstKept, compaction);
  return await log.read(branchRows(log, leaf, isOnBranch ? firstKept : compaction));
}

/** A context, and the part of the branch that it is made of. */
export interface BranchContext extends SessionContext {
  branch: SessionEntry[];
}

/** What the model is sent for a leaf. Reads the context and at most two entries more, however long the log is. */
export async function readContext(log: SessionLog, leaf: number): Promise<BranchContext> {
  const branch = await readContextBranch(log, leaf);
  const level = log.table.ancestor(leaf, "thinking_level_change");
  const model = log.table.ancestor(leaf, "model_change", "assistant");
  const choices = await log.read([level, model].filter((row) => row >= 0).sort((a, b) => a - b));
  return { ...buildContext(branch), ...getSettings(choices), branch };
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

/** All entries in the order of the log, each with the parent that it really hangs on where its own is lost. */
export async function readAll(log: SessionLog): Promise<SessionEntry[]> {
  const { table } = log;
  const rows = table.entryRows();
  const entries = await log.read(rows);
  const ids = new Map(rows.map((row, at) => [row, entries[at]!.id]));
  return entries.map((entry, at) => {
    const row = rows[at]!;
    if (!table.isReattached(row)) return entry;
    return { ...entry, parentId: ids.get(table.nearestEntry(table.parent(row))) ?? null };
  });
}

/**
 * The calls of the last answer on a branch that are known to have been started. The journal is searched below the
 * answer on every branch: who goes back to the answer itself has not made undone what was done.
 */
export async function readStartedCalls(log: SessionLog, branch: readonly SessionEntry[]): Promise<Set<string>> {
  const answer = branch.findLast((entry) => entry.type === "message" && entry.message?.role === "assistant");
  const row = answer ? await log.find(answer.id) : -1;
  if (row < 0) return new Set();
  const below = log.table.toRows("custom").filter((at) => at > row && isAncestor(log, row, at));
  return startedCalls(await log.read(below));
}

/** The labels that stand, by the entry they are on. */
export async function readLabels(log: SessionLog): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const entry of await log.read(log.table.toRows("label"))) {
    if (entry.type !== "label") continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

/** The latest name that was given, if it was not taken away. */
export async function readName(log: SessionLog): Promise<string | undefined> {
  const [entry] = await log.read(log.table.toRows("session_info").slice(-1));
  const name: unknown = entry?.type === "session_info" ? entry.name : undefined;
  return (typeof name === "string" && name.trim()) || undefined;
}

/** What was accepted and never said, cancelled or refused, oldest first. Costs nothing where nothing ever waited. */
export async function readWaiting(log: SessionLog): Promise<AcceptedEntry[]> {
  const rows = log.table.toRows("queue");
  if (rows.length === 0) return [];
  const queue = await log.read(rows);
  const said = await log.read(log.table.toRows("user").filter((row) => row > rows[0]!));
  const settled = new Set<unknown>();
  for (const entry of said) if (entry.type === "message") settled.add(entry.queueId);
  for (const entry of queue) if (entry.type === "queue" && entry.state !== "accepted") settled.add(entry.queueId);
  return queue.filter(
    (entry): entry is AcceptedEntry =>
      entry.type === "queue" && entry.state === "accepted" && !settled.has(entry.queueId),
  );
}

/** What the last requests began with; undefined when that was never written, or is no such thing. */
export async function readPrefix(log: SessionLog): Promise<PrefixEntry | undefined> {
  const [entry] = await log.read(log.table.toRows("prefix").slice(-1));
  if (entry?.type !== "prefix") return undefined;
  return Array.isArray(entry.tools) && Array.isArray(entry.sections) ? entry : undefined;
}

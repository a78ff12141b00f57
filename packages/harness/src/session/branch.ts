/** Walks the tree of a log through its table, and reads only the entries that are asked for. */
import { isPermissionMode, type PermissionMode, type WritingMode } from "@tau/protocol";
import { buildContext, getChoices, type SessionChoices, type SessionContext } from "./context.ts";
import type { AcceptedEntry, CompactionEntry, PrefixEntry, SessionEntry } from "./entry.ts";
import type { SessionLog } from "./log.ts";
import { toShortLine } from "./short-line.ts";
import { type UnfinishedCall, unfinishedCalls } from "./unfinished-calls.ts";

interface RowLimits {
  /** The first row. Default: the root. */
  first?: number;
  /** Only the last so many. Default: all. */
  limit?: number;
}

/** The readable rows of the branch that ends at `leaf`. */
function branchRows({ table }: SessionLog, leaf: number, limits: RowLimits = {}): number[] {
  const { first = -1, limit = Number.POSITIVE_INFINITY } = limits;
  const rows: number[] = [];
  for (let row = leaf; row >= 0 && rows.length < limit; row = table.parent(row)) {
    if (table.kind(row) !== "damaged") rows.push(row);
    if (row === first) break;
  }
  return rows.toReversed();
}

export const readBranch = (log: SessionLog, leaf: number): Promise<SessionEntry[]> => log.read(branchRows(log, leaf));

export interface BranchPage {
  entries: SessionEntry[];
  /** Whether the branch has entries before these. */
  hasOlder: boolean;
}

export interface BranchPageOptions {
  /** The id of an entry: only entries before it. */
  before?: string;
  /** The id of an entry: only entries after it. */
  after?: string;
  /** Default: no limit. */
  limit?: number;
  /** A page that would be larger has fewer entries, but at least one. Default: no limit. */
  maxBytes?: number;
}

/** A page has at most `limit` entries. It ends before it has more than `maxBytes`, but has one entry if there is one. */
interface PageLimits {
  limit: number;
  maxBytes: number;
}

/** The last entries of the branch that ends at `leaf`. Costs what it returns, however long the branch is. */
export async function readLastPage(log: SessionLog, leaf: number, limits: PageLimits): Promise<BranchPage> {
  const rows = branchRows(log, leaf, { limit: limits.limit + 1 });
  const start = rows.length - countOnPage(log, rows.toReversed(), limits);
  return { entries: await log.read(rows.slice(start)), hasOlder: start > 0 };
}

/** The first entries after the row `after` on the branch that ends at `leaf`. */
export async function readNextPage(
  log: SessionLog,
  leaf: number,
  { after, ...limits }: PageLimits & { after: number },
): Promise<BranchPage> {
  const [first, ...rows] = branchRows(log, leaf, { first: after });
  const page = first === after ? rows.slice(0, countOnPage(log, rows, limits)) : [];
  return { entries: await log.read(page), hasOlder: page.length > 0 };
}

/** How many of the rows, from the first on, are on a page. */
function countOnPage({ table }: SessionLog, rows: readonly number[], { limit, maxBytes }: PageLimits): number {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += table.length(row);
    return index >= limit || (index > 0 && bytes > maxBytes);
  });
  return end < 0 ? rows.length : end;
}

/** The part of a branch that the model sees: from the first entry that the latest compaction kept. */
const readContextBranch = async (log: SessionLog, leaf: number): Promise<SessionEntry[]> =>
  log.read(branchRows(log, leaf, { first: await findContextStart(log, leaf) }));

/** A branch from its last message on; empty if it has none. */
export async function readSinceMessage(log: SessionLog, leaf: number): Promise<SessionEntry[]> {
  const first = log.table.findAncestor(leaf, "user", "assistant", "toolResult");
  return first < 0 ? [] : await log.read(branchRows(log, leaf, { first }));
}

/** The part of a branch that the model sees, from its last answer on; empty if it has none. */
export async function readSinceAnswer(log: SessionLog, leaf: number): Promise<SessionEntry[]> {
  const answer = log.table.findAncestor(leaf, "assistant");
  if (answer < 0 || answer < (await findContextStart(log, leaf))) return [];
  return await log.read(branchRows(log, leaf, { first: answer }));
}

/** The end of a branch: what the model sees, and the last compactions. Its length does not depend on that of the log. */
export async function readRecentBranch(log: SessionLog, leaf: number, compactions: number): Promise<SessionEntry[]> {
  let start = await findContextStart(log, leaf);
  let compaction = leaf;
  for (let count = 0; count < compactions && compaction >= 0; count++) {
    compaction = log.table.findAncestor(count === 0 ? leaf : log.table.parent(compaction), "compaction");
  }
  start = Math.min(start, compaction);
  return await log.read(branchRows(log, leaf, { first: start }));
}

/** The row of the first entry that the latest compaction kept; -1 if there is no compaction. */
async function findContextStart(log: SessionLog, leaf: number): Promise<number> {
  const compaction = log.table.findAncestor(leaf, "compaction");
  if (compaction < 0) return -1;
  const [entry] = (await log.read([compaction])) as [CompactionEntry];
  // Entries are not validated, so the id may be anything.
  const firstKept = typeof entry.firstKeptEntryId === "string" ? await log.find(entry.firstKeptEntryId) : -1;
  const isOnBranch = firstKept >= 0 && isAncestor(log, firstKept, compaction);
  return isOnBranch ? firstKept : compaction;
}

/** A context, and the part of the branch that it was built from. */
export interface BranchContext extends SessionContext {
  branch: SessionEntry[];
}

/** Returns what the model is sent for a leaf. Reads the context and at most two more entries, however long the log is. */
export async function readContext(log: SessionLog, leaf: number): Promise<BranchContext> {
  const branch = await readContextBranch(log, leaf);
  return { ...(await buildContext(branch)), ...(await readChoices(log, leaf)), branch };
}

/** The model and the thinking level that a leaf was reached with. Reads few entries, however long the log is. */
export async function readChoices(log: SessionLog, leaf: number): Promise<SessionChoices> {
  const { table } = log;
  const level = table.findAncestor(leaf, "thinking_level_change");
  const rows = new Set([level]);
  for (let row = leaf; row >= 0;) {
    rows.add(table.findAncestor(row, "model_change", "assistant"));
    const change = table.findAncestor(row, "model_change");
    rows.add(change);
    if (change < 0) break;
    const [entry] = await log.read([change]);
    row = entry?.type === "model_change" && entry.forRun ? table.parent(change) : -1;
  }
  return getChoices(await log.read([...rows].filter((row) => row >= 0).sort((a, b) => a - b)));
}

export function isAncestor({ table }: SessionLog, ancestor: number, descendant: number): boolean {
  let row = descendant;
  // Parents come before their children, so the walk can stop at the ancestor's row.
  while (row > ancestor) row = table.parent(row);
  return row === ancestor;
}

export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  /** Its real parent is lost. */
  reattached?: true;
}

/** All entries as trees; there are several trees if there are several roots. */
export async function readTree(log: SessionLog, labels: ReadonlyMap<string, string>): Promise<SessionTreeNode[]> {
  const { table } = log;
  const rows = table.entryRows();
  const entries = await log.read(rows);
  const nodes = new Map<number, SessionTreeNode>();
  const roots: SessionTreeNode[] = [];
  for (const [index, row] of rows.entries()) {
    const entry = entries[index]!;
    const label = labels.get(entry.id);
    const node: SessionTreeNode = {
      entry,
      children: [],
      ...(label !== undefined && { label }),
      ...(table.isReattached(row) && { reattached: true }),
    };
    nodes.set(row, node);
    const parent = nodes.get(table.findReadable(table.parent(row)));
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

/** All entries in the order of the log. An entry whose parent is lost names the one that it was attached to. */
export async function readAll(log: SessionLog): Promise<SessionEntry[]> {
  const { table } = log;
  const rows = table.entryRows();
  const entries = await log.read(rows);
  const ids = new Map(rows.map((row, index) => [row, entries[index]!.id]));
  return entries.map((entry, index) => {
    const row = rows[index]!;
    if (!table.isReattached(row)) return entry;
    return { ...entry, parentId: ids.get(table.findReadable(table.parent(row))) ?? null };
  });
}

/**
 * The unfinished calls of the last answer on a branch. Starts are searched on all branches below the answer, because
 * navigating back to the answer does not undo its calls.
 */
export const readUnfinishedCalls = async (
  log: SessionLog,
  branch: readonly SessionEntry[],
): Promise<UnfinishedCall[]> => unfinishedCalls(branch, await readCallRecords(log, branch));

/** The records of calls below the last answer of a branch, on all branches. */
export async function readCallRecords(log: SessionLog, branch: readonly SessionEntry[]): Promise<SessionEntry[]> {
  const answer = branch.findLast((entry) => entry.type === "message" && entry.message?.role === "assistant");
  const answerRow = answer ? await log.find(answer.id) : -1;
  if (answerRow < 0) return [];
  return await log.read(log.table.rowsOfKind("custom", answerRow).filter((row) => isAncestor(log, answerRow, row)));
}

/** The current labels, by the id of the entry. */
export async function readLabels(log: SessionLog): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const entry of await log.read(log.table.rowsOfKind("label"))) {
    if (entry.type !== "label") continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

async function readLast(
  log: SessionLog,
  kind: "session_info" | "prefix" | "permission_mode",
): Promise<SessionEntry | undefined> {
  const row = log.table.findLast(kind);
  return row < 0 ? undefined : (await log.read([row]))[0];
}

/** The current name; undefined if it has none or it was removed. */
export async function readName(log: SessionLog): Promise<string | undefined> {
  const entry = await readLast(log, "session_info");
  const name: unknown = entry?.type === "session_info" ? entry.name : undefined;
  // Other programs write names too.
  return (typeof name === "string" && toShortLine(name)) || undefined;
}

/** The beginning of the last requests; undefined if it was never written or is invalid. */
export async function readPrefix(log: SessionLog): Promise<PrefixEntry | undefined> {
  const entry = await readLast(log, "prefix");
  if (entry?.type !== "prefix") return undefined;
  return Array.isArray(entry.tools) && Array.isArray(entry.sections) ? entry : undefined;
}

/** The permission mode that was chosen last, on any branch; undefined if none was, or it is not known. */
export async function readPermissionMode(log: SessionLog): Promise<PermissionMode | undefined> {
  const entry = await readLast(log, "permission_mode");
  return entry?.type === "permission_mode" && isPermissionMode(entry.mode) ? entry.mode : undefined;
}

/** The permission mode besides plan mode that was chosen last, on any branch; undefined if none was, or it is not known. */
export async function readWritingMode(log: SessionLog): Promise<WritingMode | undefined> {
  const rows = log.table.rowsOfKind("permission_mode");
  const modes = (await log.read(rows)).flatMap((entry) => (entry.type === "permission_mode" ? [entry.mode] : []));
  const last = modes.findLast((mode) => mode !== "plan");
  return isPermissionMode(last) && last !== "plan" ? last : undefined;
}

/** State of a message with an id: it waits, it was said, or it will not be said. */
export type QueuedState = "waiting" | "said" | "cancelled" | "refused";

/** Returns what the log says of the messages with these ids. Messages that it does not know are missing. */
export async function readQueuedStates(
  log: SessionLog,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, QueuedState>> {
  const states = new Map<string, QueuedState>();
  for (const entry of await log.read(log.table.rowsOfKind("queue"))) {
    if (entry.type !== "queue" || !ids.has(entry.queueId)) continue;
    if (entry.state !== "accepted") states.set(entry.queueId, entry.state);
    else if (!states.has(entry.queueId)) states.set(entry.queueId, "waiting");
  }
  for (const entry of await log.read(log.table.rowsOfKind("user"))) {
    if (entry.type === "message" && entry.queueId !== undefined && ids.has(entry.queueId))
      states.set(entry.queueId, "said");
  }
  return states;
}

/** The accepted messages that were never sent, cancelled or refused, oldest first. */
export async function readWaiting(log: SessionLog): Promise<AcceptedEntry[]> {
  if (log.table.findLast("queue") < 0) return [];
  const rows = log.table.rowsOfKind("queue");
  const queue = await log.read(rows);
  const sent = await log.read(log.table.rowsOfKind("user", rows[0]));
  const settled = new Set<unknown>();
  for (const entry of sent) if (entry.type === "message") settled.add(entry.queueId);
  for (const entry of queue) if (entry.type === "queue" && entry.state !== "accepted") settled.add(entry.queueId);
  return queue.filter(
    (entry): entry is AcceptedEntry =>
      entry.type === "queue" && entry.state === "accepted" && !settled.has(entry.queueId),
  );
}

/** The tree of a session as rows: a conversation is one line down, and only branches are indented. Pure. */
import type { SessionEntry } from "@tau/protocol";

export interface TreeRow {
  readonly key: string;
  readonly entry: SessionEntry;
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

/** Entries in the order they were written, as `get_entries` gives them. */
export function listTreeRows(entries: readonly SessionEntry[], leafId: string | null): TreeRow[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const labels = findLabels(entries);
  const branch = findBranch(byId, leafId);
  const { children, roots } = findChildren(entries, byId);
  const shownLeaf = [...branch].find((id) => isShown(byId.get(id)!));
  const rows: TreeRow[] = [];
  // No recursion: a conversation is one long chain. The shown branch comes first.
  const order = (list: readonly SessionEntry[]) =>
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
      ...describeEntry(entry),
      label: labels.get(entry.id),
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
function findChildren(entries: readonly SessionEntry[], byId: ReadonlyMap<string, SessionEntry>) {
  const children = new Map<string, SessionEntry[]>();
  const roots: SessionEntry[] = [];
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
function findBranch(byId: ReadonlyMap<string, SessionEntry>, leafId: string | null): Set<string> {
  const branch = new Set<string>();
  for (let entry = byId.get(leafId ?? ""); entry && !branch.has(entry.id); entry = byId.get(entry.parentId ?? "")) {
    branch.add(entry.id);
  }
  return branch;
}

function findLabels(entries: readonly SessionEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    if (entry.label === undefined) labels.delete(entry.targetId);
    else labels.set(entry.targetId, entry.label);
  }
  return labels;
}

function isShown(entry: SessionEntry): boolean {
  if (entry.type === "compaction" || entry.type === "branch_summary") return true;
  if (entry.type !== "message") return false;
  const { message } = entry;
  if (message.role === "toolResult") return false;
  return (
    message.role !== "assistant" || message.content.some((block) => block.type === "text" && block.text.trim() !== "")
  );
}

const maxText = 300;

function describeEntry(entry: SessionEntry): { author: string; text: string } {
  if (entry.type === "compaction" || entry.type === "branch_summary") {
    return { author: "Summary", text: entry.summary.slice(0, maxText) };
  }
  if (entry.type !== "message") return { author: entry.type, text: "" };
  const { message } = entry;
  if (message.role === "bashExecution") return { author: "$", text: message.command.slice(0, maxText) };
  if (message.role === "user") return { author: "You", text: getWords(message.content) };
  return message.role === "assistant"
    ? { author: "Answer", text: getWords(message.content) }
    : { author: message.role, text: "" };
}

/** The text of a message. */
export const getWords = (content: string | readonly { type: string; text?: string }[]): string =>
  typeof content === "string"
    ? content
    : content.flatMap((block) => (block.type === "text" && block.text !== undefined ? [block.text] : [])).join("\n");

export interface TreeTarget {
  /** Where the leaf goes; null: before the first entry. */
  readonly entryId: string | null;
  /** What the user wrote there, to be written again. */
  readonly text: string | undefined;
}

/** A user message is written again, so the leaf goes before it. */
export const toTarget = ({ entry }: TreeRow): TreeTarget =>
  entry.type === "message" && entry.message.role === "user"
    ? { entryId: entry.parentId, text: getWords(entry.message.content) }
    : { entryId: entry.id, text: undefined };

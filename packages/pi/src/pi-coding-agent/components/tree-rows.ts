/** The entries of a session's tree in the order in which they are shown. Pure. */
import type { SessionEntry } from "@tau/protocol";
import { contentText } from "../../pi-ai/content.ts";
import type { SessionTreeNode } from "../session/session-tree.ts";

export type FilterMode = "default" | "no-tools" | "user-only" | "labeled-only" | "all";
export const filterModes: readonly FilterMode[] = ["default", "no-tools", "user-only", "labeled-only", "all"];

export interface TreeRow {
  node: SessionTreeNode;
  /** How many branchings are above it. */
  depth: number;
}

/** The branch of the leaf comes first where a branch divides. */
export function listRows(roots: readonly SessionTreeNode[], leafId: string | null): TreeRow[] {
  const active = getActiveIds(roots, leafId);
  const rows: TreeRow[] = [];
  const pending: TreeRow[] = inOrder(roots, active)
    .map((node) => ({ node, depth: roots.length > 1 ? 1 : 0 }))
    .toReversed();
  // A loop, because a branch can be longer than the stack is deep.
  for (let row = pending.pop(); row; row = pending.pop()) {
    rows.push(row);
    const { children } = row.node;
    const depth = row.depth + (children.length > 1 ? 1 : 0);
    for (const node of inOrder(children, active).toReversed()) pending.push({ node, depth });
  }
  return rows;
}

const inOrder = (nodes: readonly SessionTreeNode[], active: ReadonlySet<string>): SessionTreeNode[] => [
  ...nodes.filter(({ entry }) => active.has(entry.id)),
  ...nodes.filter(({ entry }) => !active.has(entry.id)),
];

/** The leaf and all entries above it. */
export function getActiveIds(roots: readonly SessionTreeNode[], leafId: string | null): ReadonlySet<string> {
  const parents = new Map<string, string | null>();
  const pending = [...roots];
  for (let node = pending.pop(); node; node = pending.pop()) {
    parents.set(node.entry.id, node.entry.parentId);
    pending.push(...node.children);
  }
  const ids = new Set<string>();
  for (let id: string | null | undefined = leafId; id && !ids.has(id); id = parents.get(id)) ids.add(id);
  return ids;
}

/** How some of the entries hang together: on the nearest of them above. */
export interface TreeLinks {
  /** Null for one without any above it. */
  readonly parents: ReadonlyMap<string, string | null>;
  readonly children: ReadonlyMap<string | null, readonly string[]>;
}

/** `all` has the entries between those in `rows` too, and parents come before their children in it. */
export function linkRows(rows: readonly TreeRow[], all: readonly TreeRow[] = rows): TreeLinks {
  const chosen = new Set(rows.map(({ node }) => node.entry.id));
  const above = new Map<string, string | null>();
  const children = new Map<string | null, string[]>();
  for (const { node } of all) {
    const { id, parentId } = node.entry;
    const parent = parentId !== null && chosen.has(parentId) ? parentId : (above.get(parentId ?? "") ?? null);
    above.set(id, parent);
    if (chosen.has(id)) children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  return { parents: above, children };
}

export function leaveOutFolded(
  rows: readonly TreeRow[],
  { parents }: TreeLinks,
  folded: ReadonlySet<string>,
): readonly TreeRow[] {
  if (folded.size === 0) return rows;
  const hidden = new Set<string>();
  return rows.filter(({ node }) => {
    const parent = parents.get(node.entry.id) ?? null;
    if (parent === null || !(folded.has(parent) || hidden.has(parent))) return true;
    hidden.add(node.entry.id);
    return false;
  });
}

const getChildren = ({ children }: TreeLinks, id: string | null): readonly string[] => children.get(id) ?? [];

/** Whether a part of the tree begins with it and continues: a root, or one of several children. */
export function isPartStart(links: TreeLinks, id: string): boolean {
  const parent = links.parents.get(id) ?? null;
  return getChildren(links, id).length > 0 && (parent === null || getChildren(links, parent).length > 1);
}

/** Where the part that an entry is in begins; for its first entry, where the part above begins. */
export function findPartStart(links: TreeLinks, id: string): string {
  let current = id;
  for (;;) {
    const parent = links.parents.get(current) ?? null;
    if (parent === null || (current !== id && getChildren(links, parent).length > 1)) return current;
    current = parent;
  }
}

/** The first entry of the next part; where none follows, the last entry. */
export function findNextPart(links: TreeLinks, id: string): string {
  let current = id;
  for (;;) {
    const [first, ...others] = getChildren(links, current);
    if (first === undefined || others.length > 0) return first ?? current;
    current = first;
  }
}

const bookkeeping: ReadonlySet<string> = new Set([
  "label",
  "custom",
  "model_change",
  "thinking_level_change",
  "permission_mode",
  "session_info",
  "usage",
  "prefix",
  "queue",
]);

/** An answer that only calls tools is shown where it is the leaf, or failed. */
function isSilentAnswer({ entry }: SessionTreeNode, leafId: string | null): boolean {
  if (entry.type !== "message" || entry.message.role !== "assistant" || entry.id === leafId) return false;
  const { content, stopReason } = entry.message;
  const hasText = content.some((block) => block.type === "text" && block.text.trim() !== "");
  return !hasText && (stopReason === "stop" || stopReason === "toolUse");
}

export function isShown(node: SessionTreeNode, mode: FilterMode, leafId: string | null): boolean {
  const { entry, label } = node;
  const role = entry.type === "message" ? entry.message.role : undefined;
  switch (mode) {
    case "all":
      return true;
    case "labeled-only":
      return label !== undefined;
    case "user-only":
      return role === "user";
    case "no-tools":
      return !bookkeeping.has(entry.type) && role !== "toolResult" && !isSilentAnswer(node, leafId);
    case "default":
      return !bookkeeping.has(entry.type) && !isSilentAnswer(node, leafId);
  }
}

/** Describes an entry in one line, which is also the text that is searched. */
export function describeNode({ entry, label }: SessionTreeNode): string {
  return `${label === undefined ? "" : `[${label}] `}${describeEntry(entry)}`.replace(/\s+/g, " ").trim();
}

function describeEntry(entry: SessionEntry): string {
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      if (message.role === "bashExecution") return `[bash]: ${message.command}`;
      if (message.role === "toolResult") return `[${message.toolName}] ${contentText(message.content)}`;
      return `${message.role}: ${"content" in message ? contentText(message.content) : ""}`;
    }
    case "custom_message":
      return `[${entry.customType}]: ${contentText(entry.content)}`;
    case "compaction":
      return `[compaction: ${Math.round(entry.tokensBefore / 1_000)}k tokens]`;
    case "branch_summary":
      return `[branch summary]: ${entry.summary}`;
    case "model_change":
      return `[model: ${entry.modelId}]`;
    case "thinking_level_change":
      return `[thinking: ${entry.thinkingLevel}]`;
    case "custom":
      return `[custom: ${entry.customType}]`;
    case "label":
      return `[label: ${entry.label ?? "(cleared)"}]`;
    case "session_info":
      return `[title: ${entry.name ?? "empty"}]`;
    default:
      return `[${entry.type}]`;
  }
}

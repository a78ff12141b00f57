/** The entries of a session in memory: a tree with a leaf, on which the next entry hangs. */
import { randomBytes } from "node:crypto";
import { getLeafAfter, type SessionEntry } from "@tau/protocol";
import { walkBranch } from "./context.ts";

export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  labelTimestamp?: string;
}

export class SessionTree {
  readonly #entries: SessionEntry[] = [];
  readonly #byId = new Map<string, SessionEntry>();
  /** The latest label entry of each entry that has a label. */
  readonly #labels = new Map<string, { label: string; timestamp: string }>();
  leafId: string | null = null;

  constructor(entries: readonly SessionEntry[] = []) {
    for (const entry of entries) this.add(entry);
  }

  get entries(): readonly SessionEntry[] {
    return this.#entries;
  }

  get byId(): ReadonlyMap<string, SessionEntry> {
    return this.#byId;
  }

  get(id: string): SessionEntry | undefined {
    return this.#byId.get(id);
  }

  /** Throws if there is no such entry. */
  mustHave(id: string): void {
    if (!this.#byId.has(id)) throw new Error(`Entry ${id} not found`);
  }

  getLabel(id: string): string | undefined {
    return this.#labels.get(id)?.label;
  }

  getLabels(): ReadonlyMap<string, { label: string; timestamp: string }> {
    return this.#labels;
  }

  getBranch(fromId: string | null = this.leafId): SessionEntry[] {
    return walkBranch(fromId, this.#byId);
  }

  /** Eight hex digits that no other entry has. */
  createId(): string {
    for (;;) {
      const id = randomBytes(4).toString("hex");
      if (!this.#byId.has(id)) return id;
    }
  }

  /** Makes it the leaf. */
  add(entry: SessionEntry): void {
    this.#entries.push(entry);
    this.#byId.set(entry.id, entry);
    this.leafId = getLeafAfter(entry);
    if (entry.type !== "label") return;
    if (entry.label) this.#labels.set(entry.targetId, { label: entry.label, timestamp: entry.timestamp });
    else this.#labels.delete(entry.targetId);
  }

  /** Entries whose parent is missing are roots too. */
  getTree(): SessionTreeNode[] {
    const nodes = new Map(this.#entries.map((entry) => [entry.id, this.#toNode(entry)]));
    const roots: SessionTreeNode[] = [];
    for (const node of nodes.values()) {
      const { id, parentId } = node.entry;
      const parent = parentId === null || parentId === id ? undefined : nodes.get(parentId);
      (parent?.children ?? roots).push(node);
    }
    const getTime = ({ entry }: SessionTreeNode) => Date.parse(entry.timestamp) || 0;
    for (const { children } of nodes.values()) children.sort((a, b) => getTime(a) - getTime(b));
    return roots;
  }

  #toNode(entry: SessionEntry): SessionTreeNode {
    const label = this.#labels.get(entry.id);
    return { entry, children: [], ...(label && { label: label.label, labelTimestamp: label.timestamp }) };
  }
}

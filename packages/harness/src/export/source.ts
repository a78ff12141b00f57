/** What exports are made from, and the shape of its tree. Pure, and total: a log is read without being checked. */
import { customTypes, type SessionEntry, type SessionHeader } from "../session/entry.ts";
import { toFields, getText } from "./text.ts";

/** A session as a plain value. */
export interface ExportSource {
  header: SessionHeader;
  /** All entries of the file, in its order. */
  entries: SessionEntry[];
  /** The end of the current branch; null for a session at its root. */
  leafId: string | null;
  /** Default: the latest name in the entries. */
  name?: string;
}

/** The tree by position in the file. A parent stands before its children, so that a branch is always in file order. */
export interface Outline {
  entries: readonly SessionEntry[];
  /** -1 for a root. What names a parent that is not in the file before it hangs on the entry above it. */
  parents: readonly number[];
  /** Whether the entry hangs where it does because what came before it is lost. */
  isReattached: readonly boolean[];
  children: readonly (readonly number[])[];
  roots: readonly number[];
  /** -1 when nothing is current. */
  leaf: number;
  /** Whether the entry is on the current branch. */
  isCurrent: readonly boolean[];
  /** The latest label of each entry that has one. */
  labels: ReadonlyMap<number, string>;
  /** The ids of the calls that have a result. */
  answered: ReadonlySet<unknown>;
  name: string;
}

/** For people. */
export const reattachedText = "What came before this is lost; it is shown after the entry above it in the file.";

/** What is no object says nothing, and is left out. */
export const entriesIn = ({ entries }: Pick<ExportSource, "entries">): SessionEntry[] =>
  entries.filter((entry: unknown) => typeof entry === "object" && entry !== null);

export function createOutline({ leafId, name, ...source }: ExportSource): Outline {
  const entries = entriesIn(source);
  const positions = new Map<unknown, number>();
  const parents: number[] = [];
  const children: number[][] = [];
  const roots: number[] = [];
  const isReattached: boolean[] = [];
  for (const [at, { id, parentId }] of entries.entries()) {
    // The first entry may leave unsaid that it hangs on nothing.
    const isRoot = parentId === null || (parentId === undefined && at === 0);
    const parent = isRoot ? -1 : (positions.get(parentId) ?? at - 1);
    isReattached.push(!isRoot && !positions.has(parentId));
    parents.push(parent);
    children.push([]);
    (children[parent] ?? roots).push(at);
    if (!positions.has(id)) positions.set(id, at);
  }
  const leaf = leafId === null ? -1 : (positions.get(leafId) ?? -1);
  const isCurrent = entries.map(() => false);
  for (let at = leaf; at >= 0; at = parents[at]!) isCurrent[at] = true;
  const { labels, lastName } = namesIn(entries, positions);
  const answered = new Set(entries.map(answeredCall));
  return {
    entries,
    parents,
    isReattached,
    children,
    roots,
    leaf,
    isCurrent,
    labels,
    answered,
    name: name ?? lastName,
  };
}

function answeredCall(entry: SessionEntry): unknown {
  const message = toFields(toFields(entry).message);
  return message.role === "toolResult" ? message.toolCallId : undefined;
}

/** What an entry of our own bookkeeping means to a reader; undefined for every other entry. */
export type Trace =
  | { kind: "none" }
  /** A call was begun and nobody knows what came of it. */
  | { kind: "unknown_outcome"; toolName: string };

export function getTrace(entry: SessionEntry, { answered }: Pick<Outline, "answered">): Trace | undefined {
  if (entry.type !== "custom") return undefined;
  if (entry.customType === customTypes.navigated) return { kind: "none" };
  if (entry.customType !== customTypes.callStarted) return undefined;
  const { toolCallId, toolName } = toFields(entry.data);
  const isAnswered = toolCallId !== undefined && answered.has(toolCallId);
  return isAnswered ? { kind: "none" } : { kind: "unknown_outcome", toolName: getText(toolName) };
}

function namesIn(entries: readonly SessionEntry[], positions: ReadonlyMap<unknown, number>) {
  const labels = new Map<number, string>();
  let lastName = "";
  for (const entry of entries) {
    if (entry.type === "session_info") lastName = getText(entry.name);
    if (entry.type !== "label") continue;
    const target = positions.get(entry.targetId);
    if (target === undefined) continue;
    if (typeof entry.label === "string" && entry.label !== "") labels.set(target, entry.label);
    else labels.delete(target);
  }
  return { labels, lastName };
}

/** Tools tell what they changed in `diff`, or in the `diff` of each of their `files`. */
export function diffsIn(details: unknown): string[] {
  const { diff, files } = toFields(details);
  const all = [diff, ...(Array.isArray(files) ? files.map((file) => toFields(file).diff) : [])];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}

/** The positions of the entries from the root to the leaf. */
export const currentBranch = ({ isCurrent }: Outline): number[] => isCurrent.flatMap((is, at) => (is ? at : []));

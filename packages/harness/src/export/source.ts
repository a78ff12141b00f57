/** The session that an export reads, and the shape of its tree. Pure. Accepts any entries, because a log is not validated. */
import { customTypes, getNestedCall, type SessionEntry, type SessionHeader } from "../session/entry.ts";
import { toText, toFields } from "./text.ts";

/** A session as a plain value. */
export interface ExportSource {
  header: SessionHeader;
  /** All entries of the file, in its order. */
  entries: SessionEntry[];
  /** The end of the current branch; null for a session at its root. */
  leafId: string | null;
  /** Default: the latest name in the entries. */
  name?: string;
  /** The beginning of its requests, which pages show. */
  request?: ExportedRequest;
}

/** The beginning of a session's requests, which the log does not have. */
export interface ExportedRequest {
  systemPrompt: string;
  tools: readonly { name: string; description: string; parameters: unknown }[];
}

/** The tree by index in `entries`. A parent comes before its children, so every branch is in file order. */
export interface Outline {
  entries: readonly SessionEntry[];
  /** -1 for a root. An entry whose parent is not before it in the file is a child of the entry above it. */
  parents: readonly number[];
  /** Whether the parent of the entry is missing, so that it is a child of the entry above it instead. */
  isReattached: readonly boolean[];
  children: readonly (readonly number[])[];
  roots: readonly number[];
  /** -1 for a session at its root. */
  leaf: number;
  /** Whether the entry is on the current branch. */
  isCurrent: readonly boolean[];
  /** The latest label of each entry that has one. */
  labels: ReadonlyMap<number, string>;
  /** The ids of the calls that have a result. */
  answeredCalls: ReadonlySet<unknown>;
  name: string;
}

/** Shown with entries that are reattached. */
export const reattachedText =
  "The entry before this one is missing; this one is shown after the entry above it in the file.";

/** Leaves out what is not an object. */
export const getEntries = ({ entries }: Pick<ExportSource, "entries">): SessionEntry[] =>
  entries.filter((entry: unknown) => typeof entry === "object" && entry !== null);

export function createOutline({ leafId, name, ...source }: ExportSource): Outline {
  const entries = getEntries(source);
  const indexes = new Map<unknown, number>();
  const parents: number[] = [];
  const children: number[][] = [];
  const roots: number[] = [];
  const isReattached: boolean[] = [];
  for (const [index, { id, parentId }] of entries.entries()) {
    // In the first entry `parentId` may be missing.
    const isRoot = parentId === null || (parentId === undefined && index === 0);
    const parent = isRoot ? -1 : (indexes.get(parentId) ?? index - 1);
    isReattached.push(!isRoot && !indexes.has(parentId));
    parents.push(parent);
    children.push([]);
    (children[parent] ?? roots).push(index);
    if (!indexes.has(id)) indexes.set(id, index);
  }
  const leaf = leafId === null ? -1 : (indexes.get(leafId) ?? -1);
  const isCurrent = entries.map(() => false);
  for (let index = leaf; index >= 0; index = parents[index]!) isCurrent[index] = true;
  const { labels, lastName } = getNames(entries, indexes);
  const answeredCalls = new Set(entries.map(getAnsweredCall));
  return {
    entries,
    parents,
    isReattached,
    children,
    roots,
    leaf,
    isCurrent,
    labels,
    answeredCalls,
    name: name ?? lastName,
  };
}

function getAnsweredCall(entry: SessionEntry): unknown {
  const nested = getNestedCall(entry);
  if (nested) return nested.toolCallId;
  const message = toFields(toFields(entry).message);
  return message.role === "toolResult" ? message.toolCallId : undefined;
}

/** An entry that the harness wrote for itself, as a reader sees it. */
export type Bookkeeping =
  /** Nothing. */
  | { kind: "internal" }
  /** The call was started, and the session has no result for it. */
  | { kind: "unknown_outcome"; toolName: string };

const ownTypes: ReadonlySet<string> = new Set(Object.values(customTypes));

/** Undefined for every entry that is not bookkeeping. */
export function classifyBookkeeping(
  entry: SessionEntry,
  { answeredCalls }: Pick<Outline, "answeredCalls">,
): Bookkeeping | undefined {
  // A queued message comes again when it is sent.
  const isInternal = entry.type === "prefix" || (entry.type === "queue" && entry.state === "accepted");
  if (isInternal) return { kind: "internal" };
  if (entry.type !== "custom" || !ownTypes.has(entry.customType)) return undefined;
  if (entry.customType !== customTypes.callStarted) return { kind: "internal" };
  const { toolCallId, toolName } = toFields(entry.data);
  const isAnswered = toolCallId !== undefined && answeredCalls.has(toolCallId);
  return isAnswered ? { kind: "internal" } : { kind: "unknown_outcome", toolName: toText(toolName) };
}

function getNames(entries: readonly SessionEntry[], indexes: ReadonlyMap<unknown, number>) {
  const labels = new Map<number, string>();
  let lastName = "";
  for (const entry of entries) {
    if (entry.type === "session_info") lastName = toText(entry.name);
    if (entry.type !== "label") continue;
    const target = indexes.get(entry.targetId);
    if (target === undefined) continue;
    if (typeof entry.label === "string" && entry.label !== "") labels.set(target, entry.label);
    else labels.delete(target);
  }
  return { labels, lastName };
}

/** Tools report their changes in `diff`, or in the `diff` of each of their `files`. */
export const formatContextEdit = (replacement: unknown): string =>
  replacement === null ? "an entry is hidden from the model" : "the model sees other content in place of an entry";

/** The indexes of the entries from the root to the leaf. */
export const getCurrentBranch = ({ isCurrent }: Outline): number[] =>
  isCurrent.flatMap((isOnBranch, index) => (isOnBranch ? index : []));

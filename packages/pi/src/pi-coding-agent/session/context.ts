/** Builds the messages for a model from the entries of a session. */
import type { AgentMessage } from "@tau/agent";
import { contextEntries, contextMessages, getChoices } from "@tau/harness/session";
import type { SessionEntry } from "@tau/protocol";

export interface SessionContext {
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
}

export interface SessionProjection extends SessionContext {
  entries: { sourceEntry: SessionEntry; messages: AgentMessage[] }[];
}

type Index = ReadonlyMap<string, SessionEntry>;

const createIndex = (entries: readonly SessionEntry[]): Index => new Map(entries.map((entry) => [entry.id, entry]));

/** From the root to `leafId`. A parent that is missing, or a circle, ends the walk. */
export function walkBranch(leafId: string | null | undefined, byId: Index): SessionEntry[] {
  const branch: SessionEntry[] = [];
  const seen = new Set<string>();
  let current = leafId ? byId.get(leafId) : undefined;
  while (current && !seen.has(current.id)) {
    branch.push(current);
    seen.add(current.id);
    current = current.parentId ? byId.get(current.parentId) : undefined;
  }
  return branch.toReversed();
}

/** Null is the place before the first entry; without an id, or with an unknown one, the branch ends in the last entry. */
function findBranch(entries: readonly SessionEntry[], leafId: string | null | undefined, byId?: Index): SessionEntry[] {
  if (leafId === null) return [];
  const index = byId ?? createIndex(entries);
  const leaf = leafId !== undefined && index.has(leafId) ? leafId : entries.at(-1)?.id;
  return walkBranch(leaf, index);
}

export const buildContextEntries = (
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: Index,
): SessionEntry[] => contextEntries(findBranch(entries, leafId, byId));

export function buildSessionProjection(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: Index,
): SessionProjection {
  const branch = findBranch(entries, leafId, byId);
  const context = contextMessages(branch);
  const { thinkingLevel, model } = getChoices(branch);
  return {
    entries: context.map(({ entry, message }) => ({ sourceEntry: entry, messages: [message] })),
    messages: context.map(({ message }) => message),
    thinkingLevel,
    model,
  };
}

export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: Index,
): SessionContext {
  const { messages, thinkingLevel, model } = buildSessionProjection(entries, leafId, byId);
  return { messages, thinkingLevel, model };
}

export const sessionEntryToContextMessages = (entry: SessionEntry): AgentMessage[] =>
  contextMessages([entry]).map(({ message }) => message);

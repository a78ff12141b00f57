/** A session as lines of JSON: pi's format, version 3. */
import { type SessionEntry, type SessionHeader, sessionVersion } from "../session/entry.ts";
import { encodeLine } from "../session/line.ts";
import { createOutline, type ExportSource, getCurrentBranch, getEntries } from "./source.ts";

export interface ExportJsonlOptions {
  /**
   * `all` (default): every entry, in the order of the file; readers take the last one as the leaf. `current`: the entries
   * of the current branch, followed by its labels and the session's name if these were set on another branch.
   */
  branch?: "all" | "current";
}

/** The header, then the entries. Unknown types and fields are kept. */
export function exportJsonl(source: ExportSource, { branch = "all" }: ExportJsonlOptions = {}): string {
  const header: SessionHeader = { ...source.header, type: "session", version: sessionVersion };
  const entries = branch === "all" ? getEntries(source) : getBranchEntries(source);
  return [header, ...entries].map((line) => encodeLine(line).toString()).join("");
}

function getBranchEntries(source: ExportSource): SessionEntry[] {
  const outline = createOutline(source);
  const { entries, parents, isReattached } = outline;
  const branch = getCurrentBranch(outline).map((index): SessionEntry => {
    const entry = entries[index]!;
    return isReattached[index] ? { ...entry, parentId: entries[parents[index]!]?.id ?? null } : entry;
  });
  const branchIds = new Set(branch.map(({ id }) => id));
  const latest = new Map<string, SessionEntry>();
  const setLatest = (key: string, entry: SessionEntry) => {
    // Deleted first, so that the map is in file order.
    latest.delete(key);
    latest.set(key, entry);
  };
  for (const entry of entries) {
    if (entry.type === "session_info") setLatest("name", entry);
    if (entry.type === "label" && branchIds.has(entry.targetId)) setLatest(`label of ${entry.targetId}`, entry);
  }
  for (const entry of latest.values()) {
    if (!branchIds.has(entry.id)) branch.push({ ...entry, parentId: branch.at(-1)?.id ?? null });
  }
  return branch;
}

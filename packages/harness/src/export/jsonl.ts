/** A session as lines of JSON: pi's format, version 3. */
import { type SessionEntry, type SessionHeader, sessionVersion } from "../session/entry.ts";
import { encodeLine } from "../session/line.ts";
import { currentBranch, entriesIn, type ExportSource, createOutline } from "./source.ts";

export interface ExportJsonlOptions {
  /**
   * `all` (default): every entry, in the order of the file; readers take the last for the leaf. `current`: the entries of
   * the current branch, and behind them its labels and the session's name where these were set on another.
   */
  branch?: "all" | "current";
}

/** The header, then the entries. Unknown types and fields are kept. */
export function exportJsonl(source: ExportSource, { branch = "all" }: ExportJsonlOptions = {}): string {
  const header: SessionHeader = { ...source.header, type: "session", version: sessionVersion };
  const entries = branch === "all" ? entriesIn(source) : standingAlone(source);
  return [header, ...entries].map((line) => encodeLine(line).toString()).join("");
}

function standingAlone(source: ExportSource): SessionEntry[] {
  const outline = createOutline(source);
  const { entries, parents, isReattached } = outline;
  const branch = currentBranch(outline).map((at): SessionEntry => {
    const entry = entries[at]!;
    return isReattached[at] ? { ...entry, parentId: entries[parents[at]!]?.id ?? null } : entry;
  });
  const onBranch = new Set(branch.map(({ id }) => id));
  const latest = new Map<string, SessionEntry>();
  const setLatest = (key: string, entry: SessionEntry) => {
    latest.delete(key);
    latest.set(key, entry);
  };
  for (const entry of entries) {
    if (entry.type === "session_info") setLatest("name", entry);
    if (entry.type === "label" && onBranch.has(entry.targetId)) setLatest(`label of ${entry.targetId}`, entry);
  }
  for (const entry of latest.values()) {
    if (!onBranch.has(entry.id)) branch.push({ ...entry, parentId: branch.at(-1)?.id ?? null });
  }
  return branch;
}

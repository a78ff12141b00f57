/** Picks from an entry what a tree shows. Outputs, images and thinking can be megabytes, and a tree has none of them. Pure. */
import type { SessionEntry } from "@tau/protocol";
import type { TreeEntryData } from "@tau/protocol/gateway";
import { joinTexts } from "@tau/protocol/surface";

const maxText = 300;

/** Entries in the order they were written. */
export function listTreeEntries(entries: readonly SessionEntry[]): TreeEntryData[] {
  const labels = findLabels(entries);
  return entries.map((entry) => {
    const label = labels.get(entry.id);
    const { id, parentId } = entry;
    return { id, parentId, ...describeEntry(entry), ...(label !== undefined && { label }) };
  });
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

/** Empty for an entry that is not shown. */
function describeEntry(entry: SessionEntry): Pick<TreeEntryData, "kind" | "text"> {
  if (entry.type === "compaction" || entry.type === "branch_summary") return begin("summary", entry.summary);
  if (entry.type !== "message") return {};
  const { message } = entry;
  switch (message.role) {
    case "user":
      return { kind: "user", text: joinTexts(message.content) };
    case "assistant": {
      const words = joinTexts(message.content);
      return words.trim() === "" ? {} : begin("assistant", words);
    }
    case "bashExecution":
      return begin("bash", message.command);
    case "toolResult":
      return {};
    default:
      return { kind: "other", text: "" };
  }
}

const begin = (kind: NonNullable<TreeEntryData["kind"]>, text: string) => ({
  kind,
  text: text.slice(0, maxText).toWellFormed(),
});

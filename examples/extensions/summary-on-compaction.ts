/**
 * When a conversation grows too long, its beginning is replaced by a summary. Usually a model writes it. This extension does it
 * without one: it keeps every request word for word, the names of the files, and the last answer. It costs nothing, and what
 * you asked for is not lost.
 */
import type { ExtensionAPI, ExtensionEvent } from "@tau/extensions";

type Preparation = ExtensionEvent<"session_before_compact">["preparation"];
type Message = Preparation["messagesToSummarize"][number];

export default function summaryOnCompaction(tau: ExtensionAPI): void {
  tau.on("session_before_compact", ({ preparation, customInstructions }) => {
    // Somebody who says what to keep wants a summary that was thought about.
    if (customInstructions !== undefined) return undefined;
    const { firstKeptEntryId, tokensBefore } = preparation;
    return { compaction: { summary: summarise(preparation), firstKeptEntryId, tokensBefore } };
  });
  tau.on("session_compact", ({ fromExtension }, { ui }) => {
    if (fromExtension) ui.notify("The conversation was shortened without a model.");
  });
}

function summarise({ messagesToSummarize, turnPrefixMessages, previousSummary, fileOps }: Preparation): string {
  const messages = [...messagesToSummarize, ...turnPrefixMessages];
  const requests = messages.filter(({ role }) => role === "user").map(getText);
  const answer = messages.findLast((message) => message.role === "assistant" && getText(message) !== "");
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`## ${title}`, ...lines, ""];
  return [
    ...(previousSummary === undefined ? [] : [previousSummary, ""]),
    ...section(
      "Requests so far, word for word",
      requests.map((request, index) => `${index + 1}. ${request}`),
    ),
    ...section(
      "Files that were changed",
      fileOps.modified.map((path) => `- ${path}`),
    ),
    ...section(
      "Files that were read",
      fileOps.read.map((path) => `- ${path}`),
    ),
    ...section("The last answer", answer ? [getText(answer)] : []),
  ]
    .join("\n")
    .trim();
}

function getText(message: Message): string {
  if (message.role !== "user" && message.role !== "assistant") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

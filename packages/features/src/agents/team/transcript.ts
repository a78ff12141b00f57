/** The conversation of an agent as lines. Pure. */
import type { AgentMessage } from "@tau/agent";
import { joinTextBlocks } from "@tau/ai/internal";

const maxLineLength = 400;
const maxResultLines = 10;

export function toTranscript(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) => {
    switch (message.role) {
      case "user":
        return toLines("> ", joinTextBlocks(message.content));
      case "assistant":
        return message.content.flatMap((block) => {
          if (block.type === "text") return toLines("", block.text);
          if (block.type === "toolCall") return toLines("* ", `${block.name} ${JSON.stringify(block.arguments)}`);
          return [];
        });
      case "toolResult": {
        const lines = toLines("  ", joinTextBlocks(message.content));
        const others = lines.length - maxResultLines;
        return others > 0 ? [...lines.slice(0, maxResultLines), `  (${others} more lines)`] : lines;
      }
      default:
        return [];
    }
  });
}

function toLines(mark: string, text: string): string[] {
  if (text.trim() === "") return [];
  return text.split("\n").map((line) => {
    const shown = line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line;
    return `${mark}${shown}`;
  });
}

const maxPageLines = 200;
const maxPageLength = 8_000;

/** A part of a transcript, with a line that says which. `from` is the first line, from 1; undefined: the last part. */
export function formatPage(lines: readonly string[], from: number | undefined): string {
  if (lines.length === 0) return "Nothing has been said yet.";
  const first = from === undefined ? findLastPage(lines) : Math.min(lines.length, Math.max(1, Math.trunc(from)));
  const page: string[] = [];
  let length = 0;
  for (const line of lines.slice(first - 1)) {
    if (page.length > 0 && (page.length === maxPageLines || length + line.length > maxPageLength)) break;
    page.push(line);
    length += line.length + 1;
  }
  const last = first + page.length - 1;
  const next = last < lines.length ? ` The next part: from ${last + 1}.` : "";
  return [`[Lines ${first} to ${last} of ${lines.length}.${next}]`, ...page].join("\n");
}

function findLastPage(lines: readonly string[]): number {
  let length = 0;
  let first = lines.length;
  for (; first > 1 && lines.length - first + 1 < maxPageLines; first--) {
    length += lines[first - 1]!.length + 1;
    if (length + lines[first - 2]!.length > maxPageLength) break;
  }
  return first;
}

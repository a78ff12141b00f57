/** Lists the files that were read and changed, and carries the lists from one summary to the next. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ToolCall } from "@tau/ai";
import type { FileTouches } from "@tau/tools";
import { toText } from "./text.ts";

/** The `details` of a compaction and of a branch summary. Each list has its latest file last; no file is in both. */
export interface FileOperations {
  readFiles: string[];
  modifiedFiles: string[];
}

/** Which files a call touched; undefined for a call of an unknown tool. Must not throw, whatever a log holds. */
export type GetTouches = (call: ToolCall) => FileTouches | undefined;

/** How many files of each kind are remembered, so that details stay small however long a session is. */
const maxFiles = 200;
const maxPathLength = 400;

/** What earlier summaries list, and what these messages did. A call that failed did nothing. */
export function fileOperations(
  earlier: readonly unknown[],
  messages: readonly AgentMessage[],
  touches: GetTouches,
): FileOperations {
  const read = new Set<string>();
  const modified = new Set<string>();
  const note = (files: Set<string>, path: unknown) => {
    if (typeof path !== "string" || path === "" || path.length > maxPathLength) return;
    files.delete(path);
    files.add(path);
  };
  for (const details of earlier) {
    const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof FileOperations, unknown>>;
    for (const path of toList(readFiles)) note(read, path);
    for (const path of toList(modifiedFiles)) note(modified, path);
  }
  const failed = new Set(messages.flatMap((m) => (m.role === "toolResult" && m.isError ? m.toolCallId : [])));
  for (const call of messages.flatMap(getToolCalls)) {
    if (failed.has(call.id)) continue;
    const touched = touches(call);
    for (const path of toList(touched?.read)) note(read, path);
    for (const path of toList(touched?.modified)) note(modified, path);
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).slice(-maxFiles),
    modifiedFiles: [...modified].slice(-maxFiles),
  };
}

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The calls of a message. */
export const getToolCalls = (message: AgentMessage): ToolCall[] =>
  message.role === "assistant" && Array.isArray(message.content)
    ? message.content.filter((block) => block?.type === "toolCall")
    : [];

const heading = "## Files so far";

/** The lists as the end of a summary, the latest files first. Empty when there are none. */
export function filesText({ readFiles, modifiedFiles }: FileOperations, maxLength: number): string {
  const lists = [
    ...formatList("Changed", modifiedFiles, Math.floor(maxLength * 0.6)),
    ...formatList("Read", readFiles, Math.floor(maxLength * 0.4)),
  ];
  return lists.length === 0 ? "" : [heading, ...lists].join("\n");
}

function formatList(title: string, paths: readonly string[], maxLength: number): string[] {
  const lines = [`${title}:`];
  let left = maxLength;
  for (const [index, path] of paths.toReversed().entries()) {
    const name = /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
    left -= name.length + 1;
    if (left < 0) {
      lines.push(`(${paths.length - index} more)`);
      break;
    }
    lines.push(name);
  }
  return lines.length === 1 ? [] : lines;
}

/**
 * A summary as its model wrote it: the lists are made again each time, and would double if the model saw them. Empty for a
 * value that is not a text, since it comes from a log.
 */
export function withoutFilesText(summary: unknown): string {
  const text = toText(summary);
  const index = text.lastIndexOf(`\n${heading}\n`);
  return index < 0 ? text : text.slice(0, index).trimEnd();
}

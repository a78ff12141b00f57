/** Which files were read and changed, carried along from one summary to the next. Pure. */
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

/** How many files of each kind are remembered, so that details stay small however long a session lives. */
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
export function filesText({ readFiles, modifiedFiles }: FileOperations, most: number): string {
  const lists = [
    ...listed("Changed", modifiedFiles, Math.floor(most * 0.6)),
    ...listed("Read", readFiles, Math.floor(most * 0.4)),
  ];
  return lists.length === 0 ? "" : [heading, ...lists].join("\n");
}

function listed(what: string, paths: readonly string[], most: number): string[] {
  const lines = [`${what}:`];
  let room = most;
  for (const [at, path] of paths.toReversed().entries()) {
    const name = /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
    room -= name.length + 1;
    if (room < 0) {
      lines.push(`(${paths.length - at} more)`);
      break;
    }
    lines.push(name);
  }
  return lines.length === 1 ? [] : lines;
}

/**
 * A summary as its model wrote it: the lists are made anew each time, and would double if the model saw them. Empty for
 * what is no text, since it comes from a log.
 */
export function withoutFilesText(summary: unknown): string {
  const text = toText(summary);
  const at = text.lastIndexOf(`\n${heading}\n`);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

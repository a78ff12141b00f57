/** Collects the files that were read and modified, from one summary to the next. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ToolCall } from "@tau/ai";
import type { FileTouches } from "@tau/tools";
import { asText } from "./text.ts";

/** The `details` of a compaction or a branch summary. The latest file of a list is its last; no file is in both. */
export interface FileOperations {
  readFiles: string[];
  modifiedFiles: string[];
}

/** The files that a call touched; undefined for an unknown tool. Must not throw, whatever the log holds. */
export type GetTouches = (call: ToolCall) => FileTouches | undefined;

/** The limit for each list, so that details stay small in a long session. */
const maxFiles = 200;
const maxPathLength = 400;

/** The files of earlier summaries and of these messages. Failed calls are ignored. */
export function fileOperations(
  earlier: readonly unknown[],
  messages: readonly AgentMessage[],
  touches: GetTouches,
): FileOperations {
  const read = new Set<string>();
  const modified = new Set<string>();
  const add = (files: Set<string>, paths: unknown) => {
    for (const path of Array.isArray(paths) ? (paths as unknown[]) : []) {
      if (typeof path !== "string" || path === "" || path.length > maxPathLength) continue;
      files.delete(path);
      files.add(path);
    }
  };
  for (const details of earlier) {
    const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof FileOperations, unknown>>;
    add(read, readFiles);
    add(modified, modifiedFiles);
  }
  const failed = new Set(messages.flatMap((m) => (m.role === "toolResult" && m.isError ? m.toolCallId : [])));
  for (const call of messages.flatMap(getToolCalls)) {
    if (failed.has(call.id)) continue;
    const touched = touches(call);
    add(read, touched?.read);
    add(modified, touched?.modified);
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).slice(-maxFiles),
    modifiedFiles: [...modified].slice(-maxFiles),
  };
}

export const getToolCalls = (message: AgentMessage): ToolCall[] =>
  message.role === "assistant" && Array.isArray(message.content)
    ? message.content.filter((block) => block?.type === "toolCall")
    : [];

const heading = "## Files so far";

/** The lists for the end of a summary, the latest files first. Empty if there are none. */
export function filesText({ readFiles, modifiedFiles }: FileOperations, maxLength: number): string {
  const lists = [
    ...formatList("Changed", modifiedFiles, Math.floor(maxLength * 0.6)),
    ...formatList("Read", readFiles, Math.floor(maxLength * 0.4)),
  ];
  return lists.length === 0 ? "" : [heading, ...lists].join("\n");
}

function formatList(title: string, paths: readonly string[], maxLength: number): string[] {
  const lines: string[] = [];
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
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

/** The summary as the model wrote it. The lists are added anew each time, so the model must not see them. */
export function withoutFilesText(summary: unknown): string {
  const text = asText(summary);
  const start = text.lastIndexOf(`\n${heading}\n`);
  return start < 0 ? text : text.slice(0, start).trimEnd();
}

/** The files that the calls of a conversation read and changed. */
import type { AgentMessage } from "@tau/agent";
import { isRecord } from "@tau/ai/internal";

export interface FileOperations {
  read: Set<string>;
  written: Set<string>;
  edited: Set<string>;
}

export interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

const sets: Readonly<Record<string, keyof FileOperations>> = { read: "read", write: "written", edit: "edited" };

/** `earlier` are the details of summaries before these messages. */
export function collectFileOperations(
  messages: readonly AgentMessage[],
  earlier: readonly unknown[] = [],
): FileOperations {
  const operations: FileOperations = { read: new Set(), written: new Set(), edited: new Set() };
  for (const details of earlier) {
    if (!isRecord(details)) continue;
    for (const path of toPaths(details["readFiles"])) operations.read.add(path);
    for (const path of toPaths(details["modifiedFiles"])) operations.edited.add(path);
  }
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      const kind = block.type === "toolCall" ? sets[block.name] : undefined;
      const path: unknown = block.type === "toolCall" ? block.arguments["path"] : undefined;
      if (kind && typeof path === "string") operations[kind].add(path);
    }
  }
  return operations;
}

const toPaths = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((path): path is string => typeof path === "string") : [];

/** A file that was changed is not listed as read. */
export function listFiles({ read, written, edited }: FileOperations): FileLists {
  const modified = new Set([...edited, ...written]);
  return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() };
}

/** For the end of a summary; empty without files. */
export function formatFiles({ readFiles, modifiedFiles }: FileLists): string {
  const lists = [
    ...(readFiles.length > 0 ? [`<read-files>\n${readFiles.join("\n")}\n</read-files>`] : []),
    ...(modifiedFiles.length > 0 ? [`<modified-files>\n${modifiedFiles.join("\n")}\n</modified-files>`] : []),
  ];
  return lists.length === 0 ? "" : `\n\n${lists.join("\n\n")}`;
}

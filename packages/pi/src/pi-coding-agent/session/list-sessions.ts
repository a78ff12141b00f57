/** Lists of sessions with all their text, for searching. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { sessionDirectory } from "@tau/harness/session";
import { contentText } from "../../pi-ai/content.ts";
import { tryRead } from "../try-read.ts";
import { readSessionFile } from "./session-file.ts";

export interface SessionInfo {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSessionPath?: string;
  created: Date;
  modified: Date;
  messageCount: number;
  firstMessage: string;
  allMessagesText: string;
}

export type ListProgress = (loaded: number, total: number) => void;

export async function listSessions(directory: string, onProgress?: ListProgress): Promise<SessionInfo[]> {
  return await describeFiles(getFiles(directory), onProgress);
}

/** The sessions of all projects. */
export async function listAllSessions(onProgress?: ListProgress): Promise<SessionInfo[]> {
  const root = dirname(sessionDirectory("/"));
  const directories = (tryRead(() => readdirSync(root)) ?? []).map((name) => join(root, name));
  return await describeFiles(directories.flatMap(getFiles), onProgress);
}

const getFiles = (directory: string): string[] =>
  (tryRead(() => readdirSync(directory)) ?? [])
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(directory, name));

async function describeFiles(paths: readonly string[], onProgress?: ListProgress): Promise<SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  for (const [index, path] of paths.entries()) {
    // A session may be removed while the others are read.
    const info = tryRead(() => describeFile(path));
    if (info) sessions.push(info);
    onProgress?.(index + 1, paths.length);
    // Reading is synchronous, so that others get their turn between two files.
    await setImmediate();
  }
  return sessions.sort((a, b) => b.modified.getTime() - a.modified.getTime());
}

function describeFile(path: string): SessionInfo | undefined {
  const session = readSessionFile(path);
  if (!session) return undefined;
  const { header, entries } = session;
  const messages = entries.flatMap((entry) => (entry.type === "message" && entry.message ? [entry.message] : []));
  const spoken = messages.filter(({ role }) => role === "user" || role === "assistant");
  const texts = spoken
    .map((message) => ({ role: message.role, text: "content" in message ? contentText(message.content, " ") : "" }))
    .filter(({ text }) => text !== "");
  const info = entries.findLast((entry) => entry.type === "session_info");
  const name = info?.type === "session_info" ? info.name?.trim() : undefined;
  const created = new Date(header.timestamp);
  const lastMs = spoken.reduce((last, { timestamp }) => Math.max(last, timestamp ?? 0), 0);
  return {
    path,
    id: header.id,
    cwd: header.cwd ?? "",
    ...(name && { name }),
    ...(header.parentSession !== undefined && { parentSessionPath: header.parentSession }),
    created,
    modified: lastMs > 0 ? new Date(lastMs) : Number.isNaN(created.getTime()) ? statSync(path).mtime : created,
    messageCount: messages.length,
    firstMessage: texts.find(({ role }) => role === "user")?.text ?? "(no messages)",
    allMessagesText: texts.map(({ text }) => text).join(" "),
  };
}

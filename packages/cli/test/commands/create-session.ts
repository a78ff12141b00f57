import { utimes } from "node:fs/promises";
import { SessionManager } from "@tau/harness";
import type { Workspace } from "../kit.ts";

export interface CreatedSession {
  id: string;
  path: string;
  /** The ids of the entries, in order. */
  entries: string[];
}

/** A session with a user message for each text, last used `ageMinutes` ago. */
export async function createSession(
  { directory, agentDir }: Workspace,
  texts: readonly string[],
  ageMinutes = 0,
): Promise<CreatedSession> {
  const session = await SessionManager.create(directory, undefined, { agentDir, durability: "none" });
  const entries: string[] = [];
  for (const content of texts) entries.push(await session.appendMessage({ role: "user", content, timestamp: 1 }));
  const path = session.getSessionFile()!;
  await session.close();
  const lastUsed = new Date(Date.now() - ageMinutes * 60_000);
  await utimes(path, lastUsed, lastUsed);
  return { id: session.id, path, entries };
}

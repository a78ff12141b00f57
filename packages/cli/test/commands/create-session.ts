/** Sessions on the disk, as a person would have left them. */
import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { temporaryDirectory } from "../kit.ts";

export interface Spot {
  directory: string;
  agentDir: string;
}

export async function spot(): Promise<Spot> {
  const root = await temporaryDirectory();
  const directory = join(root, "project");
  await mkdir(directory);
  return { directory, agentDir: join(root, "tau") };
}

export interface Left {
  id: string;
  path: string;
  /** The entries' ids, in order. */
  entries: string[];
}

/** A session in which each word was said and answered. `age` is how many minutes ago it was used. */
export async function leaveSession({ directory, agentDir }: Spot, words: readonly string[], age = 0): Promise<Left> {
  const session = await SessionManager.create(directory, undefined, { agentDir, durability: "none" });
  const entries: string[] = [];
  for (const word of words) entries.push(await session.appendMessage({ role: "user", content: word, timestamp: 1 }));
  const path = session.getSessionFile()!;
  await session.close();
  const used = new Date(Date.now() - age * 60_000);
  await utimes(path, used, used);
  return { id: session.id, path, entries };
}

/** The files of undo below the agent directory: whole or not there, and only for their owner. */
import { createHash } from "node:crypto";
import { readFile, unlink } from "node:fs/promises";
import { systemIds } from "@tau/ai";
import { tryParseJson } from "@tau/ai/internal";
import { writeWhole } from "@tau/tools/durable";
import { nodeFileSystem, tolerate, unlessMissing } from "@tau/tools/platform";

export const writeJson = async (path: string, value: unknown, { syncs = true } = {}): Promise<void> =>
  await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(JSON.stringify(value)), ids: systemIds, syncs });

/** Undefined for a file that is missing or no JSON. */
export async function readJson(path: string): Promise<unknown> {
  const text = await tolerate(readFile(path, "utf8"), "ENOENT", "ENOTDIR");
  return text === undefined ? undefined : tryParseJson(text);
}

export const removeOwn = async (path: string): Promise<void> => void (await unlessMissing(unlink(path)));

export const hash = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** Reads the entries of a session that is not open. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { orUndefined, readWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import type { LogEntry } from "./spoken.ts";

const maxLogBytes = 64 * 1024 * 1024;

/** Empty for a log that is gone, cannot be read or is very large. Lines that are damaged are left out. */
export async function readLog(path: string): Promise<LogEntry[]> {
  const bytes = await orUndefined(readWhole(nodeFileSystem, path, maxLogBytes));
  const lines = bytes?.toString("utf8").split("\n") ?? [];
  return lines.map((line) => tryParseJson(line)).filter(isRecord);
}

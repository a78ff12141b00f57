/** The gateway's own log: lines with their time, without secrets, in a file of limited size. */
import { type Clock, systemClock } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { createDebugLog } from "@tau/harness";
import { readWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";

interface LogFile {
  write(line: string): void;
  /** Waits until everything is written. Never rejects. */
  close(): Promise<void>;
}

interface LogFileOptions {
  path: string;
  /** Returns texts that must not be in it. Called for each line. */
  secrets: () => Iterable<string>;
  clock?: Clock;
  /** A larger file is renamed to `path.1`, which replaces an earlier one. Default 4 MB. */
  maxBytes?: number;
}

export function openLogFile({ path, secrets, clock = systemClock, maxBytes = 4_000_000 }: LogFileOptions): LogFile {
  const log = createDebugLog({ path, clock, secrets, maxBytes });
  return { write: (line) => log.log("gateway", line), close: () => log.close() };
}

/** The last lines of the log, also of the file before it, as people read them. */
export async function readLogLines(path: string, limit: number): Promise<string[]> {
  const lines = await readLines(path);
  const before = lines.length < limit ? await readLines(`${path}.1`) : [];
  return [...before, ...lines].slice(-limit);
}

const readLines = async (path: string): Promise<string[]> =>
  parseLogText((await readWhole(nodeFileSystem, path))?.toString("utf8") ?? "");

/** Pure. What is not a line of the log is left out. */
export const parseLogText = (text: string): string[] =>
  text.split("\n").flatMap((line) => {
    const record = tryParseJson(line);
    if (!isRecord(record) || typeof record["time"] !== "string") return [];
    const { time, event, data } = record;
    return [
      `${time} ${event === "gateway" && typeof data === "string" ? data : `${String(event)} ${JSON.stringify(data)}`}`,
    ];
  });

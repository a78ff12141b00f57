/** `tau gateway logs`: also of a gateway that does not run any more. */
import { open, stat } from "node:fs/promises";
import { systemClock } from "@tau/ai";
import { closeAfter, sleep } from "@tau/ai/internal";
import { parseLogText, readLogLines } from "@tau/gateway";
import { getGatewayFiles } from "@tau/protocol/node";
import { tolerate } from "@tau/tools/platform";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import type { CommandArgs } from "./usage.ts";

const lookMs = 250;

export async function showLogs(args: CommandArgs, io: Io): Promise<void> {
  const limit = Number(args.value("lines") ?? 100);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError("arguments", "--lines takes a whole number, 1 or more.");
  const path = getGatewayFiles(getAgentDir(io)).log;
  const start = await getPlace(path);
  const lines = await readLogLines(path, limit);
  if (lines.length === 0 && !args.has("follow")) return io.out("The gateway has written nothing yet.\n");
  for (const line of lines) io.out(`${line}\n`);
  await io.drained();
  if (args.has("follow")) await follow(path, start, io);
}

interface LogPlace {
  ino: number;
  size: number;
}

const getPlace = async (path: string): Promise<LogPlace> => {
  const stats = await tolerate(stat(path), "ENOENT");
  return { ino: stats?.ino ?? 0, size: stats?.size ?? 0 };
};

/** Prints what is added until the user interrupts it, also after the file was replaced by a new one. */
async function follow(path: string, start: LogPlace, io: Io): Promise<void> {
  let { ino, size: position } = start;
  while ((await sleep(systemClock, lookMs, io.signal)) === "elapsed") {
    const now = await getPlace(path);
    if (now.ino !== ino || now.size < position) position = 0;
    ino = now.ino;
    if (now.size === position) continue;
    const bytes = await readFrom(path, position, now.size);
    // The last line may be only half written.
    const end = bytes.lastIndexOf("\n") + 1;
    for (const line of parseLogText(bytes.toString("utf8", 0, end))) io.out(`${line}\n`);
    await io.drained();
    position += end;
  }
}

const readFrom = async (path: string, from: number, to: number): Promise<Buffer> =>
  await closeAfter(await open(path), async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead);
  });

/** Waits for a program, reads what it writes, and ends it where it has to end. */
import type { Readable } from "node:stream";
import { systemClock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import type { ExitStatus, RunningProcess } from "./spawn.ts";

export interface RunToEndOptions {
  signal?: AbortSignal | undefined;
  /** How long the program may run. Default 0: there is no limit. */
  timeoutMs?: number;
  /** How long its output is read after it has ended: what it started may hold the pipes. Default: until they are closed. */
  maxPipeMs?: number;
  /** How long the program may take to end after it was asked to. Default 5,000. */
  killAfterMs?: number;
  /** Bytes of both outputs together, after which the program is ended. Default: `maxOutputMb` for each. */
  maxOutputBytes?: number | undefined;
  /** The receiver of signals. */
  target: "process" | "group";
}

export interface ProgramEnd {
  stdout: string;
  stderr: string;
  status: ExitStatus;
  /** Whether it was ended by us. */
  isKilled: boolean;
  /** Whether it was ended because it wrote too much. */
  isTooMuch: boolean;
}

/** The limit of each of the two outputs. */
export const maxOutputMb = 16;

export async function runToEnd(child: RunningProcess, options: RunToEndOptions): Promise<ProgramEnd> {
  const { signal, timeoutMs = 0, maxPipeMs, killAfterMs = 5_000, maxOutputBytes, target } = options;
  let isKilled = false;
  let isTooMuch = false;
  let settleKilled: () => void;
  const whenKilled = new Promise<void>((resolve) => (settleKilled = resolve));
  const kill = () => {
    if (isKilled) return;
    isKilled = true;
    void end(child, whenDone, { killAfterMs, target }).then(settleKilled);
  };
  const onTooMuch = () => {
    isTooMuch = true;
    kill();
  };
  const createLimit = () => ({ leftBytes: maxOutputMb * 1024 * 1024 });
  const shared = maxOutputBytes === undefined ? undefined : { leftBytes: maxOutputBytes };
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) =>
    collect(stream, shared ?? createLimit(), onTooMuch),
  ) as [Collected, Collected];
  const whenClosed = Promise.all([stdout.closed, stderr.closed]);
  const whenDone = child.exit.then<unknown>(({ kind }) => {
    if (kind === "failed") return undefined;
    return maxPipeMs === undefined ? whenClosed : untilTimeout(whenClosed, maxPipeMs, systemClock);
  });
  // Not a timer of Node: with more than 24 days, it would end at once.
  const cancelTimer = timeoutMs > 0 ? systemClock.setTimer(timeoutMs, kill) : undefined;
  signal?.addEventListener("abort", kill, { once: true });
  if (signal?.aborted) kill();
  await Promise.race([whenDone, whenKilled]);
  cancelTimer?.();
  signal?.removeEventListener("abort", kill);
  return { stdout: stdout.take(), stderr: stderr.take(), status: await child.exit, isKilled, isTooMuch };
}

/** Resolves when the program has ended, though what it started may not have. */
async function end(
  child: RunningProcess,
  whenDone: Promise<unknown>,
  { killAfterMs, target }: Required<Pick<RunToEndOptions, "killAfterMs" | "target">>,
): Promise<void> {
  child.signal("SIGTERM", target);
  await untilTimeout(whenDone, killAfterMs, systemClock);
  child.signal("SIGKILL", target);
  await child.exit;
}

type Collected = ReturnType<typeof collect>;

function collect(stream: Readable, limit: { leftBytes: number }, onTooMuch: () => void) {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => {
    if (limit.leftBytes > 0) pieces.push(piece.subarray(0, limit.leftBytes));
    if (piece.length > limit.leftBytes) onTooMuch();
    limit.leftBytes = Math.max(0, limit.leftBytes - piece.length);
  });
  return {
    closed: new Promise<void>((resolve) => stream.once("close", resolve)),
    /** Whatever still holds the pipe writes into nothing from now on. */
    take() {
      stream.destroy();
      return Buffer.concat(pieces).toString("utf8");
    },
  };
}

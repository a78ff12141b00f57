/** Runs work that takes long, or much memory, on a thread of its own, which is ended when it takes too long. */
import { Worker } from "node:worker_threads";
import type { Clock } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "./abort.ts";

export interface ThreadLimits {
  clock: Clock;
  signal: AbortSignal | undefined;
}

interface ThreadWork {
  /** The program of the thread: neither sources nor a bundle have a file that a thread could load. It posts one answer. */
  source: string;
  workerData: unknown;
  /** The thread's own heap. */
  maxHeapMb: number;
  timeLimitMs: number;
  /** The messages of the errors. */
  failedMessage: string;
  timeoutMessage: string;
}

/** Resolves with the answer. Rejects with a `ToolsError` if the thread fails, runs out of memory, or takes too long. */
export async function runThread<Answer>(
  { source, workerData, maxHeapMb, timeLimitMs, failedMessage, timeoutMessage }: ThreadWork,
  { clock, signal }: ThreadLimits,
): Promise<Answer> {
  const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 16 };
  // Node warns about modules that are experimental, and that would be printed.
  const worker = new Worker(source, { eval: true, workerData, resourceLimits, stdout: true, stderr: true });
  let cancelTimer = () => {};
  const answer = new Promise<Answer>((resolve, reject) => {
    const fail = (error: unknown) => reject(new ToolsError("binary", failedMessage, { cause: error }));
    worker.once("message", resolve);
    worker.once("error", fail);
    worker.once("exit", fail);
    cancelTimer = clock.setTimer(timeLimitMs, () => reject(new ToolsError("timeout", timeoutMessage)));
  });
  try {
    return await unlessAborted(answer, signal);
  } finally {
    cancelTimer();
    await worker.terminate();
  }
}

/** Renders notebooks on a thread of its own: a file of JSON becomes many times as large in memory, and takes long. */
import type * as Threads from "node:worker_threads";
import { ToolsError } from "../errors.ts";
import { runThread, type ThreadLimits } from "../files/thread.ts";
import { formatBytes } from "../truncate.ts";
import { renderNotebook } from "./render-notebook.ts";

export const maxNotebookBytes = 50 * 1024 * 1024;
const timeLimitMs = 20_000;

/** Undefined for a file that is not a notebook, whatever its name is. */
export async function readNotebook(
  bytes: Buffer,
  path: string,
  { maxHeapMb = 512, ...limits }: ThreadLimits & { maxHeapMb?: number },
): Promise<string | undefined> {
  if (bytes.length > maxNotebookBytes) {
    const limit = formatBytes(maxNotebookBytes);
    throw new ToolsError(
      "too_large",
      `${path} is a notebook of ${formatBytes(bytes.length)}; at most ${limit} can be shown.`,
    );
  }
  const { text } = await runThread<{ text: string | undefined }>(
    {
      source: `(${work.toString()})(require, ${renderNotebook.toString()})`,
      workerData: bytes.toString("utf8"),
      maxHeapMb,
      timeLimitMs,
      failedMessage: `${path} is a notebook that takes too much memory. Look at parts of its JSON with bash.`,
      timeoutMessage: `${path} is a notebook that takes more than ${timeLimitMs / 1_000} s to read.`,
    },
    limits,
  );
  return text;
}

/** The thread gets this function as text, so it must not use anything from outside of it. */
function work(load: (name: string) => unknown, render: typeof renderNotebook): void {
  const { parentPort, workerData } = load("node:worker_threads") as typeof Threads;
  parentPort!.postMessage({ text: render(workerData as string) }, []);
}

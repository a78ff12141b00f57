/** Runs work on one file one after the other, so that calls of a parallel batch never interleave. */
import { SerialQueue } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { refuseAborted, unlessAborted } from "./abort.ts";

export interface FileQueue {
  /**
   * Runs `work` when all earlier work on the same file has settled, however it ended. Work on other files does not wait.
   * `work` must not queue for the same file again: it would wait for itself.
   */
  run<T>(realPath: string, work: () => Promise<T>): Promise<T>;
  /** How many files are being worked on. */
  readonly busyFiles: number;
}

/** Share one between all tools that change files. */
export function createFileQueue(): FileQueue {
  const queues = new Map<string, SerialQueue>();
  return {
    get busyFiles() {
      return queues.size;
    },
    run(realPath, work) {
      const queue = queues.get(realPath) ?? new SerialQueue();
      queues.set(realPath, queue);
      return queue.add(work).finally(() => queue.isIdle && queues.delete(realPath));
    },
  };
}

/** The queue of all sessions in this process: two of them may work on one file. */
export const processQueue = createFileQueue();

/** What tools that change files work with. */
export interface EditorPorts {
  files: Files;
  queue: FileQueue;
}

/** Call it right before the first write. Throws when the call was aborted: nothing may be written then. */
export type BeginWriting = () => void;

/**
 * Runs `work`, and stops waiting for it as soon as `signal` is aborted. No change begins after that; one that has begun
 * goes on, and the error says so.
 */
export async function untilWriting<T>(
  signal: AbortSignal | undefined,
  work: (beginWriting: BeginWriting) => Promise<T>,
): Promise<T> {
  let isWriting = false;
  const beginWriting = () => {
    refuseAborted(signal);
    isWriting = true;
  };
  return await unlessAborted(work(beginWriting), signal, () =>
    isWriting ? "The call was aborted while it was writing. Look whether the change is there." : undefined,
  );
}

/** Runs `work` alone on the file that `path` leads to. Other work on it waits until this has ended, also when aborted. */
export async function aloneWith<T>(
  { files, queue }: EditorPorts,
  path: string,
  signal: AbortSignal | undefined,
  work: (realPath: string, beginWriting: BeginWriting) => Promise<T>,
): Promise<T> {
  return await untilWriting(signal, async (beginWriting) => {
    const realPath = await files.realPath(path, "write");
    return await queue.run(realPath, async () => {
      refuseAborted(signal);
      return await work(realPath, beginWriting);
    });
  });
}

const maxAttempts = 3;

/** Does the work again when another process changed the file between its reading and its writing. */
export async function unlessOvertaken<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isOvertaken = error instanceof ToolsError && error.code === "overtaken";
      if (!isOvertaken || attempt === maxAttempts) throw error;
    }
  }
}

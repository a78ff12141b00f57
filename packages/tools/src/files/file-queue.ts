/** Runs work on one file one after the other, so that calls of a parallel batch never interleave. */
import { ToolsError } from "../errors.ts";
import { createInTurn } from "../in-turn.ts";
import type { Files } from "../platform/files.ts";
import { refuseAborted, unlessAborted } from "./abort.ts";
import type { SeenFiles } from "./seen-files.ts";

export interface FileQueue {
  /**
   * Runs `work` when all earlier work on the same files has settled, however it ended. Work on other files does not wait.
   * `work` must not queue for the same files again: it would wait for itself.
   */
  run<T>(realPaths: string | readonly string[], work: () => Promise<T>): Promise<T>;
  /**
   * Finds the files of a call, then runs `work` on them. Calls take their places in the order in which they come, even
   * if a later one finds its files sooner.
   */
  findAndRun<F extends { realPath: string }, T>(
    find: () => Promise<readonly F[]>,
    work: (files: readonly F[]) => Promise<T>,
  ): Promise<T>;
  /** How many files are being worked on. */
  readonly busyFiles: number;
}

/** Share one between all tools that change files. Queues with the same `tails` wait for each other's work. */
export function createFileQueue(tails = new Map<string, Promise<void>>()): FileQueue {
  const inTurn = createInTurn();
  const run: FileQueue["run"] = (realPaths, work) => {
    const keys = new Set(typeof realPaths === "string" ? [realPaths] : realPaths);
    const result = Promise.all([...keys].map((key) => tails.get(key))).then(work);
    const forget = () => {
      for (const key of keys) if (tails.get(key) === tail) tails.delete(key);
    };
    const tail = result.then(forget, forget);
    for (const key of keys) tails.set(key, tail);
    return result;
  };
  return {
    get busyFiles() {
      return tails.size;
    },
    run,
    async findAndRun(find, work) {
      const files = await inTurn(find());
      return await run(
        files.map(({ realPath }) => realPath),
        () => work(files),
      );
    },
  };
}

const processTails = new Map<string, Promise<void>>();

/** The queue of one session. It waits for the work of all others in this process: two of them may work on one file. */
export const createSessionQueue = (): FileQueue => createFileQueue(processTails);

/** The ports of tools that change files. */
export interface EditorPorts {
  files: Files;
  queue: FileQueue;
  /** The files that the model has seen. Default: that is not checked. */
  seen?: SeenFiles;
}

/** Call it right before the first write. Throws when the call was aborted: nothing may be written then. */
type BeginWriting = () => void;

/**
 * Runs `work`, and stops waiting for it as soon as `signal` is aborted. No change begins after that; one that has begun
 * continues, and the error says so.
 */
async function untilWriting<T>(
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

/**
 * Runs `work` alone on the files that `find` names. Other work on them waits until this has ended, also when aborted. The
 * call has its place in the queue before this function returns.
 */
export async function aloneWith<F extends { realPath: string }, T>(
  queue: FileQueue,
  signal: AbortSignal | undefined,
  find: () => Promise<readonly F[]>,
  work: (files: readonly F[], beginWriting: BeginWriting) => Promise<T>,
): Promise<T> {
  return await untilWriting(signal, (beginWriting) =>
    queue.findAndRun(
      () => unlessAborted(find(), signal),
      async (files) => {
        refuseAborted(signal);
        return await work(files, beginWriting);
      },
    ),
  );
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

/** Lets changes of one file wait for each other. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { SerialQueue } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";

const queues = new Map<string, SerialQueue>();

/** A file with two names has one queue. Settles as `change` does. */
export async function withFileMutationQueue<T>(path: string, change: () => Promise<T>): Promise<T> {
  const key = getRealPath(path);
  const queue = queues.get(key) ?? new SerialQueue();
  queues.set(key, queue);
  try {
    return await queue.add(change);
  } finally {
    if (queue.isIdle && queues.get(key) === queue) queues.delete(key);
  }
}

function getRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    // A file that does not exist yet has one name.
    if (systemCode(error) === undefined) throw error;
    return resolve(path);
  }
}

/** Changes of a log that several processes share for moments. */
import type { Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { AppendOutcome, LogKey, LogStore, Storage } from "./storage.ts";

const firstPauseMs = 5;
const maxPauseMs = 200;
/** How long other processes may have the log. */
const maxWaitMs = 60_000;

/**
 * Calls `work`, which writes to a log, while no other process has it; again, if another one was faster. Rejects with
 * `write_failed` if the storage refuses, or others do not finish in time.
 */
export async function withLog(
  { storage, key, clock }: { storage: Storage; key: LogKey; clock: Clock },
  work: (store: LogStore) => Promise<AppendOutcome>,
): Promise<void> {
  const deadlineMs = clock.monotonic() + maxWaitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const store = await storage.open(key);
    const outcome = await writeOnce(store, work).finally(() => store.close());
    if (outcome.kind === "appended") return;
    if (outcome.kind === "failed" || clock.monotonic() >= deadlineMs)
      throw new HarnessError("write_failed", `${store.name} could not be written: ${outcome.reason}.`);
    await sleep(clock, pauseMs);
  }
}

async function writeOnce(store: LogStore, work: (store: LogStore) => Promise<AppendOutcome>): Promise<AppendOutcome> {
  const lease = await store.acquire();
  if (lease.kind === "held") return await work(store);
  const advice = lease.advice === undefined ? "" : ` ${lease.advice}`;
  return { kind: "overtaken", reason: `${lease.holder.name} is changing it, and does not finish.${advice}` };
}

/** Undefined if the log does not exist. */
export async function readLog(storage: Storage, key: LogKey): Promise<Buffer | undefined> {
  const store = await storage.open(key);
  try {
    const stats = await store.stat();
    return stats && (await store.read(0, stats.size));
  } finally {
    await store.close();
  }
}

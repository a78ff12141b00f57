import { dirname } from "node:path";
import { type Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { acquireLease, type LeaseOptions, type LeaseOutcome } from "../platform/lease.ts";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.ts";
import { tolerate } from "../errors.ts";
import { HarnessError } from "@tau/protocol";

export interface WaitForLeaseOptions extends LeaseOptions {
  clock: Clock;
  /** How long another process may hold it. */
  maxWaitMs: number;
}

const firstPauseMs = 5;
const maxPauseMs = 200;

/** Takes a lease as soon as it is free, `busy` if that is not in time. */
export async function waitForLease(path: string, options: WaitForLeaseOptions): Promise<LeaseOutcome> {
  const { clock, maxWaitMs, ...lease } = options;
  const deadlineMs = clock.monotonic() + maxWaitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const outcome = await acquireLease(path, lease);
    if (outcome.kind === "held" || clock.monotonic() >= deadlineMs) return outcome;
    await sleep(clock, pauseMs);
  }
}

/**
 * Calls `work` while no other process changes the file at `path`. Rejects with `write_failed` if another one does not finish
 * in time.
 */
export async function holdLease<T>(path: string, options: WaitForLeaseOptions, work: () => Promise<T>): Promise<T> {
  const { fileSystem = nodeFileSystem } = options;
  const file = `${path}.lease`;
  const outcome = await waitForLease(file, options);
  if (outcome.kind === "busy") {
    const { holder, advice = "Stop that process and try again." } = outcome;
    const message = `${path} is being changed by process ${holder.pid}, which does not finish. ${advice}`;
    throw new HarnessError("write_failed", message);
  }
  try {
    return await work();
  } finally {
    // Removed rather than released, so that no file is left beside it, which may be in a repository; nothing here depends
    // on the generation. A second try, since a lease that stays blocks all other processes for as long as this one runs.
    const isHeld = await outcome.lease.isHeld().catch(() => true);
    if (isHeld) await fileSystem.unlink(file).catch(() => fileSystem.unlink(file));
  }
}

/** Longer than the refresh of a token may take, which happens under the lease of `auth.json`. */
const maxChangeMs = 60_000;

/**
 * Calls `work` with the real path of a file in tau's own directory, which is created if it is missing. No other process
 * changes the file meanwhile. Rejects with `write_failed` if another one does not finish.
 */
export async function withFileLease<T>(
  path: string,
  { fileSystem, ...ports }: { fileSystem: FileSystem } & Required<Pick<WaitForLeaseOptions, "clock" | "ids">>,
  work: (realPath: string) => Promise<T>,
): Promise<T> {
  // The target of a link is replaced, not the link.
  const realPath = (await tolerate(fileSystem.realpath(path), "ENOENT")) ?? path;
  if (realPath === path) await fileSystem.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return await holdLease(realPath, { fileSystem, ...ports, maxWaitMs: maxChangeMs }, () => work(realPath));
}

/**
 * Ends a command that exceeds its limits. Checking every process takes long, so at first only the load of the whole
 * machine is checked, which is read once for commands that run together: while it has not grown much, no command has
 * either.
 */
import type { Clock } from "@tau/ai";
import { describeExcess, type Limits, type Load, type Usage } from "./limits.ts";

interface WatchOptions {
  clock: Clock;
  limits: Limits;
  /** The load when the command was started. */
  first: Load | undefined;
  /** The present load, or one that is not older than this. */
  load(maxAgeMs: number): Promise<Load | undefined>;
  /** `isUrgent`: the command may be growing faster than it can be counted. */
  usage(isUrgent: boolean): Promise<Usage>;
  /** Called once, with a text for the model. */
  onExcess(text: string): void;
}

/** The result of the last check of single processes. */
export interface Check {
  load: Load;
  usage: Usage;
  atMs: number;
}

/** Often enough for a command that grows by gigabytes in a second. */
const watchEveryMs = 100;
const maxLoadAgeMs = 50;
/** Other processes that free memory may hide the growth of the command, so it is checked now and then anyway. */
const checkEveryMs = 5_000;

/** Whether the machine has grown by half of what the command had left. Pure. */
export function hasGrown({ usage, load }: Check, now: Load, limits: Limits): boolean {
  return (
    now.tasks - load.tasks > (limits.processes - usage.processes) / 2 ||
    now.usedBytes - load.usedBytes > (limits.memoryBytes - usage.memoryBytes) / 2
  );
}

/** Watches until the returned function is called, or the limits are exceeded. */
export function watchLimits({ clock, limits, first, load, usage, onExcess }: WatchOptions): () => void {
  const nothing = { processes: 0, memoryBytes: 0 };
  let last: Check | undefined = first && { load: first, usage: nothing, atMs: clock.monotonic() };
  let isStopped = false;
  let cancel = () => {};
  const check = async (): Promise<string | undefined> => {
    const now = await load(maxLoadAgeMs);
    if (!now) return undefined;
    const atMs = clock.monotonic();
    last ??= { load: now, usage: nothing, atMs };
    const isUrgent = hasGrown(last, now, limits);
    if (!isUrgent && atMs - last.atMs < checkEveryMs) return undefined;
    const used = await usage(isUrgent);
    last = { load: now, usage: used, atMs };
    // Pages that forks share are counted for each process, but only once for the machine.
    return describeExcess({ ...used, memoryBytes: Math.min(used.memoryBytes, now.usedBytes) }, limits);
  };
  const tick = async () => {
    // A check that fails is ignored: the next one comes soon.
    const text = await check().catch(() => undefined);
    if (isStopped) return;
    if (text === undefined) watch();
    else onExcess(text);
  };
  const watch = () => {
    cancel = clock.setTimer(watchEveryMs, () => void tick());
  };
  watch();
  return () => {
    isStopped = true;
    cancel();
  };
}

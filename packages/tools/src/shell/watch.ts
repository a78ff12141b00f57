/**
 * Ends a command that takes more than its limits. Looking at every process takes long, so at first only the whole
 * machine is looked at, which is one look for all commands: while it has not grown much, no command has either.
 */
import type { Clock } from "@tau/ai";
import { describeExcess, type Limits, type Load, type Usage } from "./limits.ts";

export interface WatchOptions {
  clock: Clock;
  limits: Limits;
  /** How the machine stood when the command was started. */
  first: Load | undefined;
  load(): Promise<Load | undefined>;
  /** `isUrgent` when it may be growing faster than it can be counted. */
  usage(isUrgent: boolean): Promise<Usage>;
  /** Told once, in words for the model. */
  onExcess(text: string): void;
}

/** What was known when the processes were last looked at one by one. */
export interface Look {
  load: Load;
  usage: Usage;
  atMs: number;
}

/** Soon enough for what grows by gigabytes in a second. */
const watchEveryMs = 100;
/** What others give back may hide what the command takes, so it is looked at now and then anyway. */
const lookEveryMs = 5_000;

/** Whether the machine has grown by half of what the command had left. Pure. */
export function hasGrown({ usage, load }: Look, now: Load, limits: Limits): boolean {
  return (
    now.tasks - load.tasks > (limits.processes - usage.processes) / 2 ||
    now.usedBytes - load.usedBytes > (limits.memoryBytes - usage.memoryBytes) / 2
  );
}

/** Watches until the returned function is called, or the limits are exceeded. */
export function watchLimits({ clock, limits, first, load, usage, onExcess }: WatchOptions): () => void {
  const nothing = { processes: 0, memoryBytes: 0 };
  let last: Look | undefined = first && { load: first, usage: nothing, atMs: clock.monotonic() };
  let isStopped = false;
  let cancel = () => {};
  const look = async (): Promise<string | undefined> => {
    const now = await load();
    if (!now) return undefined;
    const atMs = clock.monotonic();
    last ??= { load: now, usage: nothing, atMs };
    const isUrgent = hasGrown(last, now, limits);
    if (!isUrgent && atMs - last.atMs < lookEveryMs) return undefined;
    const used = await usage(isUrgent);
    last = { load: now, usage: used, atMs };
    // Pages that a fork shares are counted for each process, but the machine counts them once.
    return describeExcess({ ...used, memoryBytes: Math.min(used.memoryBytes, now.usedBytes) }, limits);
  };
  const tick = async () => {
    // A look that fails tells nothing, and there will be others; nobody waits here who could be told.
    const text = await look().catch(() => undefined);
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

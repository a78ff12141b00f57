/** Runs a command so that it and everything it starts can be ended. */
import { type Clock, sleep } from "@tau/ai";
import type { ExitStatus, RunningProcess, Spawn, SpawnRequest } from "../platform/spawn.ts";
import { type Limits, resolveLimits, toRlimits, type Usage } from "./limits.ts";
import { enterNamespace, type PidNamespace } from "./pid-namespace.ts";
import { type Marker, marked, getMembers, type ProcessTable } from "./process-tree.ts";
import { watchLimits } from "./watch.ts";
import type { Watchdog } from "./watchdog.ts";

export type Containment = "pid namespace" | "best effort";

export interface Contained {
  readonly pid: number | undefined;
  readonly containment: Containment;
  readonly stdout: RunningProcess["stdout"];
  readonly stderr: RunningProcess["stderr"];
  readonly exit: Promise<ExitStatus>;
  /** Why it was ended, for the model, if it exceeded its limits. */
  readonly excess: string | undefined;
  /** Asks all processes to end, and kills them after `graceMs`. Resolves when none is left. Only the first call counts. */
  end(graceMs: number): Promise<void>;
  /** After the command has exited: ends the processes that it left. True when there were any. */
  sweep(): Promise<boolean>;
}

export interface ContainedOptions {
  spawn: Spawn;
  clock: Clock;
  table: ProcessTable;
  watchdog: Watchdog;
  namespace: PidNamespace | undefined;
  request: SpawnRequest;
  limits?: Partial<Limits>;
}

/** How long killed processes may take to be gone, and how often that is checked. */
const killMs = 1_300;
const passMs = 10;
const quickSearches = 6;
const newestPids = 24;
/** How long processes that outlive the command may take to finish by themselves. */
const lingerMs = 100;

export async function startContained(options: ContainedOptions): Promise<Contained> {
  const { spawn, namespace, request, table, clock, watchdog } = options;
  const limits = resolveLimits(options.limits);
  const [maxFiles, load] = await Promise.all([table.openFiles(), table.load(), watchdog.watch()]);
  const marker = watchdog.mark();
  const inside = namespace ? enterNamespace(request, namespace) : request;
  // Outside of the namespace: inside, root has given up the right to lower its priority for each command.
  const markedRequest = marked(inside, marker, toRlimits(limits, { maxFiles, load }));
  const child = await spawn({ ...markedRequest, detached: true });
  const tree: Tree = { ...options, child, marker, root: child.pid, first: undefined };
  let ending: Promise<void> | undefined;
  let excess: string | undefined;
  const end = (graceMs: number) => (ending ??= namespace ? endNamespace(tree, graceMs) : endMembers(tree, graceMs));
  const stopWatching = watchLimits({
    clock,
    limits,
    first: load,
    load: table.load,
    usage: (isUrgent) => getUsage(tree, limits, isUrgent),
    onExcess(text) {
      if (!ending) excess = text;
      // The caller that waits for the command gets a failure too.
      end(0).catch(() => undefined);
    },
  });
  void child.exit.then(stopWatching);
  return {
    pid: child.pid,
    containment: namespace ? "pid namespace" : "best effort",
    stdout: child.stdout,
    stderr: child.stderr,
    exit: child.exit,
    get excess() {
      return excess;
    },
    end,
    async sweep() {
      if (ending) await ending;
      return ending || namespace ? false : await sweepMembers(tree);
    },
  };
}

interface Tree extends ContainedOptions {
  child: RunningProcess;
  marker: Marker;
  root: number | undefined;
  /** The first process of its namespace, once it has been found. */
  first: number | undefined;
}

async function findFirst(tree: Tree): Promise<number | undefined> {
  return (tree.first ??= tree.root === undefined ? undefined : await tree.table.firstInside(tree.root));
}

/** The process we started lives until the last one inside is gone, so its exit is the proof, unless it was killed. */
async function endNamespace(tree: Tree, graceMs: number): Promise<void> {
  const { child, table } = tree;
  if (graceMs > 0) {
    child.signal("SIGTERM", "group");
    // If the group was stopped, so was the process we started.
    child.signal("SIGCONT", "group");
    if ((await exitsWithin(tree, graceMs)) || (await exitsWithCommand(tree))) return;
  }
  const first = await findFirst(tree);
  child.signal("SIGKILL", "group");
  if (first === undefined) return;
  table.kill(first, "SIGKILL");
  await goneWithin(tree, first, killMs);
}

/**
 * The first process inside ends when the command ends, and with it all others. Killing it would do the same, but then
 * `unshare` prints an error into the command's output. A command that is aborted while it is starting does not exist yet,
 * and the process that starts it may miss the signal: so both are signalled again and again.
 */
async function exitsWithCommand(tree: Tree): Promise<boolean> {
  const { child, clock, table } = tree;
  const deadline = clock.monotonic() + killMs;
  do {
    const first = await findFirst(tree);
    if (first !== undefined) {
      table.kill(first, "SIGTERM");
      for (const pid of await table.children(first)) table.kill(pid, "SIGKILL");
    }
    child.signal("SIGCONT", "group");
    if (await exitsWithin(tree, passMs)) return true;
  } while (clock.monotonic() < deadline);
  return false;
}

/** The first process of a namespace exists until the system has ended all others. */
async function goneWithin({ clock, table }: Tree, pid: number, withinMs: number): Promise<void> {
  const deadline = clock.monotonic() + withinMs;
  while (clock.monotonic() < deadline && (await table.isThere(pid))) await sleep(clock, passMs);
}

async function endMembers(tree: Tree, graceMs: number): Promise<void> {
  if (tree.root === undefined) return;
  if (graceMs > 0) await askMembers(tree, tree.root, graceMs);
  await killMembers(tree);
}

async function askMembers(tree: Tree, root: number, graceMs: number): Promise<void> {
  const { child, clock, table } = tree;
  const deadline = clock.monotonic() + graceMs;
  child.signal("SIGTERM", "group");
  for (const pid of await members(tree)) if (pid !== root) table.kill(pid, "SIGTERM");
  await exitsWithin(tree, Math.max(0, deadline - clock.monotonic()));
  while (clock.monotonic() < deadline && (await members(tree)).length > 0) await sleep(clock, 5 * passMs);
}

async function sweepMembers(tree: Tree): Promise<boolean> {
  const { clock, root, table } = tree;
  if (root === undefined) return false;
  // The processes were started after the command, so nearly always only a few have to be checked; unless pids have
  // wrapped around.
  const lastPid = (await table.load())?.lastPid;
  const abovePid = lastPid !== undefined && lastPid < root ? 0 : root;
  if ((await members(tree, abovePid)).length === 0) return false;
  await sleep(clock, lingerMs);
  if ((await members(tree, abovePid)).length === 0) return false;
  await killMembers(tree, abovePid);
  return true;
}

/** Searches again for processes that were started while others were killed, until several searches in a row find none. */
async function killMembers(tree: Tree, abovePid?: number): Promise<void> {
  const { child, clock } = tree;
  const deadline = clock.monotonic() + killMs;
  // A group is stopped at once, however fast it grows; where processes cannot be listed, the group is all that is known.
  const hasGroup = abovePid === undefined;
  if (hasGroup) child.signal("SIGSTOP", "group");
  let found = await stopMembers(tree, deadline, abovePid);
  for (let waitMs = passMs; ; waitMs = Math.min(2 * waitMs, 4 * passMs)) {
    if (hasGroup) child.signal("SIGKILL", "group");
    await signalAll(tree, found, "SIGKILL");
    if (found.size === 0 || clock.monotonic() > deadline) return;
    await sleep(clock, waitMs);
    // Environments are read only the first time: that takes longest, and the processes found by them were killed.
    found = await stopMembers(tree, deadline, abovePid ?? 0);
  }
}

/** A stopped process starts no others, and still leads to its children, which it would not if it were killed at once. */
async function stopMembers(tree: Tree, deadline: number, abovePid?: number): Promise<Set<number>> {
  const { table, clock } = tree;
  const found = new Set<number>();
  const onMarked = (pid: number) => table.kill(pid, "SIGSTOP");
  const stop = async (from: number | undefined) => {
    const others = (await members(tree, from, { known: found, onMarked })).filter((pid) => !found.has(pid));
    await signalAll(tree, others, "SIGSTOP");
    for (const pid of others) found.add(pid);
    return others.length > 0;
  };
  await stop(abovePid);
  // In a chain of forks each process exists for a moment only, as one of the newest: a few quick searches catch it. Where
  // others are still dying, all are searched for once more anyway.
  let left = found.size > 0 ? 1 : quickSearches;
  while (left-- > 0 && clock.monotonic() < deadline) {
    const lastPid = (await table.load())?.lastPid;
    if (lastPid !== undefined && (await stop(Math.max(0, lastPid - newestPids)))) left = quickSearches;
  }
  return found;
}

/** A few at a time: there may be thousands, and other work waits. */
async function signalAll({ table }: Tree, pids: Iterable<number>, signal: NodeJS.Signals): Promise<void> {
  let count = 0;
  for (const pid of pids) {
    table.kill(pid, signal);
    if (++count % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Counted while they are stopped: a group that grows faster than it is counted would never be found too large. */
async function pausedMembers(tree: Tree): Promise<number[]> {
  tree.child.signal("SIGSTOP", "group");
  try {
    return await members(tree, 0);
  } finally {
    tree.child.signal("SIGCONT", "group");
  }
}

async function getUsage(tree: Tree, limits: Limits, isUrgent: boolean): Promise<Usage> {
  const { table, namespace } = tree;
  if (!namespace) return await table.usage(await (isUrgent ? pausedMembers(tree) : members(tree, 0)), limits);
  const first = await findFirst(tree);
  return await table.usage(first === undefined ? [] : await table.inside(first, limits.processes), limits);
}

async function members(
  { table, marker, root }: Tree,
  abovePid?: number,
  { known, onMarked }: { known?: Iterable<number>; onMarked?: (pid: number) => void } = {},
): Promise<number[]> {
  return root === undefined ? [] : getMembers(await table.list({ marker, root, abovePid, onMarked }), root, known);
}

async function exitsWithin({ child, clock }: Tree, withinMs: number): Promise<boolean> {
  const stop = new AbortController();
  const hasExited = child.exit.then(() => true);
  const late = sleep(clock, withinMs, stop.signal).then(() => false);
  const result = await Promise.race([hasExited, late]);
  stop.abort();
  return result;
}

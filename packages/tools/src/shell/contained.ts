/** A command together with everything it starts, so that all of it can be ended. */
import { type Clock } from "@tau/ai";
import { sleep, untilTimeout } from "@tau/ai/internal";
import type { CommandEnd, ConfinedProcess, SandboxEntry, SandboxReport } from "../platform/command-sandbox.ts";
import type { ExitStatus, RunningProcess, Spawn, SpawnRequest } from "../platform/spawn.ts";
import { type Limits, resolveLimits, toRlimits, toSystemLimits, type Usage } from "./limits.ts";
import { enterNamespace, type PidNamespace } from "./pid-namespace.ts";
import { type Marker, marked, getMembers, nextTurn, type ProcessTable, type Search } from "./process-tree.ts";
import { watchLimits } from "./watch.ts";
import type { Watchdog } from "./watchdog.ts";

export type Containment = "pid namespace" | "best effort";

export interface Contained {
  readonly pid: number | undefined;
  readonly containment: Containment;
  readonly isInSandbox: boolean;
  readonly stdin: RunningProcess["stdin"];
  readonly stdout: RunningProcess["stdout"];
  readonly stderr: RunningProcess["stderr"];
  readonly exit: Promise<ExitStatus>;
  /** Why it was ended, in words for the model, if it took more than its limits. */
  readonly excess: string | undefined;
  /** Asks everything to end, and after `graceMs` makes it. Resolves when nobody is left. Only the first call has an effect. */
  end(graceMs: number): Promise<void>;
  /** After an exit of its own: ends what the command left behind, and says whether there was anything. */
  sweep(): Promise<boolean>;
  /** After the exit. */
  leaveSandbox(end: CommandEnd): Promise<SandboxReport>;
}

interface ContainedOptions {
  spawn: Spawn;
  clock: Clock;
  table: ProcessTable;
  watchdog: Watchdog;
  namespace: PidNamespace | undefined;
  request: SpawnRequest;
  limits?: Partial<Limits>;
  /** Takes the place of `namespace`. */
  sandbox?: SandboxEntry | undefined;
}

/** How long what was killed may take to be gone, and how often that is looked at. */
const killMs = 1_300;
/** How long killing continues while processes turn up that were not there before. */
const maxKillMs = 10_000;
const passMs = 10;
const quickLooks = 6;
const newestPids = 24;
/** How long what outlives its command may take to finish by itself. */
const lingerMs = 100;

export async function startContained(options: ContainedOptions): Promise<Contained> {
  const { sandbox, namespace, table, clock, watchdog } = options;
  const limits = resolveLimits(options.limits);
  const [maxFiles, load] = await Promise.all([table.openFiles(), table.load()]);
  const systemLimits = toSystemLimits(limits, { maxFiles, load });
  const marker = watchdog.mark();
  const confined = await sandbox?.start(systemLimits);
  const child = confined ?? (await startHeld(options, marker, toRlimits(systemLimits)));
  const tree: Tree = { ...options, child, confined, marker, root: child.pid, first: undefined };
  const isNamespace = confined !== undefined || namespace !== undefined;
  let ending: Promise<void> | undefined;
  let excess: string | undefined;
  const end = (graceMs: number) =>
    (ending ??= confined
      ? endConfined(tree, confined, graceMs)
      : namespace
        ? endNamespace(tree, graceMs)
        : endMembers(tree, graceMs));
  const stopWatching = watchLimits({
    clock,
    limits,
    first: load,
    load: table.load,
    usage: (isUrgent) => getUsage(tree, limits, isUrgent),
    onExcess(text) {
      if (!ending) excess = text;
      // `sweep` fails too then.
      end(0).catch(() => undefined);
    },
  });
  void child.exit.then(stopWatching);
  return {
    pid: child.pid,
    containment: isNamespace ? "pid namespace" : "best effort",
    isInSandbox: confined !== undefined,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exit: child.exit,
    get excess() {
      return excess;
    },
    end,
    async sweep() {
      if (ending) await ending;
      if (confined && !ending) return confined.hadLeftovers();
      return ending || isNamespace ? false : await sweepMembers(tree);
    },
    leaveSandbox: async (end) => (await sandbox?.finish(end)) ?? { notices: [] },
  };
}

async function startHeld(
  { spawn, namespace, request, watchdog }: ContainedOptions,
  marker: Marker,
  rlimits: readonly string[],
): Promise<RunningProcess> {
  await watchdog.watch();
  const inside = namespace ? enterNamespace(request, namespace) : request;
  // Outside of the namespace: inside, root has laid down the right to stand back as often as it starts commands.
  return await spawn({ ...marked(inside, marker, rlimits), detached: true });
}

interface Tree extends ContainedOptions {
  child: RunningProcess;
  /** The process, where a sandbox has started it. */
  confined: ConfinedProcess | undefined;
  marker: Marker;
  root: number | undefined;
  /** The first process of its namespace, once it has been found. */
  first: number | undefined;
}

async function findFirst(tree: Tree): Promise<number | undefined> {
  const { confined, root, table } = tree;
  const find = async () => (root === undefined ? undefined : await table.firstInside(root));
  return (tree.first ??= await (confined ? confined.findFirst() : find()));
}

/** Its exit is the proof that nobody is left, also after a kill. */
async function endConfined(tree: Tree, confined: ConfinedProcess, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    confined.signal("SIGTERM", "group");
    confined.signal("SIGCONT", "group");
    if (await exitsWithin(tree, graceMs)) return;
  }
  confined.killAll();
  await exitsWithin(tree, killMs);
}

/** The process we started lives until the last one inside is gone, so its exit is the proof, unless we kill it. */
async function endNamespace(tree: Tree, graceMs: number): Promise<void> {
  const { child, table } = tree;
  if (graceMs > 0) {
    child.signal("SIGTERM", "group");
    // What stopped its group has stopped the process we started as well.
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
 * The first process inside goes when the command goes, and takes everything along. Killed itself it would do so too, but
 * `unshare` complains about that in the command's output. A command that is only being started when it is aborted is not
 * there yet, and what should start it may not have heard us: so both are repeated.
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

/** The first process of a namespace is there until the system has ended all others. */
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
  // The processes of a command are younger than it, so only the pids above its own have to be checked, which are few;
  // unless pids have started again from 1.
  const lastPid = (await table.load())?.lastPid;
  const abovePid = lastPid !== undefined && lastPid < root ? 0 : root;
  if ((await members(tree, abovePid)).length === 0) return false;
  await sleep(clock, lingerMs);
  if ((await members(tree, abovePid)).length === 0) return false;
  await killMembers(tree, abovePid);
  return true;
}

/** Processes that got away while others were killed are looked for again, until several looks in a row find none. */
async function killMembers(tree: Tree, abovePid?: number): Promise<void> {
  const { child, clock } = tree;
  const startMs = clock.monotonic();
  // A group is stopped at one blow, however fast it grows; where processes cannot be listed, it is all there is.
  const hasGroup = abovePid === undefined;
  if (hasGroup) child.signal("SIGSTOP", "group");
  const known = new Set<number>();
  let stopped = await stopMembers(tree, startMs + maxKillMs, abovePid);
  for (let waitMs = passMs; ; waitMs = Math.min(2 * waitMs, 4 * passMs)) {
    if (hasGroup) child.signal("SIGKILL", "group");
    await signalAll(tree, stopped, "SIGKILL");
    const hasNew = [...stopped].some((pid) => !known.has(pid));
    if (stopped.size === 0 || clock.monotonic() - startMs > (hasNew ? maxKillMs : killMs)) return;
    for (const pid of stopped) known.add(pid);
    await sleep(clock, waitMs);
    // Environments are read once: that takes longest, and processes that were known by one have been killed.
    stopped = await stopMembers(tree, startMs + maxKillMs, abovePid ?? 0);
  }
}

/** A stopped process starts no others, and still leads to its children, which it would not if it were killed at once. */
async function stopMembers(tree: Tree, deadline: number, abovePid?: number): Promise<Set<number>> {
  const { table, clock } = tree;
  const stopped = new Set<number>();
  const dead = new Set<number>();
  const stop = async (look: number | undefined): Promise<boolean> => {
    const before = dead.size;
    const onMarked: Search["onMarked"] = ({ pid, isZombie }) => (isZombie ? dead.add(pid) : table.kill(pid, "SIGSTOP"));
    const others = (await members(tree, look, { known: stopped, onMarked })).filter((pid) => !stopped.has(pid));
    await signalAll(tree, others, "SIGSTOP");
    for (const pid of others) stopped.add(pid);
    return others.length > 0 || dead.size > before;
  };
  await stop(abovePid);
  // A link of a chain of forks lives for a moment only, and then is one of the newest: a few quick looks catch it. One
  // that has died since the last look has left a next one. Where others are still dying, there will be another full look.
  let left = stopped.size > 0 ? 1 : quickLooks;
  while (left-- > 0 && clock.monotonic() < deadline) {
    await nextTurn();
    const lastPid = (await table.load())?.lastPid;
    if (lastPid !== undefined && (await stop(Math.max(0, lastPid - newestPids)))) left = quickLooks;
  }
  return stopped;
}

/** A few at a time: there may be thousands, and other work waits. */
async function signalAll({ table }: Tree, pids: Iterable<number>, signal: NodeJS.Signals): Promise<void> {
  let count = 0;
  for (const pid of pids) {
    table.kill(pid, signal);
    if (++count % 64 === 0) await nextTurn();
  }
}

/** Counted while they stand still: what grows faster than it is counted would never be found too large. */
async function pausedMembers(tree: Tree): Promise<number[]> {
  tree.child.signal("SIGSTOP", "group");
  try {
    return await members(tree, 0);
  } finally {
    tree.child.signal("SIGCONT", "group");
  }
}

async function getUsage(tree: Tree, limits: Limits, isUrgent: boolean): Promise<Usage> {
  const { table, namespace, confined } = tree;
  if (!namespace && !confined)
    return await table.usage(await (isUrgent ? pausedMembers(tree) : members(tree, 0)), limits);
  const first = await findFirst(tree);
  return await table.usage(first === undefined ? [] : await table.inside(first, limits.processes), limits);
}

async function members(
  { table, marker, root }: Tree,
  abovePid?: number,
  { known, onMarked }: { known?: Iterable<number>; onMarked?: Search["onMarked"] } = {},
): Promise<number[]> {
  return root === undefined ? [] : getMembers(await table.list({ marker, root, abovePid, onMarked }), root, known);
}

async function exitsWithin({ child, clock }: Tree, withinMs: number): Promise<boolean> {
  return (await untilTimeout(child.exit, withinMs, clock)).kind === "done";
}

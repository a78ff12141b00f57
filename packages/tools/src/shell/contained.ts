/** A command together with everything it starts, so that all of it can be ended. */
import { type Clock, type Ids, sleep } from "@tau/ai";
import type { ExitStatus, RunningProcess, Spawn, SpawnRequest } from "../platform/spawn.ts";
import { enterNamespace, type PidNamespace } from "./pid-namespace.ts";
import { type Marker, marked, markerOf, membersOf, type ProcessTable } from "./process-tree.ts";

export type Containment = "pid namespace" | "best effort";

export interface Contained {
  readonly pid: number | undefined;
  readonly containment: Containment;
  readonly stdout: RunningProcess["stdout"];
  readonly stderr: RunningProcess["stderr"];
  readonly exit: Promise<ExitStatus>;
  /** Asks everything to end, and after `graceMs` makes it. Resolves when nobody is left. Only the first call counts. */
  end(graceMs: number): Promise<void>;
  /** After an exit of its own: ends what the command left behind, and says whether there was anything. */
  sweep(): Promise<boolean>;
}

export interface ContainedOptions {
  spawn: Spawn;
  clock: Clock;
  ids: Ids;
  table: ProcessTable;
  namespace: PidNamespace | undefined;
  request: SpawnRequest;
}

/** How long what was killed may take to be gone, and how often that is looked at. */
const killMs = 500;
const passMs = 10;
/** How long what outlives its command may take to finish by itself. */
const lingerMs = 100;

export async function startContained(options: ContainedOptions): Promise<Contained> {
  const { spawn, ids, namespace, request } = options;
  const marker = markerOf(ids());
  const wrapped = namespace ? enterNamespace(request, namespace) : marked(request, marker);
  const child = await spawn({ ...wrapped, detached: true });
  const tree: Tree = { ...options, child, marker, root: child.pid };
  let ending: Promise<void> | undefined;
  return {
    pid: child.pid,
    containment: namespace ? "pid namespace" : "best effort",
    stdout: child.stdout,
    stderr: child.stderr,
    exit: child.exit,
    end: (graceMs) => (ending ??= namespace ? endNamespace(tree, graceMs) : endMembers(tree, graceMs)),
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
}

/** The process we started lives until the last one inside is gone, so its exit is the proof. */
async function endNamespace(tree: Tree, graceMs: number): Promise<void> {
  const { child, table, root } = tree;
  child.signal("SIGTERM", "group");
  if (root === undefined || (await exitsWithin(tree, graceMs))) return;
  // The first process inside goes when the command goes, and takes everything along. Killed itself it would do so too,
  // but `unshare` complains about that in the command's output.
  const commands = (await Promise.all((await table.children(root)).map((first) => table.children(first)))).flat();
  for (const pid of commands) table.kill(pid, "SIGKILL");
  if (commands.length > 0 && (await exitsWithin(tree, killMs))) return;
  child.signal("SIGKILL", "group");
  await exitsWithin(tree, killMs);
}

async function endMembers(tree: Tree, graceMs: number): Promise<void> {
  const { child, clock, table, root } = tree;
  if (root === undefined) return;
  const deadline = clock.monotonic() + graceMs;
  child.signal("SIGTERM", "group");
  for (const pid of await members(tree)) if (pid !== root) table.kill(pid, "SIGTERM");
  await exitsWithin(tree, graceMs);
  while (clock.monotonic() < deadline && (await members(tree)).length > 0) await sleep(clock, 5 * passMs);
  child.signal("SIGKILL", "group");
  await killMembers(tree);
}

async function sweepMembers(tree: Tree): Promise<boolean> {
  const { clock, root } = tree;
  if (root === undefined) return false;
  // Whoever is looked for was started after the command, so nearly always only a few have to be looked at.
  if ((await members(tree, root)).length === 0) return false;
  await sleep(clock, lingerMs);
  if ((await members(tree, root)).length === 0) return false;
  await killMembers(tree, root);
  return true;
}

/** What is killed may have been starting others, so it looks again until it finds nobody. */
async function killMembers(tree: Tree, abovePid?: number): Promise<void> {
  const deadline = tree.clock.monotonic() + killMs;
  for (;;) {
    const left = await members(tree, abovePid);
    for (const pid of left) tree.table.kill(pid, "SIGKILL");
    if (left.length === 0 || tree.clock.monotonic() > deadline) return;
    await sleep(tree.clock, passMs);
  }
}

const members = async ({ table, marker, root }: Tree, abovePid?: number): Promise<number[]> =>
  root === undefined ? [] : membersOf(await table.list(marker, abovePid), root);

async function exitsWithin({ child, clock }: Tree, withinMs: number): Promise<boolean> {
  const stop = new AbortController();
  const hasExited = child.exit.then(() => true);
  const late = sleep(clock, withinMs, stop.signal).then(() => false);
  const result = await Promise.race([hasExited, late]);
  stop.abort();
  return result;
}

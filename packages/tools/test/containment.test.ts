import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSpawn, type Spawn, type SpawnRequest } from "../src/platform/spawn.ts";
import { startContained } from "../src/shell/contained.ts";
import { findPidNamespace, isPassing, type PidNamespace } from "../src/shell/pid-namespace.ts";
import { createProcessTable, type ProcessTable } from "../src/shell/process-tree.ts";
import { useWatchdog } from "../src/shell/watchdog.ts";
import { bundleProgram } from "./program.ts";
import { scratch } from "./scratch.ts";
import { allowance } from "./time.ts";
import { containments, processesAbout, processesIn, processesWith, shell, uniqueSleep, zombies } from "./shell-kit.ts";

/** Ways for a process to get away from a search. `@` is where the marker goes. */
const escapes: [string, string][] = [
  ["a process that raises its soft limits", "ulimit -S -x unlimited; setsid -f env -i sleep @; sleep @"],
  ["a process that lowers its soft limits", "ulimit -S -x 5; setsid -f env -i sleep @; sleep @"],
  ["a process that starts others all the time", "trap '' TERM; while :; do sleep @ & sleep 0.001; done"],
  ["a process that stopped itself", "sleep @ & (kill -STOP $BASHPID; exec sleep @) & sleep @"],
];
/** Only root can raise a hard limit, and then only its parent tells which command a process belongs to. */
if (process.getuid?.() === 0) {
  const spawner = `trap "" TERM; while :; do sleep @ & sleep 0.001; done`;
  escapes.push([
    "a process that removes its marks",
    `ulimit -x unlimited; setsid env -i bash -c '${spawner}' & sleep @`,
  ]);
} else console.log("Not root, so the marks cannot be removed, and that is not tried.");

/** Each link starts the next and is gone at once. They are seen by what they write into a file called `beat`. */
const again = `setsid bash -c "$1" link "$1" &`;
const chains: [string, string][] = [
  ["a chain of forks", "f() { echo >>beat; f & }; f; sleep 20"],
  ["a chain of sessions", `b='echo >>beat; ${again}'; bash -c "$b" link "$b"; sleep 20`],
  ["a chain with an empty environment", `b='echo >>beat; env -i ${again}'; bash -c "$b" link "$b"; sleep 20`],
];
const perl = await createSpawn()({ argv: ["perl", "-e", "1"], cwd: "/", env: { PATH: process.env["PATH"] ?? "" } });
const fastChains: [string, string][] = [];
if ((await perl.exit).kind === "exited") {
  const link = "fork and exit; POSIX::setsid(); syswrite B, 1";
  const fast = `$SIG{TERM} = "IGNORE"; open B, ">>beat"; while (1) { ${link} }`;
  fastChains.push(["a fast chain", `env -i perl -MPOSIX -e '${fast}' & sleep 20`]);
} else console.log("There is no perl, so a fast chain of forks is not tried.");

/** Looks often: a link of a chain lasts a few milliseconds, and may be gone before one look reaches it. */
async function findLinks(cwd: string): Promise<number[]> {
  for (let look = 0; look < 40; look++) {
    const pids = processesIn(cwd);
    if (pids.length > 0) return pids;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return [];
}

const countBeats = (cwd: string): number => statSync(join(cwd, "beat"), { throwIfNoEntry: false })?.size ?? 0;

/** A program that runs commands with the tool, as its arguments say, for as long as it lives. */
const program = `
  import { createBashTool } from "../src/shell/bash.ts";
  import { createJobs } from "../src/shell/jobs.ts";
  import { createSpawn } from "../src/platform/spawn.ts";
  const [how, background, command] = process.argv.slice(2);
  const held = how === "best effort" ? { namespace: () => Promise.resolve(undefined) } : {};
  const tool = createBashTool({ cwd: "/", spawn: createSpawn(), jobs: createJobs(), ...held });
  console.log("ready");
  await tool.execute("id", { command, background: background === "true" }).catch(() => {});
`;
let directory: string;
let script: string;

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-killed-")));
  script = await bundleProgram(join(directory, "program.mjs"), program);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(containments)("with %s", (containment, namespace) => {
  const fresh = () => shell({ ...(namespace && { namespace }) });
  // Without a namespace, what forks faster than processes can be listed gets away.
  const held = containment === "pid namespace" ? [...chains, ...fastChains] : chains;

  test.each(escapes)("an abort ends %s", async (_name, command) => {
    const { failure } = fresh();
    const marker = uniqueSleep();
    const abort = new AbortController();
    const result = failure(command.replaceAll("@", marker), abort.signal);
    await expect.poll(() => processesWith(marker).length).toBeGreaterThan(1);
    abort.abort();
    await result;
    expect(processesWith(marker)).toEqual([]);
    await expect.poll(zombies).toEqual([]);
  });

  test.each(held)("an abort ends %s", async (_name, command) => {
    const { failure, cwd } = fresh();
    const abort = new AbortController();
    const result = failure(command, abort.signal);
    await expect.poll(() => countBeats(cwd)).toBeGreaterThan(20);
    abort.abort();
    await result;
    expect(await findLinks(cwd)).toEqual([]);
  });

  test("a directory that was removed is named as the cause", async () => {
    const cwd = join(scratch(), "gone");
    const { failure } = shell({ cwd, ...(namespace && { namespace }) });
    rmSync(cwd, { recursive: true, force: true });
    expect(await failure("true")).toContain(`Command could not be started in ${cwd}: The directory does not exist.`);
  });

  describe("the program that runs the tool is killed", () => {
    const start = async (command: string, isInBackground = false): Promise<ChildProcess> => {
      const args = [script, containment, String(isInBackground), command];
      const child = nodeSpawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout!, "data");
      return child;
    };

    test("and nothing is left of its command, nor of its job", async () => {
      const marker = uniqueSleep();
      const command = "sleep @ & setsid env -i sleep @ & (trap '' TERM HUP; sleep @); sleep @".replaceAll("@", marker);
      const parents = await Promise.all([start(command), start(command, true)]);
      await expect.poll(() => processesWith(marker)).toHaveLength(6);
      for (const parent of parents) parent.kill("SIGKILL");
      await expect.poll(() => processesAbout(marker)).toEqual([]);
    });

    test.each(held.slice(-2))("and nothing is left of %s", async (_name, command) => {
      const cwd = scratch();
      const parent = await start(`cd ${cwd}; ${command}`);
      await expect.poll(() => countBeats(cwd)).toBeGreaterThan(20);
      parent.kill("SIGKILL");
      await expect.poll(() => findLinks(cwd)).toEqual([]);
    });

    test("and nothing is left, whenever that is", async () => {
      const marker = uniqueSleep();
      await Promise.all(
        Array.from({ length: 5 }, async (_unused, turn) => {
          const parent = await start(`sleep ${marker} & setsid env -i sleep ${marker}; sleep ${marker}`);
          await sleep(systemClock, 5 * turn);
          parent.kill("SIGKILL");
        }),
      );
      await expect.poll(() => processesAbout(marker)).toEqual([]);
    });

    test("but one that ends by itself does not wait for its watchdog", async () => {
      const parent = await start("true");
      const [code] = (await once(parent, "exit")) as [number];
      expect(code).toBe(0);
    });
  });
});

describe.skipIf(containments.length < 2)("in a pid namespace", () => {
  test("an abort at any moment of the start is over at once, and complains of nothing", async () => {
    const { bash, failure } = shell();
    const marker = uniqueSleep();
    await bash("true");
    const limitMs = allowance(800);
    for (let turn = 0; turn < 40; turn++) {
      const abort = new AbortController();
      const result = failure(`setsid -f sleep ${marker}; trap '' TERM; sleep ${marker}`, abort.signal);
      await sleep(systemClock, turn / 3);
      const started = performance.now();
      abort.abort();
      expect(await result).toMatch(/^Command aborted/);
      expect(performance.now() - started).toBeLessThan(limitMs);
      expect(processesWith(marker)).toEqual([]);
    }
    await expect.poll(zombies).toEqual([]);
  });

  test("an abort is not waited for when no process inside hears it", async () => {
    const { name, prefix } = (await findPidNamespace(createSpawn()))!;
    const at = prefix.lastIndexOf("--") + 1;
    const silence = uniqueSleep();
    const deaf = ["sh", "-c", `{ trap "" TERM; sleep ${silence}; trap - TERM; } 2>/dev/null; exec "$@"`, "sh"];
    const slow: PidNamespace = { name, prefix: [prefix[0], ...prefix.slice(1, at), ...deaf, ...prefix.slice(at)] };
    const { failure } = shell({ namespace: () => Promise.resolve(slow) });
    const marker = uniqueSleep();
    const abort = new AbortController();
    const result = failure(`setsid -f sleep ${marker}; trap '' TERM; sleep ${marker}`, abort.signal);
    await expect.poll(() => processesWith(silence)).toHaveLength(1);
    const started = performance.now();
    abort.abort();
    expect(await result).toBe("Command aborted");
    expect(performance.now() - started).toBeLessThan(allowance(800));
    expect(processesWith(marker)).toEqual([]);
  });

  test("an abort ends a command that has stopped its whole group", async () => {
    const { failure } = shell();
    const marker = uniqueSleep();
    const abort = new AbortController();
    const result = failure(`(exec -a ${marker} sleep 30) & sleep 0.1; kill -STOP 0; wait`, abort.signal);
    const isStopped = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") T ");
    await expect.poll(() => processesWith(marker).some(isStopped)).toBe(true);
    const started = performance.now();
    abort.abort();
    expect(await result).toBe("Command aborted");
    expect(performance.now() - started).toBeLessThan(allowance(800));
    expect(processesWith(marker)).toEqual([]);
  });

  test("our environment stays hidden, whatever a command tries to uncover", async () => {
    const { bash } = shell();
    const tries = ["umount /proc", "umount -l /proc", "nsenter -t 1 -m umount /proc", "mount -t proc proc /proc"];
    const { text } = await bash(`(${tries.join("; ")}; cat /proc/${process.pid}/environ) 2>&1; true`);
    expect(text).toMatch(/superuser|permitted|denied/);
    expect(text).not.toContain("PATH=");
    expect(text).toContain(`/proc/${process.pid}/environ: No such file`);
  });
});

describe.skipIf(containments.length < 2)("the processes of a namespace", () => {
  const table = createProcessTable();
  const inside = "unshare --user --map-root-user --pid --fork --kill-child --mount-proc --".split(" ");

  /** Starts a program that says that it is ready, and hands over its pid. It is ended after the test. */
  const ready = async (...argv: string[]): Promise<number> => {
    const child = nodeSpawn(argv[0]!, argv.slice(1), { stdio: ["ignore", "pipe", "inherit"], detached: true });
    onTestFinished(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL");
    });
    await once(child.stdout, "data");
    return child.pid!;
  };
  const isOwn = (pid: number, root: number) => pid !== root && pid !== process.pid;

  test("are found through all wrappers of the command, and others are not among them", async () => {
    const twice = ["sh", "-c", '"$@"; exit $?', "sh", "sh", "-c", '"$@"; exit $?', "sh"];
    const root = await ready(...twice, ...inside, "sh", "-c", "sleep 30 & echo ready; wait");
    const first = (await table.firstInside(root))!;
    expect(isOwn(first, root)).toBe(true);
    expect(readFileSync(`/proc/${first}/status`, "utf8")).toMatch(/^NSpid:.*\t1$/m);
    expect(await table.inside(first, 100)).toHaveLength(2);
  });

  test("are counted in namespaces that they make themselves, too", async () => {
    const nested = `${inside.join(" ")} sh -c 'sleep 30 & sleep 30 & echo ready; wait'`;
    const root = await ready(...inside, "sh", "-c", `${nested}; :`);
    const first = (await table.firstInside(root))!;
    // Two shells, what makes the second namespace, and two programs.
    expect(await table.inside(first, 100)).toHaveLength(5);
    const { processes } = await table.usage(await table.inside(first, 1), { processes: 1, memoryBytes: 1 });
    expect(processes).toBeGreaterThan(1);
  });

  test("are counted without asking a /proc of theirs that never answers", async () => {
    const cover =
      "mount -t tmpfs none /proc; for i in 1 2 3 4 5 6 7 8; do mkdir /proc/$i; mkfifo /proc/$i/status; done";
    const root = await ready(...inside, "sh", "-c", `${cover}; sleep 30 & echo ready; wait`);
    const first = (await table.firstInside(root))!;
    const usage = await table.usage(await table.inside(first, 100), { processes: 100, memoryBytes: 1e12 });
    expect(usage.processes).toBe(2);
    expect(usage.memoryBytes).toBeGreaterThan(0);
  });

  test("a first process that finds pipes in the place of /proc does not wait for them", async () => {
    const { prefix } = (await findPidNamespace(createSpawn()))!;
    const init = prefix.slice(prefix.lastIndexOf("--") + 1);
    const cover = "mount -t tmpfs none /proc; mkdir /proc/7; mkfifo /proc/7/stat; echo ready";
    const root = await ready(...inside, ...init, "sh", "-c", cover);
    await expect.poll(() => table.isThere(root)).toBe(false);
  });

  const canShare = existsSync("/proc/self/smaps_rollup") && fastChains.length > 0;
  test.skipIf(!canShare)("memory that they share is counted once before it is compared with a limit", async () => {
    const program =
      '$| = 1; $x = "x" x (40 << 20); for (1..5) { fork or do { sleep 30; exit } } print "ready"; sleep 30';
    const root = await ready("perl", "-e", program);
    const pids = [root, ...(await table.children(root))];
    expect(pids).toHaveLength(6);
    const apart = await table.usage(pids, { processes: 100, memoryBytes: 1e12 });
    const together = await table.usage(pids, { processes: 100, memoryBytes: 100e6 });
    expect(apart.memoryBytes).toBeGreaterThan(200e6);
    expect(together.memoryBytes).toBeLessThan(apart.memoryBytes / 3);
    expect(together.memoryBytes).toBeGreaterThan(40e6);
  });
});

test.each([
  ["all processes are looked at when pids have begun again from below", 1, () => 0],
  ["only younger processes are looked at otherwise", 2 ** 30, (pid: number) => pid],
])("after a command, %s", async (_name, lastPid, expected) => {
  const real = createProcessTable();
  const seen: (number | undefined)[] = [];
  const table: ProcessTable = {
    ...real,
    load: async () => ({ tasks: 1, usedBytes: 1, lastPid }),
    list(search) {
      seen.push(search.abovePid);
      return real.list(search);
    },
  };
  const spawn = createSpawn();
  const watchdog = useWatchdog({ spawn, clock: systemClock });
  const request: SpawnRequest = { argv: ["true"], cwd: "/", env: { PATH: process.env["PATH"] ?? "" } };
  const held = await startContained({ spawn, clock: systemClock, table, watchdog, namespace: undefined, request });
  await held.exit;
  await held.sweep();
  expect(seen[0]).toBe(expected(held.pid!));
  await watchdog.release();
});

test("the marks of two watchdogs begin differently: each ends what begins like its own", () => {
  const [first, second] = [createSpawn(), createSpawn()].map((spawn) => useWatchdog({ spawn, clock: systemClock }));
  const beginning = (mark: { value: number }) => String(mark.value).slice(0, 9);
  expect(beginning(first!.mark())).toBe(beginning(first!.mark()));
  expect(beginning(first!.mark())).not.toBe(beginning(second!.mark()));
});

describe("looking for a namespace", () => {
  /** Fails the first programs that are started in the way that is given, and starts all others. */
  const failing = (count: number, failure: { code: string } | { argv: [string, ...string[]] }): Spawn => {
    const real = createSpawn();
    return async (request) => {
      if (count-- <= 0) return await real(request);
      if ("argv" in failure) return await real({ ...request, argv: failure.argv });
      const child = await real({ ...request, argv: ["true"] });
      await child.exit;
      return { ...child, exit: Promise.resolve({ kind: "failed", message: "spawn failed", code: failure.code }) };
    };
  };
  const isLinux = process.platform === "linux";

  test.skipIf(containments.length < 2).each([
    ["EAGAIN", { code: "EAGAIN" }],
    ["EMFILE", { code: "EMFILE" }],
    [
      "fork failed",
      { argv: ["sh", "-c", "echo 'unshare: fork failed: Resource temporarily unavailable' >&2; exit 1"] },
    ],
    ["a killed program", { argv: ["sh", "-c", "kill -KILL $$"] }],
  ] as [string, Parameters<typeof failing>[1]][])("%s is not remembered", async (_name, failure) => {
    const spawn = failing(2, failure);
    expect(await findPidNamespace(spawn)).toBeUndefined();
    expect(await findPidNamespace(spawn)).toBeDefined();
  });

  test.runIf(isLinux)("a refusal is remembered, and not asked for again", async () => {
    let count = 0;
    const real = createSpawn();
    const spawn: Spawn = async (request) => {
      count++;
      return await real({ ...request, argv: ["false"] });
    };
    for (let round = 0; round < 3; round++) expect(await findPidNamespace(spawn)).toBeUndefined();
    expect(count).toBe(2);
  });

  test("a refusal of the system is told from a failure of the moment", () => {
    expect(isPassing({ kind: "failed", message: "", code: "ENOENT" }, "")).toBe(false);
    expect(isPassing({ kind: "failed", message: "", code: "ENOMEM" }, "")).toBe(true);
    expect(isPassing({ kind: "failed", message: "" }, "")).toBe(true);
    expect(isPassing({ kind: "signalled", signal: "SIGSYS" }, "")).toBe(false);
    expect(isPassing({ kind: "exited", code: 1 }, "unshare: unshare failed: Operation not permitted")).toBe(false);
    expect(isPassing({ kind: "exited", code: 1 }, "")).toBe(false);
    expect(isPassing({ kind: "exited", code: 2 }, "")).toBe(true);
  });
});

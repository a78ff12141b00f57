import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpawn, type Spawn } from "../src/platform/spawn.ts";
import { findPidNamespace, isPassing } from "../src/shell/pid-namespace.ts";
import { scratch } from "./scratch.ts";
import { containments, processesWith, shell, uniqueSleep, until, zombies } from "./shell-kit.ts";

/** Ways to get away from whoever looks. `@` is where the marker goes. */
const escapes: [string, string][] = [
  ["what raises its soft limits", "ulimit -S -x unlimited; setsid -f env -i sleep @; sleep @"],
  ["what lowers its soft limits", "ulimit -S -x 5; setsid -f env -i sleep @; sleep @"],
  ["what starts others all the time", "trap '' TERM; while :; do sleep @ & sleep 0.001; done"],
  ["what stopped itself", "sleep @ & (kill -STOP $BASHPID; exec sleep @) & sleep @"],
];
/** Only root can raise a hard limit, and then nothing but its parent tells who a process belongs to. */
if (process.getuid?.() === 0) {
  const spawner = `trap "" TERM; while :; do sleep @ & sleep 0.001; done`;
  escapes.push(["what sheds its marks", `ulimit -x unlimited; setsid env -i bash -c '${spawner}' & sleep @`]);
} else console.log("Not root, so the marks cannot be shed, and that is not tried.");

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

const pause = (afterMs: number) => new Promise((resolve) => setTimeout(resolve, afterMs));

/** A link of a chain lasts a few milliseconds. */
async function isSilent(beats: () => number): Promise<boolean> {
  const before = beats();
  await pause(150);
  return beats() === before;
}

/** A program that runs commands with the tool, as its arguments say, for as long as it lives. */
const program = `
  import { createBashTool } from ${JSON.stringify(join(import.meta.dirname, "../src/shell/bash.ts"))};
  import { createJobs } from ${JSON.stringify(join(import.meta.dirname, "../src/shell/jobs.ts"))};
  import { createSpawn } from ${JSON.stringify(join(import.meta.dirname, "../src/platform/spawn.ts"))};
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
  script = join(directory, "program.mjs");
  const stdin = { contents: program, resolveDir: import.meta.dirname, loader: "js" } as const;
  await build({ stdin, outfile: script, bundle: true, platform: "node", format: "esm", logLevel: "error" });
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
    await until(() => processesWith(marker).length > 1);
    const started = performance.now();
    abort.abort();
    await result;
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(processesWith(marker)).toEqual([]);
    expect(zombies()).toEqual([]);
  });

  test.each(held)("an abort ends %s", async (_name, command) => {
    const { failure, cwd } = fresh();
    const beats = () => statSync(join(cwd, "beat"), { throwIfNoEntry: false })?.size ?? 0;
    const abort = new AbortController();
    const result = failure(command, abort.signal);
    await until(() => beats() > 20);
    abort.abort();
    await result;
    expect(await isSilent(beats)).toBe(true);
  });

  test("a directory that was removed is what is blamed", async () => {
    const cwd = join(scratch(), "gone");
    const { failure } = shell({ cwd, ...(namespace && { namespace }) });
    rmSync(cwd, { recursive: true, force: true });
    expect(await failure("true")).toContain(`Command could not be started in ${cwd}: The directory does not exist.`);
  });

  describe("whoever runs the tool is killed", () => {
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
      await until(() => processesWith(marker).length === 6);
      for (const parent of parents) parent.kill("SIGKILL");
      await untilGone(marker);
    });

    test.each(held.slice(-2))("and nothing is left of %s", async (_name, command) => {
      const cwd = scratch();
      const beats = () => statSync(join(cwd, "beat"), { throwIfNoEntry: false })?.size ?? 0;
      const parent = await start(`cd ${cwd}; ${command}`);
      await until(() => beats() > 20);
      parent.kill("SIGKILL");
      await until(() => isSilent(beats), 2_000);
    });

    test("and nothing is left, at whatever moment that is", async () => {
      const marker = uniqueSleep();
      await Promise.all(
        Array.from({ length: 5 }, async (_unused, turn) => {
          const parent = await start(`sleep ${marker} & setsid env -i sleep ${marker}; sleep ${marker}`);
          await pause(5 * turn);
          parent.kill("SIGKILL");
        }),
      );
      await untilGone(marker);
    });

    test("but one that ends by itself does not wait for its watchdog", async () => {
      const parent = await start("true");
      const [code] = (await once(parent, "exit")) as [number];
      expect(code).toBe(0);
    });
  });
});

/** Within two seconds, and for good. */
async function untilGone(marker: string): Promise<void> {
  await until(() => processesWith(marker).length === 0, 2_000);
  await pause(100);
  expect(processesWith(marker)).toEqual([]);
}

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
    const spawn = failing(3, failure);
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
    expect(count).toBe(3);
  });

  test("what says something about the system is told from what says something about the moment", () => {
    expect(isPassing({ kind: "failed", message: "", code: "ENOENT" }, "")).toBe(false);
    expect(isPassing({ kind: "failed", message: "", code: "ENOMEM" }, "")).toBe(true);
    expect(isPassing({ kind: "failed", message: "" }, "")).toBe(true);
    expect(isPassing({ kind: "signalled", signal: "SIGSYS" }, "")).toBe(false);
    expect(isPassing({ kind: "exited", code: 1 }, "unshare: unshare failed: Operation not permitted")).toBe(false);
    expect(isPassing({ kind: "exited", code: 1 }, "")).toBe(false);
    expect(isPassing({ kind: "exited", code: 2 }, "")).toBe(true);
  });
});

import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { type FileSystem, nodeFileSystem } from "../src/platform/file-system.ts";
import { acquireLease, type Lease, type LeaseHolder } from "../src/platform/lease.ts";
import { compare, thisProcess, verdictOn } from "../src/platform/process-mark.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { beforeEachCall, directFileSystem, takeTurns } from "./direct-file-system.ts";
import { bundleProgram } from "./program.ts";
import { quickScratch, scratch } from "./scratch.ts";

const take = async (path: string, isAlive?: () => Promise<boolean>): Promise<Lease> => {
  const outcome = await acquireLease(path, isAlive ? { isAlive } : {});
  if (outcome.kind === "busy") throw new Error(`busy: ${JSON.stringify(outcome.holder)}`);
  return outcome.lease;
};

/** Simulates file systems without hard links. */
const withoutLinks = (real: FileSystem): FileSystem => ({
  ...real,
  link: () => Promise.reject(Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" })),
});

const fileSystems = [
  ["hard links", nodeFileSystem, directFileSystem],
  ["no hard links", withoutLinks(nodeFileSystem), withoutLinks(directFileSystem)],
] as const;

test("a full disk leaves nothing of a lease that could not be acquired", async () => {
  const directory = scratch();
  const isFull = () => Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }));
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    open: async (...args) => Object.assign(await nodeFileSystem.open(...args), { write: isFull }),
  };
  await expect(acquireLease(join(directory, "lease"), { fileSystem })).rejects.toThrow("ENOSPC");
  expect(readdirSync(directory)).toEqual([]);
});

test("without hard links one process holds it, and nothing but the lease is left", async () => {
  const directory = scratch();
  const path = join(directory, "lease");
  const options = { fileSystem: withoutLinks(nodeFileSystem) };
  const first = await acquireLease(path, options);
  expect(first).toMatchObject({ kind: "held", lease: { generation: 1 } });
  expect(await acquireLease(path, options)).toMatchObject({ kind: "busy", holder: { pid: process.pid } });
  // A process that can link sees the same.
  expect(await acquireLease(path)).toMatchObject({ kind: "busy", holder: { pid: process.pid } });
  if (first.kind === "held") await first.lease.release();
  expect(await acquireLease(path, options)).toMatchObject({ kind: "held", lease: { generation: 2 } });
  expect(readdirSync(directory)).toEqual(["lease"]);
});

test("one process holds it, the next is told which, and after it was released nothing is left of it", async () => {
  const directory = scratch();
  const path = join(directory, "lease");
  const first = await take(path);
  const second = await acquireLease(path);
  expect(second).toMatchObject({ kind: "busy", holder: { pid: process.pid, generation: 1 } });
  await first.release();
  expect(await first.isHeld()).toBe(false);
  expect(readdirSync(directory)).toEqual([]);
  expect(await (await take(path)).isHeld()).toBe(true);
});

test("a holder that was overtaken can tell, and cannot release the lease of another", async () => {
  const path = join(scratch(), "lease");
  const old = await take(path);
  const fresh = await take(path, async () => false);
  expect(fresh.generation).toBe(2);
  expect(await old.isHeld()).toBe(false);
  await old.release();
  expect(await fresh.isHeld()).toBe(true);
});

test("a holder of another boot, another start or no process at all is dead", async () => {
  const path = join(scratch(), "lease");
  const lease = await take(path);
  const holder = JSON.parse(readFileSync(path, "utf8"));
  for (const change of [{ bootId: "other" }, { startTime: "1" }, { pid: 2 ** 22 + 1 }, { pid: 0 }]) {
    writeFileSync(path, JSON.stringify({ ...holder, ...change }));
    const taken = await take(path);
    expect(taken.generation).toBe(lease.generation + 1);
  }
});

test("a file that names no holder is free", async () => {
  for (const content of ["", "{", "null", "[]", '{"id":3}']) {
    const path = join(scratch(), "lease");
    writeFileSync(path, content);
    expect((await take(path)).generation).toBe(1);
  }
});

test("claims of dead processes, or that name none, do not count and are removed", async () => {
  const directory = scratch();
  const path = join(directory, "lease");
  writeFileSync(`${path}.claim-1-0`, JSON.stringify({ id: "x", pid: 0, startTime: "", bootId: "", generation: 1 }));
  writeFileSync(`${path}.claim-1-1`, "{");
  expect((await take(path)).generation).toBe(1);
  expect(readdirSync(directory)).toEqual(["lease"]);
});

test.for(fileSystems)("with %s, whatever call fails, exactly one process holds it afterwards", async ([, real]) => {
  const points = await withEveryFault(real, async (fileSystem) => {
    const path = join(scratch(), "lease");
    writeFileSync(`${path}.claim-1-0`, "");
    const outcome = await acquireLease(path, { fileSystem }).catch(() => undefined);
    const next = await acquireLease(path, { fileSystem: real });
    expect(next.kind).toBe(outcome?.kind === "held" ? "busy" : "held");
  });
  expect(points).toBeGreaterThan(12);
});

test.for(fileSystems)(
  "with %s, in whatever order rivals act and die, never do two living ones hold it",
  async ([, , real]) => {
    const directory = quickScratch();
    let runs = 0;
    const law = fc.asyncProperty(
      fc.array(fc.option(fc.nat(60), { freq: 1 }), { minLength: 2, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 4, maxLength: 12 }),
      async (deaths, bursts) => {
        const path = join(directory, String(++runs));
        // The first finds a claim of a dead process, and so does the second.
        writeFileSync(`${path}.claim-1-0`, "");
        const [dead, holding] = [new Set<string>(), new Set<string>()];
        const isAlive = async (holder: LeaseHolder) => holder.pid !== 0 && !dead.has(holder.id.split(".")[0]!);
        const contend = async (name: string, death: number | null, itsTurn: () => Promise<void>) => {
          let calls = 0;
          const fileSystem = beforeEachCall(real, async () => {
            await itsTurn();
            if (calls++ === death) dead.add(name);
            if (dead.has(name)) throw new Error("dead");
          });
          for (let turn = 0; turn < 3; turn++) {
            const outcome = await acquireLease(path, { fileSystem, isAlive, ids: () => `${name}.${turn}` });
            if (outcome.kind === "busy") continue;
            expect([...holding].filter((other) => !dead.has(other))).toEqual([]);
            holding.add(name);
            expect(await outcome.lease.isHeld()).toBe(true);
            holding.delete(name);
            await outcome.lease.release();
          }
        };
        await takeTurns(
          bursts,
          deaths.map((death, at) => async (itsTurn) => {
            await contend(`c${at}`, death, itsTurn).catch((error: unknown) => {
              if (!(error instanceof Error) || error.message !== "dead") throw error;
            });
          }),
        );
        // No process is left that could hold it.
        for (const fileSystem of [real, nodeFileSystem]) {
          expect((await acquireLease(path, { fileSystem, isAlive: async () => false })).kind).toBe("held");
        }
      },
    );
    await fc.assert(law, { numRuns: process.env["TAU_LONG"] ? 200 : 60 });
  },
);

test("processes that are killed at any call give way to others, and never do two hold it", async () => {
  const directory = scratch();
  const script = await bundleProgram(
    join(directory, "contender.mjs"),
    `
      import { appendFileSync } from "node:fs";
      import { nodeFileSystem } from "../src/platform/file-system.ts";
      import { acquireLease } from "../src/platform/lease.ts";
      import { beforeEachCall } from "./direct-file-system.ts";
      const [path, log, death] = process.argv.slice(2);
      const end = () => process.kill(process.pid, "SIGKILL");
      let calls = 0;
      const fileSystem = beforeEachCall(nodeFileSystem, async () => {
        if (++calls === Number(death)) end();
      });
      for (let taken = 0; taken < 10;) {
        const outcome = await acquireLease(path, { fileSystem });
        if (outcome.kind === "busy") { await new Promise((resolve) => setTimeout(resolve, 1)); continue; }
        const turn = process.pid + "." + calls;
        appendFileSync(log, "in " + turn + "\\n");
        await new Promise((resolve) => setImmediate(resolve));
        if (calls > 0.8 * Number(death)) { appendFileSync(log, "die " + turn + "\\n"); end(); }
        appendFileSync(log, "out " + turn + "\\n");
        await outcome.lease.release();
        taken++;
      }
    `,
  );
  const [path, log] = [join(directory, "lease"), join(directory, "log")];
  writeFileSync(log, "");
  const run = (death: number) => {
    const child = fork(script, [path, log, String(death)], { stdio: "ignore" });
    return new Promise<"killed" | "done">((resolve) => {
      child.once("exit", (code) => resolve(code === 0 ? "done" : "killed"));
    });
  };
  const ends = await Promise.all(
    Array.from({ length: 6 }, async (_unused, at) => {
      const lives = [17, 40].map((death) => death + 3 * at);
      const killed = [];
      for (const death of lives) killed.push(await run(death));
      return [...killed, await run(Number.MAX_SAFE_INTEGER)];
    }),
  );
  expect(ends.flat().filter((end) => end === "killed")).toHaveLength(6 * 2);
  const steps = readFileSync(log, "utf8").trim().split("\n");
  let open: string | undefined;
  for (const step of steps) {
    const [what, turn] = step.split(" ");
    if (what === "in") {
      expect(open).toBeUndefined();
      open = turn;
    } else {
      expect(turn).toBe(open);
      open = undefined;
    }
  }
  expect(steps.filter((step) => step.startsWith("out")).length).toBeGreaterThanOrEqual(6 * 10);
});

const isolate = ["--pid", "--fork", "--kill-child"];
const cannotIsolate = spawnSync("unshare", [...isolate, "--mount-proc", "true"], { encoding: "utf8" });
const skipped = cannotIsolate.status !== 0;
if (skipped) console.log(`Leases across pid namespaces are not tested: unshare fails here. ${cannotIsolate.stderr}`);

/** A process in a pid namespace of its own that tries to take the lease, says what came of it, and lives on. */
async function contendIsolated(script: string, path: string, options: readonly string[]) {
  const child = spawn("unshare", [...isolate, ...options, process.execPath, script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // When its output is closed, the process inside is gone too.
  const closed = once(child, "close");
  const end = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(end);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { outcome: JSON.parse(line.toString()) as { kind: string; advice?: string }, end };
}

const isolated = `
  import { acquireLease } from "../src/platform/lease.ts";
  const outcome = await acquireLease(process.argv[2]);
  console.log(JSON.stringify(outcome));
  setInterval(() => {}, 60_000);
`;

for (const options of [["--mount-proc"], []]) {
  test.skipIf(skipped)(
    `a holder outside of a pid namespace is not robbed from inside (${options.join()})`,
    async () => {
      const directory = scratch();
      const script = await bundleProgram(join(directory, "isolated.mjs"), isolated);
      const path = join(directory, "lease");
      const ours = await take(path);
      const { outcome } = await contendIsolated(script, path, options);
      expect(outcome).toMatchObject({ kind: "busy", advice: expect.stringContaining(`remove ${path}`) });
      expect(await ours.isHeld()).toBe(true);
    },
  );

  test.skipIf(skipped)(`a holder inside is not robbed from outside or beside (${options.join()})`, async () => {
    const directory = scratch();
    const script = await bundleProgram(join(directory, "isolated.mjs"), isolated);
    const path = join(directory, "lease");
    const holder = await contendIsolated(script, path, options);
    expect(holder.outcome.kind).toBe("held");
    expect((await acquireLease(path)).kind).toBe("busy");
    expect((await contendIsolated(script, path, ["--mount-proc"])).outcome.kind).toBe("busy");
    await holder.end();
    // Only a process that sees all others can tell that it has ended; others are told what to do.
    const expected =
      thisProcess().pidNamespace === "pid:[4026531836]"
        ? { kind: "held" }
        : { kind: "busy", advice: expect.stringContaining("remove") };
    // The system ends the processes of a namespace a moment after its first one.
    await vi.waitFor(async () => expect(await acquireLease(path)).toMatchObject(expected), { timeout: 60_000 });
  });
}

test.skipIf(process.platform !== "linux")("a holder that has ended and is not yet buried is dead", async () => {
  const directory = scratch();
  const path = join(directory, "lease");
  const script = await bundleProgram(join(directory, "isolated.mjs"), isolated);
  // The shell becomes a program that never asks after its children.
  const parent = spawn("sh", ["-c", '"$0" "$1" "$2" & echo $!; exec sleep 60', process.execPath, script, path]);
  onTestFinished(() => void parent.kill("SIGKILL"));
  let said = "";
  for await (const chunk of parent.stdout) {
    said += String(chunk);
    if (said.includes("}")) break;
  }
  const pid = Number.parseInt(said, 10);
  expect(await acquireLease(path)).toMatchObject({ kind: "busy", holder: { pid } });
  process.kill(pid, "SIGKILL");
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
  expect((await acquireLease(path)).kind).toBe("held");
});

test("numbers of processes are compared only where they mean the same", async () => {
  const ours = { pid: 5, startTime: "9", bootId: "b", pidNamespace: "pid:[1]" };
  const places = [
    [ours, ours, "here"],
    [{ ...ours, pidNamespace: "pid:[2]" }, ours, "in another namespace"],
    [{ pid: 5, startTime: "9", bootId: "b" }, ours, "here"],
    [{ ...ours, bootId: "c", pidNamespace: "pid:[2]" }, ours, "before this boot"],
    // A process that sees no /proc knows neither boot nor namespace.
    [{ ...ours, bootId: "", pidNamespace: "" }, ours, "unknown"],
    [ours, { ...ours, bootId: "", pidNamespace: "" }, "unknown"],
    [ours, { ...ours, pidNamespace: "" }, "unknown"],
    [{ ...ours, bootId: "", pidNamespace: "" }, { ...ours, bootId: "", pidNamespace: "" }, "here"],
  ] as const;
  for (const [mark, us, place] of places) expect(compare(mark, us)).toBe(place);
  expect(verdictOn(thisProcess())).toBe("running");
});

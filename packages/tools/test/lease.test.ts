import { fork } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { acquireLease, type Lease } from "../src/platform/lease.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { scratch } from "./scratch.ts";

const take = async (path: string, isAlive?: () => Promise<boolean>): Promise<Lease> => {
  const outcome = await acquireLease(path, isAlive ? { isAlive } : {});
  if (outcome.kind === "busy") throw new Error(`busy: ${JSON.stringify(outcome.holder)}`);
  return outcome.lease;
};

test("one holds it, the next is told who, and after it was given back it is free", async () => {
  const path = join(scratch(), "lease");
  const first = await take(path);
  const second = await acquireLease(path);
  expect(second).toMatchObject({ kind: "busy", holder: { pid: process.pid, generation: 1 } });
  await first.release();
  expect(await first.isHeld()).toBe(false);
  expect((await take(path)).generation).toBe(2);
});

test("who was overtaken can tell, and cannot give away what is not theirs", async () => {
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

test("a file that names nobody is nobody's", async () => {
  for (const content of ["", "{", "null", "[]", '{"id":3}']) {
    const path = join(scratch(), "lease");
    writeFileSync(path, content);
    expect((await take(path)).generation).toBe(1);
  }
});

test("a claim whose claimant died is cleared away", async () => {
  const path = join(scratch(), "lease");
  writeFileSync(`${path}.claim-1`, JSON.stringify({ id: "x", pid: 0, startTime: "", bootId: "", generation: 1 }));
  expect((await take(path)).generation).toBe(1);
});

test("whatever call fails, at most one holds it afterwards", async () => {
  await withEveryFault(nodeFileSystem, async (fileSystem) => {
    const path = join(scratch(), "lease");
    const outcome = await acquireLease(path, { fileSystem }).catch(() => undefined);
    const held = outcome?.kind === "held" && (await outcome.lease.isHeld().catch(() => false));
    const next = await acquireLease(path);
    if (held) expect(next.kind).toBe("busy");
  });
});

test("eight processes take turns, some are killed, and never do two hold it", async () => {
  const directory = scratch();
  const script = join(directory, "contender.mjs");
  await build({
    stdin: {
      resolveDir: import.meta.dirname,
      loader: "ts",
      contents: `
        import { appendFileSync } from "node:fs";
        import { acquireLease } from "../src/platform/lease.ts";
        const [path, log, dies] = process.argv.slice(2);
        let taken = 0;
        while (taken < 25) {
          const outcome = await acquireLease(path);
          if (outcome.kind === "busy") { await new Promise((resolve) => setTimeout(resolve, 1)); continue; }
          appendFileSync(log, "in " + outcome.lease.generation + "\\n");
          if (dies === "yes" && taken === 5) process.kill(process.pid, "SIGKILL");
          await new Promise((resolve) => setImmediate(resolve));
          appendFileSync(log, "out " + outcome.lease.generation + "\\n");
          await outcome.lease.release();
          taken++;
        }
      `,
    },
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "silent",
    external: ["google-auth-library"],
  });
  const [path, log] = [join(directory, "lease"), join(directory, "log")];
  writeFileSync(log, "");
  await Promise.all(
    Array.from({ length: 8 }, (_unused, at) => {
      const child = fork(script, [path, log, at < 2 ? "yes" : "no"], { stdio: "ignore" });
      return new Promise((resolve) => child.once("exit", resolve));
    }),
  );
  const steps = readFileSync(log, "utf8").trim().split("\n");
  let open: string | undefined;
  let last = 0;
  for (const step of steps) {
    const [what, generation] = step.split(" ");
    if (what === "out") {
      expect(generation).toBe(open);
      open = undefined;
      continue;
    }
    // One that was killed inside leaves no "out"; the next generation is then larger all the same.
    expect(Number(generation)).toBeGreaterThan(last);
    last = Number(generation);
    open = generation;
  }
  expect(steps.filter((step) => step.startsWith("out"))).toHaveLength(6 * 25 + 2 * 5);
  expect(readdirSync(directory).filter((name) => name.includes("claim"))).toEqual([]);
}, 60_000);

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { createRecordFiles } from "@tau/tools/storage";
import { expect, onTestFinished, test } from "vitest";
import { GatewayError } from "../errors.ts";
import { getDigest } from "./digest.ts";
import { IdempotencyKeys, type Recovered } from "./idempotency-keys.ts";

function scratch(): string {
  const directory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tau-keys-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const dayMs = 24 * 60 * 60_000;

async function open(directory = scratch(), clock = createFakeClock(), maxBytes = 4_000) {
  const keys = await IdempotencyKeys.open(createRecordFiles({ agentDir: directory }), {
    clock,
    log: () => {},
    maxBytes,
  });
  return { keys, directory, clock };
}

test("the same request has its effect once and the same answer, also after a restart", async () => {
  const { keys, directory, clock } = await open();
  let count = 0;
  const work = async () => ({ count: ++count });
  expect(await keys.once("k", { body: "a", run: work })).toEqual({ count: 1 });
  expect(await keys.once("k", { body: "a", run: work })).toEqual({ count: 1 });
  await keys.close();
  const again = await open(directory, clock);
  expect(await again.keys.once("k", { body: "a", run: work })).toEqual({ count: 1 });
  await clock.advance(dayMs);
  expect(await again.keys.once("k", { body: "a", run: work })).toEqual({ count: 2 });
  await again.keys.close();
});

test("another request with the same key is a conflict, also while the first one is running", async () => {
  const { keys } = await open();
  let finish: ((answer: string) => void) | undefined;
  const first = keys.once("k", { body: "a", run: () => new Promise((resolve) => (finish = resolve)) });
  const same = keys.once("k", { body: "a", run: async () => "never" });
  await expect(keys.once("k", { body: "b", run: async () => "never" })).rejects.toMatchObject({ code: "conflict" });
  await expect.poll(() => finish).toBeDefined();
  finish?.("done");
  expect(await Promise.all([first, same])).toEqual(["done", "done"]);
  await expect(keys.once("k", { body: "b", run: async () => "never" })).rejects.toMatchObject({ code: "conflict" });
  await keys.close();
});

test("a failure is answered again, but one that may be tried again frees the key", async () => {
  const { keys, directory, clock } = await open();
  const fail = (code: string) => async () => {
    throw new GatewayError(code, `It is ${code}.`);
  };
  await expect(keys.once("k", { body: "a", run: fail("not_found") })).rejects.toMatchObject({ code: "not_found" });
  await expect(keys.once("busy", { body: "a", run: fail("rate_limited") })).rejects.toMatchObject({
    code: "rate_limited",
  });
  await keys.close();
  const again = await open(directory, clock);
  await expect(again.keys.once("k", { body: "a", run: async () => "never" })).rejects.toMatchObject({
    code: "not_found",
    message: "It is not_found.",
  });
  expect(await again.keys.once("busy", { body: "a", run: async () => "now" })).toBe("now");
  await again.keys.close();
});

test("an answer that is too large to be kept is not given again, and the work is not done again", async () => {
  const { keys } = await open();
  const large = "x".repeat(100_000);
  expect(await keys.once("k", { body: "a", run: async () => large })).toBe(large);
  await expect(keys.once("k", { body: "a", run: async () => "never" })).rejects.toMatchObject({
    code: "unknown_outcome",
  });
  await keys.close();
});

test("what became of a request that a crash cut is found out once", async () => {
  const { keys, directory, clock } = await open();
  const cut = { body: "a", run: () => new Promise(() => {}) };
  for (const key of ["done", "nothing", "unknown"]) void keys.once(key, cut);
  void keys
    .once("fault", {
      body: "a",
      run: async () => {
        throw new GatewayError("unknown_outcome", "A node was lost.");
      },
    })
    .catch(() => {});
  await keys.close();
  let again = await open(directory, clock);
  let count = 0;
  const repeat = (key: string, recovered: Recovered) =>
    again.keys.once(key, { body: "a", run: async () => ++count, recover: async () => recovered });
  expect(await repeat("done", { kind: "payload", payload: "said" })).toBe("said");
  expect(await repeat("fault", { kind: "payload", payload: "said too" })).toBe("said too");
  expect(
    await Promise.all([repeat("nothing", { kind: "no_effect" }), repeat("nothing", { kind: "no_effect" })]),
  ).toEqual([1, 1]);
  await expect(repeat("unknown", { kind: "unknown" })).rejects.toMatchObject({ code: "unknown_outcome" });
  await again.keys.close();
  again = await open(directory, clock);
  for (const key of ["done", "fault"]) expect(await repeat(key, { kind: "unknown" })).toMatch("said");
  expect(await repeat("nothing", { kind: "unknown" })).toBe(1);
  await again.keys.close();
});

test("the order of fields does not matter, their content does", () => {
  expect(getDigest({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(getDigest({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }));
  expect(getDigest({ a: [1, 2] })).not.toBe(getDigest({ a: [2, 1] }));
});

test("under any order of requests, crashes and restarts, each key has at most one effect and one answer", async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("call"), key: fc.nat(3), body: fc.nat(1), ends: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart") }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("large") }) },
  );
  const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    const directory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tau-keys-"));
    let { keys, clock } = await open(directory, createFakeClock(), 500);
    const effects = new Map<string, string>();
    const answers = new Map<string, unknown>();
    /** Requests that never end, until the next restart. */
    const running = new Set<string>();
    for (const [index, each] of steps.entries()) {
      if (each.kind === "restart") {
        // Like a crash: what runs never ends, and another process goes on.
        await keys.close();
        running.clear();
        ({ keys } = await open(directory, clock, 500));
        continue;
      }
      if (each.kind === "large") {
        await keys.once(`other-${index}`, { body: "a", run: async () => "y".repeat(400) });
        continue;
      }
      const { key: number, body: which, ends } = each as { key: number; body: number; ends: boolean };
      const [key, body] = [`k${number}`, `b${which}`];
      const before = effects.get(key);
      let onBegun = () => {};
      const hasBegun = new Promise<void>((resolve) => (onBegun = resolve));
      const called = keys.once(key, {
        body,
        run: async () => {
          expect(effects.has(key)).toBe(false);
          effects.set(key, body);
          onBegun();
          return ends ? { index } : await new Promise(() => {});
        },
      });
      if (before !== undefined && before !== body) {
        await expect(called).rejects.toMatchObject({ code: "conflict" });
      } else if (answers.has(key)) {
        expect(await called).toEqual(answers.get(key));
      } else if (before === undefined && ends) {
        answers.set(key, await called);
      } else if (before === undefined) {
        running.add(key);
        await hasBegun;
      } else if (!running.has(key)) {
        await expect(called).rejects.toMatchObject({ code: "unknown_outcome" });
      }
    }
    await keys.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await fc.assert(property, { numRuns: 40 });
});

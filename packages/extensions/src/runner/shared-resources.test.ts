import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPorts } from "../../test/ports.ts";
import type { ExtensionAPI } from "../api/api.ts";
import type { ExtensionSource } from "../api/extension.ts";
import { startExtension } from "../load/start-extension.ts";
import { maxCloseMs, SharedResources } from "./shared-resources.ts";

const clock = createFakeClock();

type Step =
  | { kind: "acquire"; user: number; key: string }
  | { kind: "release"; user: number }
  | { kind: "settle"; index: number; fails: boolean };

const user = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("acquire" as const), user, key: fc.constantFrom("a", "b") }),
  fc.record({ kind: fc.constant("release" as const), user }),
  fc.record({ kind: fc.constant("settle" as const), index: fc.nat(5), fails: fc.boolean() }),
);

/** Opening and closing take until a step lets them go on. */
interface Waiting {
  key: string;
  settle(fails: boolean): void;
}

async function runSteps(steps: readonly Step[]): Promise<void> {
  const resources = new SharedResources();
  const users = Array.from({ length: 4 }, () => ({}));
  const waiting: Waiting[] = [];
  const live = new Map<string, number>();
  const held = users.map(() => new Set<object>());
  const closed = new Set<object>();
  const wait = (key: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ key, settle: (fails) => (fails ? reject(new Error("It failed.")) : resolve()) });
    });
  const count = (key: string, change: number) => {
    live.set(key, (live.get(key) ?? 0) + change);
    // Never two of a key at a time, not even while one is opened or closed.
    expect(live.get(key)).toBeLessThanOrEqual(1);
  };
  const open = async (key: string) => {
    count(key, 1);
    try {
      await wait(key);
    } catch (error) {
      count(key, -1);
      throw error;
    }
    const resource = {
      key,
      async close() {
        expect(closed.has(resource)).toBe(false);
        closed.add(resource);
        for (const set of held) expect(set.has(resource)).toBe(false);
        await wait(key).catch(() => {});
        count(key, -1);
      },
    };
    return resource;
  };
  const pending: Promise<unknown>[] = [];
  const acquire = async (index: number, key: string, generation: number) => {
    const resource = await resources.acquire(key, users[index]!, () => open(key)).catch(() => undefined);
    // A user that was released meanwhile does not use it.
    if (!resource || generations[index] !== generation) return;
    expect(closed.has(resource)).toBe(false);
    held[index]!.add(resource);
  };
  const generations = users.map(() => 0);
  const release = (index: number) => {
    generations[index]!++;
    held[index]!.clear();
    pending.push(resources.release(users[index]!, clock));
  };
  const flush = () => new Promise((resolve) => void setImmediate(resolve));
  for (const next of steps) {
    if (next.kind === "acquire") pending.push(acquire(next.user, next.key, generations[next.user]!));
    else if (next.kind === "release") release(next.user);
    else waiting.splice(next.index, 1)[0]?.settle(next.fails);
    await flush();
    for (const set of held) for (const resource of set) expect(closed.has(resource)).toBe(false);
  }
  for (const index of users.keys()) release(index);
  await flush();
  for (; waiting.length > 0; await flush()) waiting.shift()!.settle(false);
  await Promise.all(pending);
  expect([...live.values()].filter((number) => number !== 0)).toEqual([]);
}

test("each key has at most one resource, which is open while somebody has it and closed once afterwards", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), runSteps), { numRuns: 150 });
});

describe("a shared resource", () => {
  test("is opened again for the next user if it could not be opened", async () => {
    const resources = new SharedResources();
    const fail = () => Promise.reject(new Error("No luck."));
    const both = [{}, {}].map((user) => resources.acquire("key", user, fail));
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe("rejected");
    const resource = { close() {} };
    expect(await resources.acquire("key", {}, () => resource)).toBe(resource);
  });

  test("needs a function that closes it", async () => {
    const acquired = new SharedResources().acquire("key", {}, () => ({}) as never);
    await expect(acquired).rejects.toThrow('The shared resource "key" has no function `close`.');
  });

  test("that does not close is waited for no longer than its limit, by nobody", async () => {
    const ownClock = createFakeClock();
    const resources = new SharedResources();
    const first = {};
    await resources.acquire("key", first, () => ({ close: () => new Promise<void>(() => {}) }));
    const released = resources.release(first, ownClock);
    const next = resources.acquire("key", {}, () => ({ close() {} }));
    await Promise.all([
      expect(released).rejects.toThrow(/key was not closed after 5 seconds/),
      expect(next).resolves.toBeDefined(),
      new Promise<void>((resolve) => void setImmediate(resolve)).then(() => ownClock.advance(maxCloseMs)),
    ]);
  });

  test("belongs to one extension, in all sessions that it runs in, and ends with the last", async () => {
    const resources = new SharedResources();
    const closed: string[] = [];
    const startNamed = async (id: string) => {
      const info = { path: id, source: "inline", scope: "temporary", origin: "top-level" } as const;
      const source: ExtensionSource = { id, name: id, path: id, origin: "inline", digest: "", info };
      let api!: ExtensionAPI;
      const { ports } = createPorts();
      const factory = (given: ExtensionAPI) => void (api = given);
      const outcome = await startExtension(source, factory, { ...ports, resources, report: () => {} });
      if (outcome.kind === "failed") throw new Error(outcome.message);
      const open = () => api.shared("key", () => ({ id, close: () => void closed.push(id) }));
      return { open, close: () => outcome.extension.close() };
    };
    const [one, same, other] = [await startNamed("a"), await startNamed("a"), await startNamed("b")];
    expect(await one.open()).toBe(await same.open());
    expect(await other.open()).not.toBe(await one.open());
    await one.close();
    expect(closed).toEqual([]);
    await same.close();
    expect(closed).toEqual(["a"]);
    await expect(one.open()).rejects.toThrow("stale");
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("slots are given in the order in which they were asked for, and one that is aborted is skipped", async () => {
  const slots = new Slots(() => 1);
  const first = (await slots.take(never))!;
  const controller = new AbortController();
  const given: string[] = [];
  void slots.take(controller.signal).then((slot) => given.push(slot ? "aborted, but given" : "aborted"));
  void slots.take(never).then(() => given.push("third"));
  controller.abort();
  await settle();
  first.release();
  first.release();
  await settle();
  expect(given).toEqual(["aborted", "third"]);
  expect(slots.held).toBe(1);
});

test("who waited for others comes before those that have not begun", async () => {
  const slots = new Slots(() => 1);
  const parent = (await slots.take(never))!;
  const order: string[] = [];
  await parent.whileWaiting(async () => {
    const child = (await slots.take(never))!;
    void slots.take(never).then(() => order.push("new"));
    // When the parent asks for its slot again.
    setImmediate(() => child.release());
  }, never);
  order.push("waited");
  parent.release();
  await settle();
  expect(order).toEqual(["waited", "new"]);
});

test("in any tree of agents that wait for their agents, all end, and never more work than the limit", async () => {
  const leaves = fc.array(fc.constant<unknown[]>([]), { maxLength: 3 });
  const tree = fc.array(fc.array(leaves, { maxLength: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(tree, fc.integer({ min: 1, max: 3 }), fc.nat(30), async (root, limit, abortAfter) => {
      const slots = new Slots(() => limit);
      const controller = new AbortController();
      let working = 0;
      let most = 0;
      const run = async (children: readonly unknown[]): Promise<void> => {
        const slot = await slots.take(controller.signal);
        if (!slot) return;
        const work = async () => {
          if (!controller.signal.aborted) most = Math.max(most, ++working);
          else working++;
          await Promise.resolve();
          working--;
        };
        await work();
        await slot.whileWaiting(() => Promise.all(children.map((child) => run(child as unknown[]))), controller.signal);
        await work();
        slot.release();
      };
      const done = run(root);
      if (abortAfter < 10) {
        for (let turn = 0; turn < abortAfter; turn++) await Promise.resolve();
        controller.abort();
      }
      await done;
      expect(most).toBeLessThanOrEqual(limit);
      expect(slots.held).toBe(0);
    }),
    { numRuns: 200 },
  );
});

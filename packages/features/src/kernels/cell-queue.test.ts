import { expect, test } from "vitest";
import { CellQueue, waitsForItself } from "./cell-queue.ts";

test.each([
  ["a call of another cell waits for none of its own", "b/1", [["a"], []], [["b"], []], false],
  ["a cell that started a call waits for it", "a/1", [["a"], []], [[], []], true],
  ["as does one that started the cell of the other kernel", "a/1/1", [["a"], []], [["a/1"], []], true],
  ["ids that only begin alike are others", "a1", [["a"], []], [[], []], false],
  ["two cells that wait for each other", "b/1", [["a"], []], [["b"], ["a/1"]], true],
  ["a cell that waits for one that waits for nothing", "c/1", [["a"], []], [["b"], ["a/1"]], false],
  ["a function is called by a cell that the function waits for", "f/1", [["f"], []], [["b"], []], true],
])("%s", (_what, callId, own, other, expected) => {
  const [first, second] = [own, other].map(([running, waiting]) => ({
    running: new Set(running),
    waiting: new Set(waiting),
  }));
  expect(waitsForItself(callId, first!, [first!, second!])).toBe(expected);
});

test("cells run one after the other, and one that is aborted while it waits leaves its turn to the next", async () => {
  const queue = new CellQueue();
  const order: string[] = [];
  let endFirst = () => {};
  const first = queue.run("a", undefined, () => new Promise<void>((resolve) => (endFirst = resolve)));
  const abort = new AbortController();
  const second = queue.run("b", abort.signal, async () => void order.push("b"));
  const third = queue.run("c", undefined, async () => void order.push("c"));
  await new Promise((resolve) => setImmediate(resolve));
  expect([[...queue.running], [...queue.waiting]]).toEqual([["a"], ["b", "c"]]);
  abort.abort();
  expect(await second).toBe("aborted");
  expect([[...queue.running], [...queue.waiting]]).toEqual([["a"], ["c"]]);
  endFirst();
  await Promise.all([first, third]);
  expect(order).toEqual(["c"]);
  expect([...queue.running, ...queue.waiting]).toEqual([]);
});

test("work that fails leaves its turn to the next", async () => {
  const queue = new CellQueue();
  const failing = queue.run("a", undefined, () => Promise.reject(new Error("No.")));
  const next = queue.run("b", undefined, async () => "b");
  await expect(failing).rejects.toThrow("No.");
  expect(await next).toBe("b");
});

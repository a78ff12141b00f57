import { expect, test } from "vitest";
import { RequestOrder } from "./request-order.ts";

test("requests about a session are done in order, a long one waits for them, and nothing waits for it", async () => {
  const order = new RequestOrder();
  const done: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = order.run("a", false, () => held.then(() => void done.push("first")));
  const second = order.run("a", false, async () => void done.push("second"));
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const long = order.run("a", true, () => (done.push("long begins"), finished.then(() => void done.push("long ends"))));
  await order.run("b", false, async () => void done.push("other"));
  await order.run("", false, async () => void done.push("none"));
  release();
  await Promise.all([first, second]);
  await expect.poll(() => done).toContain("long begins");
  await order.run("a", false, async () => void done.push("third"));
  finish();
  await long;
  expect(done).toEqual(["other", "none", "first", "second", "long begins", "third", "long ends"]);
});

test("nothing is kept of sessions whose requests are done, also of those that failed or do not exist", async () => {
  const order = new RequestOrder();
  const fail = async () => {
    throw new Error("No such session.");
  };
  for (let index = 0; index < 50; index++) {
    await order.run(`session-${index}`, true, async () => {});
    await expect(order.run(`session-${index}`, true, fail)).rejects.toThrow("No such session.");
    await expect(order.run(`session-${index}`, false, fail)).rejects.toThrow("No such session.");
  }
  expect(order.size).toBe(0);
});

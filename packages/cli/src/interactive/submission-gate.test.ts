import { expect, test } from "vitest";
import { SubmissionGate } from "./submission-gate.ts";

function createSignal() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

test("a text that is sent waits for all work, and is kept meanwhile", async () => {
  const gate = new SubmissionGate();
  const [first, second] = [createSignal(), createSignal()];
  const works = [gate.settle(() => first.promise), gate.settle(() => second.promise)];
  const changes: (readonly string[])[] = [];
  const holding = gate.hold("Hi", () => changes.push(gate.held));
  second.resolve();
  await works[1];
  expect([gate.isClosed, gate.held]).toEqual([true, ["Hi"]]);
  first.resolve();
  await holding;
  expect([gate.isClosed, changes]).toEqual([false, [["Hi"], []]]);
});

test("work that fails opens the gate, and its caller gets the failure", async () => {
  const gate = new SubmissionGate();
  const work = gate.settle(async () => {
    throw new Error("No.");
  });
  await expect(work).rejects.toThrow("No.");
  await expect.poll(() => gate.isClosed).toBe(false);
});

import { expect, test } from "vitest";
import { checkHistory, type History } from "./history.ts";

const good: History = {
  messages: [
    { seq: 1, epoch: 5, node: "a" },
    { seq: 2, epoch: 5, node: "" },
    { seq: 4, epoch: 9, node: "b" },
  ],
  lines: ["a-1", "a-2", "b-1"],
  acked: [
    { text: "a-1", node: "a" },
    { text: "b-1", node: "b" },
  ],
};

const broken: [string, Partial<History>, RegExp][] = [
  ["an acknowledged entry that is gone", { lines: ["a-1", "a-2"] }, /b-1 was acknowledged and is lost/],
  ["an entry that is there twice", { lines: ["a-1", "a-2", "b-1", "a-1"] }, /a-1 is there twice/],
  [
    "two owners of an epoch",
    { messages: [...good.messages, { seq: 5, epoch: 9, node: "c" }] },
    /9 has two owners: b and c/,
  ],
  [
    "a message of an epoch that is over",
    { messages: [...good.messages, { seq: 5, epoch: 5, node: "" }] },
    /5 came after one of 9/,
  ],
  ["a message of nobody", { messages: [{ seq: 1, epoch: 5, node: "" }] }, /has no owner/],
];

test("a history without faults has no problems", () => {
  expect(checkHistory(good)).toEqual([]);
});

for (const [name, change, problem] of broken) {
  test(`${name} is found`, () => {
    expect(checkHistory({ ...good, ...change }).join("\n")).toMatch(problem);
  });
}

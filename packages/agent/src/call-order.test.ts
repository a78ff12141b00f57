import { expect, test } from "vitest";
import { echo } from "../test/loop-kit.ts";
import { type CallOrder, getCallOrder, toStages } from "./call-order.ts";
import type { AgentTool } from "./types.ts";

const toOrder = { r: "read", w: "write", u: "unordered" } as const satisfies Record<string, CallOrder>;
const parse = (calls: string) => [...calls].map((letter) => toOrder[letter as keyof typeof toOrder]);

test.each([
  ["r", "0"],
  ["w", "0"],
  ["rrr", "012"],
  ["ww", "0|1"],
  ["rrw", "01|2"],
  ["wrr", "0|12"],
  ["rwr", "0|1|2"],
  ["rrwwrr", "01|2|3|45"],
  ["uuu", "012"],
  ["uw", "01"],
  ["wu", "01"],
  ["wwu", "02|1"],
  ["wuwr", "01|2|3"],
  ["rurwu", "0124|3"],
])("the calls %s run in the stages %s", (calls, stages) => {
  expect(
    toStages(parse(calls))
      .map((stage) => stage.join(""))
      .join("|"),
  ).toBe(stages);
});

test.each([
  [{ readOnly: true }, "ordered", "read"],
  [{ readOnly: false }, "ordered", "write"],
  [{}, "ordered", "write"],
  [{ executionMode: "parallel" }, "ordered", "unordered"],
  [{ executionMode: "parallel", readOnly: true }, "ordered", "unordered"],
  [undefined, "ordered", "write"],
  [{ readOnly: false }, "parallel", "unordered"],
  [undefined, "parallel", "unordered"],
] as [Partial<AgentTool> | undefined, "ordered" | "parallel", CallOrder][])(
  "a call of a tool with %j is, in %s execution, %s",
  (fields, mode, order) => {
    expect(getCallOrder(fields && { ...echo, ...fields }, mode)).toBe(order);
  },
);

import { emptyUsage } from "@tau/ai";
import { noUsage, type UsageAmounts, type UsageGroup } from "@tau/protocol";
import { expect, test } from "vitest";
import type { SessionEntry, SessionHeader } from "../session/entry.ts";
import { addAmounts, type UsageCell, UsageCounter } from "./count-usage.ts";
import { groupUsage } from "./group-usage.ts";

/** Local noon and a few seconds. */
const at = (seconds: number, day = 2) => new Date(2026, 2, day, 12, 0, seconds);
let count = 0;
const entry = (fields: object, time = at(0)): SessionEntry =>
  ({ id: String(++count), parentId: null, timestamp: time.toISOString(), ...fields }) as unknown as SessionEntry;
const usage = (input: number, output: number, cost: number, cacheRead = 0) => ({
  ...emptyUsage(),
  input,
  output,
  cacheRead,
  totalTokens: input + output + cacheRead,
  cost: { ...emptyUsage().cost, total: cost },
});
const answer = (used: object, time = at(0), seconds = 0): SessionEntry =>
  entry(
    {
      type: "message",
      message: {
        role: "assistant",
        provider: "acme",
        model: "small",
        usage: used,
        timestamp: time.getTime() - seconds * 1_000,
      },
    },
    time,
  );
const started = (toolCallId: string, time: Date) =>
  entry({ type: "custom", customType: "tau.call_started", data: { toolCallId, toolName: "bash" } }, time);
const result = (toolCallId: string, time: Date, isError = false) =>
  entry({ type: "message", message: { role: "toolResult", toolCallId, toolName: "bash", isError, content: [] } }, time);

function countAll(entries: readonly SessionEntry[], header?: Partial<SessionHeader>): UsageCell[] {
  const counter = new UsageCounter(header as SessionHeader | undefined);
  for (const each of entries) counter.add(each);
  return counter.cells;
}
const cell = (fields: Partial<UsageCell>) => ({
  ...noUsage,
  day: "2026-03-02",
  kind: "model",
  name: "acme/small",
  ...fields,
});

test.each<[string, SessionEntry[], Partial<UsageCell>[]]>([
  [
    "answers count with their tokens, cost and time",
    [answer(usage(10, 5, 0.25, 85), at(4), 4), answer(usage(1, 1, 0.5))],
    [{ requests: 2, input: 11, output: 6, cacheRead: 85, cost: 0.75, timeMs: 4_000 }],
  ],
  [
    "calls count by tool, with their time and their errors",
    [started("a", at(1)), started("b", at(1)), result("b", at(3)), result("a", at(11), true)],
    [{ kind: "tool", name: "bash", calls: 2, errors: 1, timeMs: 12_000 }],
  ],
  [
    "denied calls count by tool",
    [
      entry({ type: "custom", customType: "tau.decision", data: { toolName: "bash", outcome: "denied" } }),
      entry({ type: "custom", customType: "tau.decision", data: { toolName: "bash", outcome: "allowed" } }),
      result("a", at(1), true),
    ],
    [{ kind: "tool", name: "bash", calls: 1, errors: 1, denied: 1 }],
  ],
  [
    "calls inside another call count, without a time of their own",
    [
      entry({
        type: "custom",
        customType: "tau.nested_call",
        data: { toolCallId: "n", toolName: "read", parentToolCallId: "a", content: [], isError: false },
      }),
    ],
    [{ kind: "tool", name: "read", calls: 1 }],
  ],
  [
    "a summary is of the model before it",
    [answer(usage(1, 1, 1)), entry({ type: "compaction", usage: usage(2, 0, 2) })],
    [{ requests: 2, input: 3, output: 1, cost: 3 }],
  ],
  [
    "requests of extensions count, and children do not: their own logs have them",
    [
      entry({ type: "usage", kind: "extension", provider: "acme", model: "small", usage: usage(1, 0, 1) }),
      entry({ type: "usage", kind: "child", provider: "acme", model: "small", usage: usage(9, 9, 9) }),
    ],
    [{ requests: 1, input: 1, cost: 1 }],
  ],
  [
    "what is not valid counts as nothing",
    [entry({ type: "message", message: null }), answer({ input: -5, cost: "1" })],
    [{ requests: 1 }],
  ],
])("%s", (_name, entries, expected) => {
  expect(countAll(entries)).toEqual(expected.map(cell));
});

test("an entry belongs to the local day on which it was written", () => {
  const entries = [
    answer(usage(1, 0, 0), new Date(2026, 2, 1, 23, 59, 59)),
    answer(usage(2, 0, 0), new Date(2026, 2, 2)),
  ];
  expect(countAll(entries).map(({ day, input }) => [day, input])).toEqual([
    ["2026-03-01", 1],
    ["2026-03-02", 2],
  ]);
});

test("what a fork has copied is counted by the session that it was forked from", () => {
  const entries = [answer(usage(5, 0, 5), at(0)), answer(usage(1, 0, 1), at(20))];
  const header = { timestamp: at(10).toISOString(), branchPoint: "x" };
  expect(countAll(entries, header).map(({ input }) => input)).toEqual([1]);
  expect(countAll(entries, { timestamp: at(10).toISOString() }).map(({ input }) => input)).toEqual([6]);
});

const sessions = [
  {
    cwd: "/a",
    agent: "",
    cells: countAll([
      answer(usage(1, 1, 1)),
      started("x", at(0)),
      result("x", at(1)),
      answer(usage(4, 0, 4), at(0, 3)),
    ]),
  },
  { cwd: "/b", agent: "reviewer", cells: countAll([answer(usage(2, 2, 2), at(0, 3))]) },
];

test.each<[UsageGroup, [string, number, number][]]>([
  [
    "day",
    [
      ["2026-03-02", 1, 1],
      ["2026-03-03", 6, 0],
    ],
  ],
  [
    "project",
    [
      ["/a", 5, 1],
      ["/b", 2, 0],
    ],
  ],
  [
    "agent",
    [
      ["", 5, 1],
      ["reviewer", 2, 0],
    ],
  ],
  ["model", [["acme/small", 7, 0]]],
  ["tool", [["bash", 0, 1]]],
])("by %s, each amount is in one row", (by, rows) => {
  const report = groupUsage(sessions, { by });
  expect(report.rows.map(({ name, cost, calls }) => [name, cost, calls])).toEqual(rows);
  expect(report.total).toMatchObject({ cost: 7, calls: 1, requests: 3 });
  if (by !== "model" && by !== "tool") {
    const sum = report.rows.reduce<UsageAmounts>(addAmounts, noUsage);
    expect(sum).toEqual(report.total);
  }
});

test("the first and the last day count", () => {
  const costs = (since?: string, until?: string) =>
    groupUsage(sessions, { by: "day", ...(since && { since }), ...(until && { until }) }).total.cost;
  expect([
    costs("2026-03-03"),
    costs(undefined, "2026-03-02"),
    costs("2026-03-02", "2026-03-03"),
    costs("2026-03-04"),
  ]).toEqual([6, 1, 7, 0]);
});

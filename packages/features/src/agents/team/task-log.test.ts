import type { SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";
import { describeInterrupted, getLastNumber, readTasks } from "./task-log.ts";

const base = { id: "00000000", parentId: null, timestamp: "" };
const custom = (data: unknown): SessionEntry => ({ ...base, type: "custom", customType: "agents", data });
const asked = (id: string) => custom({ kind: "asked", id, description: `d${id}` });
const started = (id: string) => custom({ kind: "started", id, sessionId: `s${id}`, description: `d${id}` });
const ended = (id: string, status = "done") => custom({ kind: "ended", id, status, report: `report ${id}` });
const message = (...delivered: string[]): SessionEntry => ({
  ...base,
  type: "custom_message",
  customType: "agents",
  content: "",
  display: true,
  details: { delivered },
});
const result = (toolName: string, ...delivered: string[]) =>
  ({
    ...base,
    type: "message",
    message: { role: "toolResult", toolCallId: "a", toolName, content: [], details: { delivered }, isError: false },
  }) as unknown as SessionEntry;

const read = (...entries: SessionEntry[]) =>
  [...readTasks(entries).values()].map(({ id, status, isDelivered }) => [id, status, isDelivered]);

test.each<[name: string, entries: SessionEntry[], tasks: unknown[][]]>([
  ["nothing", [], []],
  ["a task that waits", [asked("1")], [["1", "cut", false]]],
  ["one that was resumed and waits", [started("1"), ended("1"), message("1"), asked("1")], [["1", "cut", false]]],
  ["one that ended before it began", [asked("1"), ended("1", "stopped"), message("1")], [["1", "stopped", true]]],
  ["a task that began", [started("1")], [["1", "cut", false]]],
  ["one that ended", [started("1"), ended("1")], [["1", "done", false]]],
  ["one that was delivered as a message", [started("1"), ended("1", "failed"), message("1")], [["1", "failed", true]]],
  ["one that was delivered as a result", [started("1"), ended("1"), result("task", "1")], [["1", "done", true]]],
  ["the result of another tool", [started("1"), ended("1"), result("other", "1")], [["1", "done", false]]],
  ["one that was resumed", [started("1"), ended("1"), message("1"), started("1")], [["1", "cut", false]]],
  ["an end without a beginning", [ended("7"), message("8")], []],
  ["damaged entries", [custom(null), custom({ kind: "started" }), custom("x"), custom({ kind: "ended", id: 3 })], []],
  ["an unknown status", [started("1"), ended("1", "odd")], [["1", "failed", false]]],
])("%s", (_name, entries, tasks) => {
  expect(read(...entries)).toEqual(tasks);
});

test("the model is told of what it does not know, and of that once", () => {
  const log = [started("1"), ended("1"), message("1"), started("2"), ended("2"), asked("3"), started("3"), asked("4")];
  const told = describeInterrupted(readTasks([...log, started("5"), ended("5"), message("5"), asked("5")]).values())!;
  expect(told.content).toMatch(
    /ended.*\n\nreport 2\n\n.*cut.*: 3 \(d3\), 5 \(d5\)\. To continue.*had not begun.*: 4 \(d4\)\. /s,
  );
  expect(told.details).toEqual({ delivered: ["2", "3", "4", "5"] });
  expect(describeInterrupted(readTasks([...log, message(...told.details.delivered)]).values())).toBeUndefined();
});

test("numbers continue after the highest, also below another agent", () => {
  expect([getLastNumber([]), getLastNumber(["2", "10", "9"]), getLastNumber(["3.1", "3.12"])]).toEqual([0, 10, 12]);
});

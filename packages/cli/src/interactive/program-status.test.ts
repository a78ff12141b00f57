import type { LiveView } from "@tau/protocol";
import type { Terminal } from "@tau/tui";
import { expect, test } from "vitest";
import { formatState, getState, ProgramStatus, type StatusMode } from "./program-status.ts";

const idle = { approvals: [], tools: [], ended: undefined, run: undefined } as unknown as LiveView;
const running = { ...idle, run: {} } as LiveView;
const ended = (reason: string, detail?: string) => ({ ...idle, ended: { reason, detail } }) as LiveView;

test.each<[what: string, live: LiveView, hasDialog: boolean, state: ReturnType<typeof getState>]>([
  ["nothing has run", idle, false, { state: "idle" }],
  ["a menu is open and nothing runs", idle, true, { state: "idle" }],
  ["a run", running, false, { state: "working", message: "Name" }],
  ["compaction", { ...idle, compaction: {} } as LiveView, false, { state: "working", message: "Name" }],
  [
    "a call that is asked about",
    { ...running, approvals: [{}] } as unknown as LiveView,
    true,
    { state: "blocked", kind: "permission", message: "Name" },
  ],
  ["a question of an extension", running, true, { state: "blocked", kind: "question", message: "Name" }],
  ["a run that ended", ended("no_tool_calls"), false, { state: "done", message: "Name" }],
  ["a run that was stopped", ended("abort_signal"), false, { state: "idle" }],
  ["a run that failed", ended("error", "rate_limited"), false, { state: "error", message: "rate_limited" }],
  ["a run that took too long", ended("timeout_48h"), false, { state: "error", message: "timeout_48h" }],
])("%s", (_what, live, hasDialog, state) => {
  expect(getState(live, { sessionName: "Name", hasDialog })).toEqual(state);
});

test("a report has the name in Base64, in one line, and cannot end the sequence", () => {
  expect(formatState({ state: "idle" })).toBe("\x1b]7501;state=idle:app=tau\x1b\\");
  const report = formatState({ state: "blocked", kind: "question", message: "Fix\x1b\\ :it\nand more" });
  const [start, end] = ["\x1b]7501;state=blocked:kind=question:app=tau:msg=", "\x1b\\"];
  expect(report.startsWith(start) && report.endsWith(end)).toBe(true);
  const text = report.slice(start.length, -end.length);
  expect(text).toMatch(/^[\w+/=]+$/);
  expect(Buffer.from(text, "base64").toString()).toBe("Fix :it");
  const long = formatState({ state: "done", message: "x".repeat(10_000) });
  expect(long.length).toBeLessThan(400);
});

function open(mode: StatusMode) {
  const writes: string[] = [];
  const terminal = { write: (data: string) => void writes.push(data) } as unknown as Terminal;
  return { writes, status: new ProgramStatus({ terminal, mode, hasDialog: () => false }) };
}

test("nothing is reported before the terminal has answered, then the latest state, and each change once", () => {
  const { writes, status } = open("ask");
  status.update(idle, undefined);
  status.update(running, "A");
  expect(writes).toEqual([]);
  expect(status.takeAnswer("\x1b[I")).toBe(false);
  expect(status.takeAnswer("\x1b]7501;states=idle,working\x1b\\")).toBe(true);
  status.update(running, "A");
  status.update(ended("no_tool_calls"), "A");
  status.close();
  status.update(running, "A");
  const states = writes.map((write) => /state=(\w+)/.exec(write)?.[1]);
  expect(states).toEqual(["working", "done", "clear"]);
});

test("a user who turned it off gets none, whatever the terminal answers, and one who turned it on needs no answer", () => {
  const off = open("never");
  off.status.update(running, "A");
  expect(off.status.takeAnswer("\x1b]7501;x\x1b\\")).toBe(true);
  off.status.close();
  expect(off.writes).toEqual([]);
  const on = open("always");
  on.status.update(running, undefined);
  expect(on.writes).toEqual(["\x1b]7501;state=working:app=tau\x1b\\"]);
});

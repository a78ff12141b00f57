import { emptyView, type LiveView } from "@tau/protocol";
import { stripTerminalSequences, visibleWidth } from "@tau/tui";
import { expect, test } from "vitest";
import { drawActivity, drawQueue, getActivity } from "./activity-line.ts";
import { Themes } from "./themes.ts";

const { theme } = new Themes({ mode: "none", files: [] });

function draw(messages: { steering?: string[]; followUps?: string[]; late?: string[] }, width = 30): string[] {
  const toQueued = (texts: string[] = []) => texts.map((content, index) => ({ id: String(index), content }));
  const { steering, followUps, late = [] } = messages;
  const live: LiveView = { ...emptyView.live, steering: toQueued(steering), followUps: toQueued(followUps) };
  return drawQueue(live, { theme, width, late, dequeueKey: "Alt-Up" }).map(stripTerminalSequences);
}

test("messages that wait are named with when they are read, and how they are taken back", () => {
  expect(draw({ steering: ["one\ntwo"], followUps: ["three"], late: ["four"] })).toEqual([
    " next: one two",
    " later: three",
    " Alt-Up to edit them",
    " being sent: four",
  ]);
});

test("a message that is too wide ends with an ellipsis", () => {
  expect(draw({ steering: ["a message that is too wide"] }, 20)[0]).toBe(" next: a message th…");
});

test("of many messages the first five are shown, the others are counted", () => {
  const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`);
  const lines = draw({ steering: texts, followUps: texts });
  expect(lines).toHaveLength(7);
  expect(lines.slice(4)).toEqual([" next: message 4", " and 55 more", " Alt-Up to edit them"]);
});

test("drawing a message or command of megabytes costs what its first line costs", () => {
  const text = "some words \x1b[1m".repeat(500_000);
  const before = process.cpuUsage();
  for (let frame = 0; frame < 20; frame++) {
    draw({ steering: [text] });
    const line = drawActivity(text, { theme, width: 40, seconds: 1, frame, interruptKey: "Esc" });
    expect(visibleWidth(line)).toBe(40);
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test.each([
  ["Working", undefined],
  ["Thinking", { thinking: "Hm.", text: "", calls: [] }],
  ["Answering", { thinking: "Hm.", text: "So", calls: [] }],
  ["Answering", { thinking: "Hm.", text: "", calls: [{ id: "1", name: "read", arguments: "{" }] }],
  ["Answering", { thinking: "", text: "", calls: [] }],
])("%s is shown for what the model does", (activity, message) => {
  const run = { model: "m", turnIndex: 0 };
  const live: LiveView = { ...emptyView.live, run, message: message && { id: "1", model: "m", ...message } };
  expect(getActivity(live)).toBe(activity);
});

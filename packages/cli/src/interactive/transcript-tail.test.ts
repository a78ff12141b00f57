import type { SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";
import { countTail } from "./transcript-tail.ts";

const base = { parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const createMessage = (length: number): SessionEntry => ({
  ...base,
  type: "message",
  id: "m",
  message: { role: "user", content: "x".repeat(length), timestamp: 0 },
});
const change: SessionEntry = { ...base, type: "thinking_level_change", id: "c", thinkingLevel: "high" };

test.each<[string, SessionEntry[], number]>([
  ["short messages fill it with two rows each", Array.from({ length: 30 }, () => createMessage(5)), 10],
  ["long messages with as many as they have", Array.from({ length: 30 }, () => createMessage(90)), 2],
  ["one message may be enough", [createMessage(5), createMessage(5_000)], 1],
  ["what is not drawn counts as nothing", [createMessage(900), change, change, createMessage(5)], 4],
  ["all of them may be too few", [createMessage(5), change], 2],
  ["there may be none", [], 0],
])("of a screen of 20 rows with 10 columns: %s", (_name, entries, count) => {
  expect(countTail(entries, { columns: 10, rows: 20 })).toBe(count);
});

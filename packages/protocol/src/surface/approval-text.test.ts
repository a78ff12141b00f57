import { expect, test } from "vitest";
import {
  findChoiceIndex,
  formatTimeLeft,
  getTimeLeftMs,
  listCommandLines,
  toAllowAnswer,
  toDenyAnswer,
} from "./approval-text.ts";

test("the text of a shell is whole, and what it runs follows if that is more than one command", () => {
  const shell = ["bash", "-c", "cd x\nls | wc"];
  expect(listCommandLines([shell, ["ls"]])).toEqual(["cd x", "ls | wc"]);
  expect(listCommandLines([shell, ["ls"], ["wc", "-l"]])).toEqual(["cd x", "ls | wc", "runs:", "  ls", "  wc -l"]);
  expect(listCommandLines([])).toEqual([]);
});

test.each([
  ["y", 0],
  ["1", 0],
  ["2", 1],
  ["3", undefined],
  ["0", undefined],
  ["n", undefined],
])("the key %s stands for the choice %j of two", (key, index) => {
  expect(findChoiceIndex(key, ["once", "session"])).toBe(index);
});

test("answers repeat the rule that was offered, and a reason that has words", () => {
  expect(toAllowAnswer({ choice: "session", rule: "ls *", label: "Yes" })).toEqual({
    decision: "allow",
    choice: "session",
    rule: "ls *",
  });
  expect(toAllowAnswer({ choice: "once", label: "Yes" })).toEqual({ decision: "allow", choice: "once" });
  expect(toDenyAnswer(" Too risky. ")).toEqual({ decision: "deny", message: "Too risky." });
  expect(toDenyAnswer(" ")).toEqual({ decision: "deny" });
});

test("the time left is never longer than it was at first, whatever this clock says", () => {
  expect(getTimeLeftMs({ expiresAt: 400_000, timeoutMs: 300_000 }, 0)).toBe(300_000);
  expect(getTimeLeftMs({ expiresAt: 400_000, timeoutMs: 300_000 }, 340_000)).toBe(60_000);
  expect(getTimeLeftMs({}, 0)).toBeUndefined();
  expect([299_001, 60_000, -5].map(formatTimeLeft)).toEqual(["5:00 left", "1:00 left", "0:00 left"]);
});

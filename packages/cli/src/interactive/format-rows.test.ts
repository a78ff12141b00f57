import { expect, test } from "vitest";
import { formatRows } from "./format-rows.ts";

const rows = [
  ["/new", "Begin a new session"],
  ["/reload", "Read settings, extensions and keys again"],
  ["", "without a name"],
] as const;

test("a text that wraps goes on below its beginning", () => {
  expect(formatRows(rows, 40)).toEqual([
    "/new     Begin a new session",
    "/reload  Read settings, extensions and",
    "         keys again",
    "         without a name",
  ]);
});

test("a text that has little room begins below its name", () => {
  expect(formatRows(rows, 30)).toEqual([
    "/new",
    "    Begin a new session",
    "/reload",
    "    Read settings,",
    "    extensions and keys",
    "    again",
    "    without a name",
  ]);
});

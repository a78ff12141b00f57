import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { formatOutline, showOutline } from "../src/files/outline.ts";
import { createFiles } from "../src/platform/files.ts";
import type { Syntax } from "../src/platform/syntax.ts";
import { scratch } from "./scratch.ts";

const symbol = (index: number, depth: number) => ({
  name: `name${index}`,
  kind: "function",
  line: index,
  column: 1,
  endLine: index,
  depth,
});

test("an outline has as many levels as fit, and says how many symbols it leaves out", () => {
  expect(formatOutline([])).toBe("");
  const nested = Array.from({ length: 300 }, (_unused, index) => symbol(index, index % 3 === 0 ? 0 : 1));
  const lines = formatOutline(nested).split("\n");
  expect(lines).toHaveLength(102);
  expect(lines.at(-1)).toBe("[200 more are inside of these or further down.]");
  const flat = Array.from({ length: 500 }, (_unused, index) => symbol(index, 0));
  expect(formatOutline(flat).split("\n")).toHaveLength(202);
});

test("a parser that hangs costs the outline, and a file that is too large is not parsed", async () => {
  const path = join(scratch(), "a.js");
  const clock = createFakeClock();
  let asked = 0;
  const syntax: Syntax = {
    knows: () => true,
    isShownByRead: () => true,
    getOutline() {
      asked++;
      return new Promise(() => {});
    },
  };
  writeFileSync(path, "a\n");
  const shown = showOutline({ files: createFiles(), syntax, clock }, path);
  await expect.poll(() => asked).toBe(1);
  await clock.advance(1_000);
  expect(await shown).toBe("");
  writeFileSync(path, "a".repeat(1024 * 1024 + 1));
  expect(await showOutline({ files: createFiles(), syntax, clock }, path)).toBe("");
  expect(asked).toBe(1);
});

import { expect, test } from "vitest";
import { addColorReport, type ColorReport, parseColorReport } from "./color-report.ts";
import type { TerminalColors } from "./system.ts";

const orange = { r: 255, g: 128, b: 0 };

test.each([
  ["\x1b]10;rgb:ffff/8080/0000\x1b\\", { kind: "foreground", color: orange }],
  ["\x1b]11;rgb:ffff/8080/0000\x07", { kind: "background", color: orange }],
  ["\x1b]11;rgb:ff/80/00\x07", { kind: "background", color: orange }],
  ["\x1b]11;rgba:ffff/8080/0000/ffff\x07", { kind: "background", color: orange }],
  ["\x1b]11;#ff8000\x07", { kind: "background", color: orange }],
  ["\x1b]11;#ffff80800000\x07", { kind: "background", color: orange }],
  ["\x1b]11;rgb:f/8/0\x07", { kind: "background", color: { r: 255, g: 136, b: 0 } }],
  ["\x1b]4;0;rgb:0000/0000/0000\x07", { kind: "palette", index: 0, color: { r: 0, g: 0, b: 0 } }],
  ["\x1b]4;255;rgb:FFFF/8080/0000\x1b\\", { kind: "palette", index: 255, color: orange }],
])("%j is an answer", (data, report) => {
  expect(parseColorReport(data)).toEqual(report);
});

test.each([
  [""],
  ["a"],
  ["\x1b]11;?\x07"],
  ["\x1b]11;rgb:ff/80\x07"],
  ["\x1b]11;rgb:fffff/0/0\x07"],
  ["\x1b]11;#ff80\x07"],
  ["\x1b]11;rgb:ff/80/00"],
  ["\x1b]12;rgb:ff/80/00\x07"],
  ["\x1b]4;rgb:ff/80/00\x07"],
  ["\x1b]4;256;rgb:ff/80/00\x07"],
  ["x\x1b]11;rgb:ff/80/00\x07"],
  ["\x1b]11;rgb:ff/80/00\x07x"],
])("%j is not an answer", (data) => {
  expect(parseColorReport(data)).toBeUndefined();
});

test("answers add up, in any order, and a later one counts", () => {
  const answers = ["11;#000", "4;1;#f00", "10;#fff", "4;17;#123", "4;1;#ff8000"].map(
    (answer) => parseColorReport(`\x1b]${answer}\x07`) as ColorReport,
  );
  const colors = answers.reduce(addColorReport, {} as TerminalColors);
  expect(colors).toMatchObject({ background: { r: 0, g: 0, b: 0 }, foreground: { r: 255, g: 255, b: 255 } });
  expect(colors.palette?.filter((color) => color !== undefined)).toEqual([orange]);
  expect(colors.palette?.[1]).toEqual(orange);
});

import { expect, test } from "vitest";
import { parseColorReport } from "./colors.ts";

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
  ["\x1b]11;#ff80\x07"],
  [`\x1b]11;rgb:${"f".repeat(300)}/0/0\x07`],
  ["\x1b]11;rgb:ff/80/00"],
  ["\x1b]12;rgb:ff/80/00\x07"],
  ["\x1b]4;rgb:ff/80/00\x07"],
  ["\x1b]4;256;rgb:ff/80/00\x07"],
  ["x\x1b]11;rgb:ff/80/00\x07"],
  ["\x1b]11;rgb:ff/80/00\x07x"],
])("%j is not an answer", (data) => {
  expect(parseColorReport(data)).toBeUndefined();
});

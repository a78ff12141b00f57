import type { SettingData } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import {
  describeOrigin,
  formatSetting,
  formatValue,
  getOtherValue,
  parseSetting,
  searchSettings,
  toEditable,
  toStored,
} from "./setting-values.ts";

const setting = (fields: Partial<SettingData>): SettingData => ({
  key: "a.b",
  description: "It is one.",
  type: "string",
  origin: "default",
  ...fields,
});

test.each([
  [undefined, "(none)"],
  ["dark", "dark"],
  ["  ", '"  "'],
  [5, "5"],
  [["a", "b"], '["a","b"]'],
])("the value %j is shown as %s", (value, shown) => {
  expect(formatSetting(value)).toBe(shown);
});

test.each([
  [172_800_000, "48h"],
  [5_400_000, "90m"],
  [1_500, "1500ms"],
  [0, "0"],
  [undefined, "(none)"],
])("a time of %j ms is shown as %s, and what is shown can be typed", (value, shown) => {
  const time = setting({ key: "limits.runMs", type: "number" });
  expect(formatValue(time, value)).toBe(shown);
  if (value) expect(parseSetting(time, shown)).toBe(value);
});

describe("where a value comes from", () => {
  test.each([
    [{ default: 3 }, "Default: 3."],
    [{}, "It is not set."],
    [{ own: 4, origin: "global" }, "You have set it."],
    [{ default: 3, own: 4, origin: "global" }, "Default: 3. You have set it."],
    [{ default: 3, origin: "project" }, "Default: 3. This project sets it."],
    [{ default: 3, own: 4, origin: "project" }, "Default: 3. This project sets it. Elsewhere your own counts: 4."],
  ] as const)("%j", (fields, text) => {
    expect(describeOrigin(setting(fields))).toBe(text);
  });
});

test("a search finds names first, then descriptions with every word", () => {
  const settings = [
    setting({ key: "tools.excluded", description: "All but these." }),
    setting({ key: "limits.bashMs", description: "How long a command of tools may take." }),
    setting({ key: "theme", description: "The colors." }),
  ];
  const find = (query: string) => searchSettings(settings, query).map(({ key }) => key);
  expect(find("tools")).toEqual(["tools.excluded", "limits.bashMs"]);
  expect(find("LONG command")).toEqual(["limits.bashMs"]);
  expect(find("bashMs")).toEqual(["limits.bashMs"]);
  expect(find(" ")).toHaveLength(3);
  expect(find("nothing of this")).toEqual([]);
});

test("only a setting with two values has another one", () => {
  expect(getOtherValue(setting({ choices: [true, false], value: true }))).toBe(false);
  expect(getOtherValue(setting({ choices: [0, 1], value: 1 }))).toBe(0);
  expect(getOtherValue(setting({ choices: ["a", "b", "c"], value: "a" }))).toBeUndefined();
  expect(getOtherValue(setting({ value: "a" }))).toBeUndefined();
});

test("the default is not stored", () => {
  expect(toStored(setting({ default: [] }), [])).toBeUndefined();
  expect(toStored(setting({ default: true }), false)).toBe(false);
});

test.each([
  ["string", "12", "12"],
  ["number", " 12 ", 12],
  ["number", "many", "many"],
  ["string[]", "a, b,,c", ["a", "b", "c"]],
  ["string[]", '["a,b"]', ["a,b"]],
  ["object", '{"A":"1"}', { A: "1" }],
  ['"auto" | number', "auto", "auto"],
  ['"auto" | number', "3", 3],
])("for %s, %s is read as it is meant", (type, text, value) => {
  expect(parseSetting(setting({ type }), text)).toEqual(value);
});

test.each([
  [{ type: "string", own: "vim -f" }, "vim -f"],
  [{ type: "number", own: 3 }, "3"],
  [{ type: "string[]", own: ["a", "b"] }, "a, b"],
  [{ type: "string[]", own: ["a,b"] }, '["a,b"]'],
  [{ type: "string" }, ""],
])("what is edited of %j is read as the same again", (fields, text) => {
  const edited = toEditable(setting(fields));
  expect(edited).toBe(text);
  if (text !== "") expect(parseSetting(setting(fields), edited)).toEqual((fields as SettingData).own);
});

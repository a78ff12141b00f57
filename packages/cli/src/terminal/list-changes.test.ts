import { expect, test } from "vitest";
import { isLater, listChanges } from "./list-changes.ts";

test.each([
  ["1.0.0", "1.1.0", "## 1.1.0\n- b"],
  ["1.0.0", "1.2.0", "## [1.2.0] - 2026\n- c\n\n## 1.1.0\n- b"],
  ["1.1.0", "9.0.0", "## [1.2.0] - 2026\n- c"],
  ["1.2.0", "1.2.0", ""],
  ["unknown", "1.2.0", ""],
])("from %s to %s", (before, version, text) => {
  const changelog = "## Unreleased\n- d\n\n## [1.2.0] - 2026\r\n- c\n\n## 1.1.0\n- b\n\n## 1.0.0\n- a\n";
  expect(listChanges(changelog, before, version).join("\n")).toBe(text);
});

test.each([
  ["1.10.0", "1.9.0", true],
  ["1.0.0", "1.0.0", false],
  ["1.0.0", "1.0.0-beta.2", true],
  ["1.0.0-beta.10", "1.0.0-beta.2", true],
  ["1.0.0-beta.1", "1.0.0", false],
  ["main", "1.0.0", false],
])("whether %s is later than %s: %s", (version, before, expected) => {
  expect(isLater(version, before)).toBe(expected);
});

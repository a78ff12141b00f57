import { validateToolArguments } from "@tau/ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkSettings } from "./check.ts";
import { settingsReference, settingsSchema } from "./reference.ts";
import type { SettingNode } from "./node.ts";
import { referenceSections } from "./reference-sections.ts";
import { settingsTable } from "./schema.ts";

function leaves(node: SettingNode, path: string[] = []): string[] {
  if (node.kind !== "group") return [path.join(".")];
  return Object.entries(node.fields).flatMap(([name, field]) => leaves(field, [...path, name]));
}

test("the page has one entry for each setting, with its type, its default, its description and when a project may set it", () => {
  const page = settingsReference();
  for (const name of leaves(settingsTable)) expect(page.split(`\n- \`${name}\`: `)).toHaveLength(2);
  expect(page).toContain(
    "- `retry.maxRetries`: `number`; project: always\\\n  The most retries of one request. Default: 3;",
  );
  expect(page).toContain('- `steeringMode`: `"all" | "one-at-a-time"`, default `"one-at-a-time"`; project: always\\\n');
  expect(page).toContain("- `shellPath`: `string`; project: when trusted\\\n");
  expect(page).toContain("- `compaction.models`: `Record<string, { enabled, reserveTokens, keepRecentTokens }>`;");
  const words = page.replaceAll(/\s+/g, " ");
  const visit = (node: SettingNode): void => {
    expect(words).toContain(node.description);
    if (node.kind === "group") Object.values(node.fields).forEach(visit);
  };
  Object.values(settingsTable.fields).forEach(visit);
});

test("no line of the page is longer than 100 columns", () => {
  expect(
    settingsReference()
      .split("\n")
      .filter((line) => line.length > 100),
  ).toEqual([]);
});

test("each setting is in one section", () => {
  const names = referenceSections.flatMap((section) => section.names);
  expect(names.toSorted()).toEqual(Object.keys(settingsTable.fields).toSorted());
});

test("the description of each setting is a sentence", () => {
  const visit = (node: SettingNode): void => {
    expect(node.description).toMatch(/^[A-Z].*\.$/);
    if (node.kind === "group") Object.values(node.fields).forEach(visit);
  };
  visit(settingsTable);
});

test("the schema and the check agree on what is an error", () => {
  // Without the defaults, which this validation would fill in.
  const parameters = JSON.parse(
    JSON.stringify(settingsSchema(), (key, value: unknown) => (key === "default" ? undefined : value)),
  ) as Record<string, unknown>;
  const tool = { name: "settings", description: "", parameters };
  const isValid = (value: Record<string, unknown>): boolean => {
    try {
      const read: unknown = validateToolArguments(tool, {
        type: "toolCall",
        id: "1",
        name: "settings",
        arguments: value,
      });
      // The validation converts values that are almost right. Such values were not valid.
      return JSON.stringify(read) === JSON.stringify(value);
    } catch {
      return false;
    }
  };
  const value = fc.constantFrom<unknown>(
    0,
    3,
    1.5,
    -1,
    true,
    null,
    "all",
    "none",
    "high",
    "x",
    "",
    [],
    ["a"],
    [1],
    [""],
    {},
  );
  const name = fc.constantFrom(
    ...leaves(settingsTable),
    "retry",
    "them",
    "retry.maxRetrys",
    "shellEnv.A",
    "shellEnv.__proto__",
  );
  fc.assert(
    fc.property(name, value, (path, any) => {
      const settings = path
        .split(".")
        .reduceRight<unknown>(
          (inner, key) => JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(inner)}}`),
          any,
        ) as Record<string, unknown>;
      expect(isValid(settings)).toBe(checkSettings(settings, { trusted: true }).errors.length === 0);
    }),
    { numRuns: process.env["TAU_LONG"] ? 600 : 200 },
  );
});

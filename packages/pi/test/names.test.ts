import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPiModule } from "../src/index.ts";

const readNames = (version: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `names/pi-${version}.json`), "utf8")) as Record<string, string[]>;
const names15 = readNames("1.5");
const names058 = readNames("0.58");

const lists: [string, string, string[]][] = [
  ...Object.entries(names15).map(([module, names]): [string, string, string[]] => ["1.5.0", module, names]),
  ...Object.entries(names058).map(([module, names]): [string, string, string[]] => ["0.58", module, names]),
];

test.each(lists)("every name that pi %s exports from %s is there", async (_version, module, names) => {
  const loaded = await loadPiModule(`@earendil-works/${module}`);
  expect(names.filter((name) => loaded?.[name] === undefined)).toEqual([]);
});

test("the lists are complete", () => {
  const counts = Object.fromEntries(Object.entries(names15).map(([module, names]) => [module, names.length]));
  expect(counts).toMatchObject({ "pi-coding-agent": 157, "pi-ai": 78, "pi-ai/compat": 137, "pi-agent-core": 9 });
});

test("both scopes give the same module, and other names none", async () => {
  expect(await loadPiModule("@mariozechner/pi-tui")).toBe(await loadPiModule("@earendil-works/pi-tui"));
  expect(loadPiModule("@earendil-works/pi-mom")).toBeUndefined();
  expect(loadPiModule("@mariozechner/constructor")).toBeUndefined();
  expect(loadPiModule("pi-coding-agents")).toBeUndefined();
});

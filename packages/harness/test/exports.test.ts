/** The public names. Adding or removing one is a decision; the list is in `public-names.json`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { "@tau/source": string }>;
};
const pinned = JSON.parse(readFileSync(join(import.meta.dirname, "public-names.json"), "utf8")) as Record<
  string,
  string[]
>;

const entryPoints = Object.entries(exports).flatMap(([path, entry]) =>
  typeof entry === "string" ? [] : [{ path, file: join(root, entry["@tau/source"]) }],
);

/** The exported values and types. */
const listNames = (source: string): string[] =>
  [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names]) => names!.split(","))
    .map((name) => name.replace(/^\s*type /, "").trim())
    .filter((name) => name !== "")
    .toSorted();

test("every entry point is pinned", () => {
  expect(Object.keys(pinned)).toEqual(entryPoints.map(({ path }) => path));
});

describe.each(entryPoints)("$path", ({ path, file }) => {
  const source = readFileSync(file, "utf8");

  test("exports these names and no others", () => {
    expect(source).not.toMatch(/^export (?!type \{|\{)/m);
    expect(listNames(source)).toEqual(pinned[path]);
  });
});

test("the root has at most 60 names", () => {
  expect(pinned["."]!.length).toBeLessThanOrEqual(60);
});

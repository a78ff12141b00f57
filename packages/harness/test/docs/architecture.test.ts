/** ARCHITECTURE.md is short and names what exists. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const rules = readFileSync(join(root, "scripts/check-rules.mjs"), "utf8");
const packages = readdirSync(join(root, "packages"));

test("every package has a row, in the order in which they may import each other", () => {
  const order = [.../const order = \[([^\]]*)\]/.exec(rules)![1]!.matchAll(/"([\w-]+)"/g)].map(([, name]) => name!);
  const rows = [...page.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name]) => name!);
  expect(rows).toEqual([...order.filter((name) => packages.includes(name)), "web", "react"]);
  expect(rows.toSorted()).toEqual(packages.toSorted());
});

test("every module that it names exists", () => {
  const named = [...page.matchAll(/`([a-z-]+)\/([a-z-]+(?:\/[a-z-]+)*)`/g)].filter(([, name]) =>
    packages.includes(name!),
  );
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(([, name, path]) => {
    const source = join(root, "packages", name!, "src", path!);
    return ![source, `${source}.ts`, `${source}.tsx`].some((file) => existsSync(file));
  });
  expect(missing.map(([text]) => text)).toEqual([]);
});

test("it can be read in ten minutes", () => {
  expect(page.split("\n").length).toBeLessThanOrEqual(130);
});

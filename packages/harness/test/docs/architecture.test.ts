/** ARCHITECTURE.md names files and folders that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

const sections = [...page.matchAll(/^## Inside `([\w-]+)`\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
const packages = readdirSync(join(root, "packages")).toSorted();

test("there is a row and a section for every package", () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` +\|[^|]*\|$/gm)].map(([, name]) => name!);
  expect(rows.toSorted()).toEqual(packages);
  expect(sections.map(([, name]) => name!).toSorted()).toEqual(packages);
});

test.each(sections.map(([, name, text]) => [name!, text!] as const))(
  "everything that the section on %s names is there",
  (name, text) => {
    const source = join(root, "packages", name, "src");
    const files = readdirSync(source, { recursive: true, encoding: "utf8" });
    const named = [...text.matchAll(/`([a-z-]+(?:\/[a-z-]+)*(?:\/|\.ts|\.[ch]))`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(3);
    // `encode.ts` is in every protocol: a bare name may be that of any file.
    const missing = named.filter(
      (path) => !existsSync(join(source, path)) && !files.some((file) => file.endsWith(`/${path}`)),
    );
    expect(missing).toEqual([]);
  },
);

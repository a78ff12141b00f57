import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { readMarketplace, toInnerPath } from "./marketplace-manifest.ts";

function createDirectory(value: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-marketplace-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, ".claude-plugin"));
  writeFileSync(join(directory, ".claude-plugin", "marketplace.json"), JSON.stringify(value));
  return directory;
}

const locate = (source: unknown, metadata?: unknown) =>
  readMarketplace(createDirectory({ name: "m", metadata, plugins: [{ name: "p", source }] }))?.plugins[0]?.location;

const sha = "0123456789".repeat(4);

test.each<[source: unknown, location: unknown]>([
  ["./plugins/a", { kind: "inside", path: "plugins/a" }],
  ["./", { kind: "inside", path: "" }],
  ["plugins//a/", { kind: "inside", path: "plugins/a" }],
  [
    { source: "github", repo: "o/r" },
    { kind: "git", source: "git:github.com/o/r", path: "" },
  ],
  [
    { source: "github", repo: "o/r", ref: "v1" },
    { kind: "git", source: "git:github.com/o/r@v1", path: "" },
  ],
  [
    { source: "url", url: "https://h/a.git", ref: "v1", sha },
    { kind: "git", source: `git:https://h/a.git@${sha}`, path: "" },
  ],
  [
    { source: "git-subdir", url: "o/r", path: "./a" },
    { kind: "git", source: "git:github.com/o/r", path: "a" },
  ],
  [
    { source: "npm", package: "@o/p", version: "^1.0.0" },
    { kind: "npm", source: "npm:@o/p@^1.0.0" },
  ],
])("a source that tau can fetch: %j", (source, location) => {
  expect(locate(source)).toEqual(location);
});

test.each<[source: unknown]>([
  ["../a"],
  ["./a/../../b"],
  ["/etc"],
  ["./a\\..\\b"],
  ["./a\u0000b"],
  ["./.git"],
  [undefined],
  [7],
  [{ source: "pip", package: "x" }],
  [{ source: "github" }],
  [{ source: "github", repo: "--upload-pack=x" }],
  [{ source: "github", repo: "-o/r" }],
  [{ source: "github", repo: "o/r", ref: "--upload-pack=x" }],
  [{ source: "github", repo: "o/r", ref: { a: 1 } }],
  [{ source: "url", url: "ext::sh -c id" }],
  [{ source: "url", url: "--upload-pack=x" }],
  [{ source: "url", url: "http://h/a" }],
  [{ source: "git-subdir", url: "o/r", path: "../a" }],
  [{ source: "git-subdir", url: "o/r", path: 7 }],
  [{ source: "npm", package: "file:/etc" }],
  [{ source: "npm", package: "a", version: "https://h/a.tgz" }],
  [{ source: "npm", package: "a", registry: "https://h" }],
])("a source that leads elsewhere or is not known: %j", (source) => {
  expect(locate(source)).toBeUndefined();
});

test("paths begin in the directory that the marketplace names for them", () => {
  expect(locate("a", { pluginRoot: "./plugins" })).toEqual({ kind: "inside", path: "plugins/a" });
  expect(locate("./a", { pluginRoot: "./plugins" })).toEqual({ kind: "inside", path: "a" });
  expect(locate("a", { pluginRoot: "../.." })).toBeUndefined();
});

test.each<[value: unknown]>([
  [[]],
  [{ plugins: [] }],
  [{ name: "a/b", plugins: [] }],
  [{ name: "..", plugins: [] }],
  [{ name: "a\u001b", plugins: [] }],
  [{ name: "m", plugins: {} }],
])("what is no marketplace: %j", (value) => {
  expect(readMarketplace(createDirectory(value))).toBeUndefined();
});

test("names are those of directories, each once, and the file stays inside", () => {
  const names = ["a", "a", "../b", "c/d", "\u001b[2J", "", 7, "e@f"];
  const directory = createDirectory({ name: "m", plugins: names.map((name) => ({ name, source: "./x" })) });
  expect(readMarketplace(directory)?.plugins.map(({ name }) => name)).toEqual(["a"]);
  const other = mkdtempSync(join(tmpdir(), "tau-marketplace-"));
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  symlinkSync(join(directory, ".claude-plugin"), join(other, ".claude-plugin"));
  expect(readMarketplace(other)).toBeUndefined();
});

test("an inner path never leads out, and is its own normal form", () => {
  const parts = fc.array(fc.constantFrom("a", "b", "..", ".", "", ".git", "c d"), { maxLength: 6 });
  fc.assert(
    fc.property(parts, (list) => {
      const path = toInnerPath(list.join("/"));
      if (path === undefined) return;
      expect(join("/root", path).startsWith("/root")).toBe(true);
      expect(path.split("/")).not.toContain("..");
      expect(toInnerPath(path)).toBe(path);
    }),
  );
});

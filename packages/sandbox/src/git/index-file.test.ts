import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findLinkedPaths } from "./index-file.ts";

function createRepository(...options: string[]) {
  const directory = mkdtempSync(join(tmpdir(), "tau-index-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  git("init", "-q", ...options);
  mkdirSync(join(directory, "src"));
  for (let index = 0; index < 20; index++) writeFileSync(join(directory, `src/file-${"x".repeat(index)}`), "x");
  git("add", ".");
  const hash = "1".repeat(options.length > 0 ? 64 : 40);
  const link = (path: string) => void git("update-index", "--add", "--cacheinfo", `160000,${hash},${path}`);
  const read = () => {
    const names = readdirSync(join(directory, ".git"));
    const bytes = (name: string) => readFileSync(join(directory, ".git", name));
    return findLinkedPaths(bytes("index"), names.filter((name) => name.startsWith("sharedindex.")).map(bytes));
  };
  return { git, link, read };
}

test.for(["2", "3", "4"])("repositories are found in an index of version %s", (version) => {
  const { git, link, read } = createRepository();
  git("update-index", "--index-version", version);
  expect(read()).toEqual([]);
  link("src/lib");
  link("vendor/ä b/c");
  if (version === "3") git("update-index", "--skip-worktree", "src/file-xxx");
  expect(read().toSorted()).toEqual(["src/lib", "vendor/ä b/c"]);
});

test("repositories are found in an index with longer hashes", () => {
  const { link, read } = createRepository("--object-format=sha256");
  link("vendor/x");
  expect(read()).toContain("vendor/x");
});

test("repositories are found in an index that is split", () => {
  const { git, link, read } = createRepository();
  link("before");
  git("update-index", "--split-index");
  link("after");
  expect(read()).toEqual(expect.arrayContaining(["after", "before"]));
  git("update-index", "--cacheinfo", `160000,${"2".repeat(40)},before`);
  expect(read()).toContain("before");
});

test("what is no index has no entries", () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from("DIRC"),
    Buffer.alloc(100, 0xe0),
    Buffer.from("DIRC\0\0\0\x04\xff"),
  ])
    expect(findLinkedPaths(bytes)).toEqual([]);
});

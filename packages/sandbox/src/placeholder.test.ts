import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Mount, toBwrapArguments } from "./mounts.ts";
import { withPlaceholder } from "./placeholder.ts";

function createDirectory() {
  const directory = mkdtempSync(join(tmpdir(), "tau-placeholder-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

test("a file that its program cannot do without is replaced by a valid one, and others are not", () => {
  const directory = createDirectory();
  const maven = { path: "/home/ann/.m2/Settings.XML", isDirectory: false };
  const { placeholder } = withPlaceholder(maven, directory);
  expect(readFileSync(placeholder!, "utf8")).toBe("<settings/>\n");
  expect(withPlaceholder(maven, directory).placeholder).toBe(placeholder);
  for (const other of [
    { path: "/home/ann/.netrc", isDirectory: false },
    { path: "/home/ann/settings.xml", isDirectory: true },
  ])
    expect(withPlaceholder(other, directory)).toBe(other);
});

test("a file is hidden without a placeholder where none can be written", () => {
  const file = join(createDirectory(), "file");
  writeFileSync(file, "");
  const maven = { path: "/home/ann/.m2/settings.xml", isDirectory: false };
  expect(withPlaceholder(maven, join(file, "below"))).toBe(maven);
});

test("bubblewrap shows the placeholder, read-only", () => {
  const mounts: Mount[] = [
    { kind: "hidden-file", path: "/a/settings.xml", from: "/t/settings.xml" },
    { kind: "hidden-file", path: "/a/.netrc" },
  ];
  const options = {
    mounts,
    machineWide: [],
    network: "none",
    isRoot: false,
    forHelper: false,
    mayTrace: false,
    memoryFilesBytes: undefined,
  } as const;
  const text = toBwrapArguments({ ...options, filterDescriptor: 3 }).join(" ");
  expect(text).toContain("--ro-bind /t/settings.xml /a/settings.xml");
  expect(text).toContain("--ro-bind /dev/null /a/.netrc");
});

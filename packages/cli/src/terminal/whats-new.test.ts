import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeUpdate, takeLastVersion } from "./whats-new.ts";

const changelog =
  "# Changelog\n\n## Unreleased\n\n- later\n\n## 2.0.0\n\n- two\n\n## 1.5.0\n\n- half\n\n## 1.0.0\n\n- one\n";

test.each([
  [
    "the sections since the version before",
    {},
    "tau was updated from 1.0.0 to 2.0.0.\n## 2.0.0\n\n- two\n\n## 1.5.0\n\n- half",
  ],
  [
    "one sentence if it is collapsed",
    { isCollapsed: true },
    "tau was updated from 1.0.0 to 2.0.0. /changelog shows what has changed.",
  ],
  [
    "one sentence without a changelog",
    { changelog: undefined },
    "tau was updated from 1.0.0 to 2.0.0. /changelog shows what has changed.",
  ],
  [
    "the sections up to a version that has none itself",
    { version: "3.0.0", before: "1.5.0" },
    "tau was updated from 1.5.0 to 3.0.0.\n## 2.0.0\n\n- two",
  ],
])("an update says %s", (_name, options, text) => {
  expect(describeUpdate({ before: "1.0.0", version: "2.0.0", changelog, isCollapsed: false, ...options })).toBe(text);
});

test("a long list is cut", () => {
  const long = `## 2.0.0\n${"- change\n".repeat(100)}## 1.0.0\n`;
  const lines = describeUpdate({ before: "1.0.0", version: "2.0.0", changelog: long, isCollapsed: false }).split("\n");
  expect(lines).toHaveLength(32);
  expect(lines.at(-1)).toBe("… /changelog shows more");
});

test("an update is told once, and the first start is none", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-version-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const agentDir = join(directory, "tau");
  expect(await takeLastVersion(agentDir, "1.0.0")).toBeUndefined();
  expect(await takeLastVersion(agentDir, "1.0.0")).toBeUndefined();
  expect(await takeLastVersion(agentDir, "1.1.0")).toBe("1.0.0");
  expect(await takeLastVersion(agentDir, "1.1.0")).toBeUndefined();
});

test("a version that cannot be read or kept does not keep the program from starting", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-version-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  await writeFile(join(directory, "file"), "");
  expect(await takeLastVersion(join(directory, "file"), "1.0.0")).toBeUndefined();
  await mkdir(join(directory, "last-version"));
  expect(await takeLastVersion(directory, "1.0.0")).toBeUndefined();
  await rm(join(directory, "last-version"), { recursive: true });
  await takeLastVersion(directory, "1.0.0");
  await mkdir(join(directory, "last-version.new"));
  expect(await takeLastVersion(directory, "1.1.0")).toBeUndefined();
  expect(await readFile(join(directory, "last-version"), "utf8")).toBe("1.0.0\n");
});

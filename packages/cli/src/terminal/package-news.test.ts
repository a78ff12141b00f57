import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { expect, onTestFinished, test } from "vitest";
import { describePackageNews } from "./package-news.ts";

const changelog = `# Changelog

## Unreleased
- later

## [1.2.0] - 2026-01-01
- two \u001b[31mred\u001b[0m

## 1.1.0
- one

## 1.0.0
- zero
`;

interface Package {
  version?: string;
  /** The fields of `pi` in its manifest. */
  pi?: Record<string, unknown>;
  files?: Record<string, string>;
}

/** A directory of tau with a local package, which `update` writes and `start` looks at. */
async function open(settings: Record<string, unknown> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "tau-news-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const agentDir = join(directory, "tau");
  const root = join(directory, "package");
  await mkdir(agentDir);
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ packages: [root], ...settings }));
  return {
    agentDir,
    directory,
    root,
    update: async ({ version = "1.0.0", pi = { extensions: ["./index.js"] }, files = {} }: Package = {}) => {
      const all = { "index.js": "", "CHANGELOG.md": changelog, ...files };
      await mkdir(join(root, "docs"), { recursive: true });
      for (const [name, text] of Object.entries(all)) await writeFile(join(root, name), text);
      await writeFile(join(root, "package.json"), JSON.stringify({ name: "pi-acme", version, pi }));
    },
    start: async () => {
      const manager = await SettingsManager.create(directory, agentDir, { watch: false });
      return await describePackageNews({ cwd: directory, agentDir, settings: manager });
    },
  };
}

const changes = [
  "pi-acme was updated from 1.0.0 to 1.2.0.",
  "## [1.2.0] - 2026-01-01",
  "- two red",
  "",
  "## 1.1.0",
  "- one",
];

test("the changes of a package since the last start are reported once, and not those of one that is new", async () => {
  const { update, start } = await open();
  await update();
  expect(await start()).toEqual([]);
  await update({ version: "1.2.0" });
  expect(await start()).toEqual([changes.join("\n")]);
  expect(await start()).toEqual([]);
  await update({ version: "1.1.0" });
  expect(await start()).toEqual([]);
});

test.each<[string, Record<string, unknown>, Package, readonly string[]]>([
  ["one line if changelogs are collapsed", { collapseChangelog: true }, {}, changes.slice(0, 1)],
  ["nothing if the start is quiet", { quietStartup: true }, {}, []],
  [
    "what is in the file that the package names",
    {},
    {
      pi: { extensions: ["./index.js"], changelogPath: "./docs/NEWS.md" },
      files: { "docs/NEWS.md": "## v1.2.0\n- news\n" },
    },
    [changes[0]!, "## v1.2.0", "- news"],
  ],
  ["nothing if the package names no file", {}, { pi: { extensions: ["./index.js"], changelogPath: "" } }, []],
  ["nothing from a file outside", {}, { pi: { extensions: ["./index.js"], changelogPath: "../outside.md" } }, []],
  ["nothing from a link that leads outside", {}, { pi: { extensions: ["./index.js"], changelogPath: "link.md" } }, []],
  ["nothing of versions that it does not have", {}, { files: { "CHANGELOG.md": "## 0.9.0\n- old\n" } }, []],
  ["nothing of a package without extensions", {}, { pi: { prompts: ["./index.md"] }, files: { "index.md": "x" } }, []],
])("after an update there is %s", async (_name, settings, after, lines) => {
  const { update, start, directory, root } = await open(settings);
  await writeFile(join(directory, "outside.md"), changelog);
  await update({ ...after, version: "1.0.0" });
  await symlink(join(directory, "outside.md"), join(root, "link.md"));
  expect(await start()).toEqual([]);
  await update({ ...after, version: "1.2.0" });
  expect(await start()).toEqual(lines.length === 0 ? [] : [lines.join("\n")]);
});

test("a long list is cut, and names the file", async () => {
  const { update, start, root } = await open();
  await update();
  await start();
  await update({ version: "2.0.0", files: { "CHANGELOG.md": `## 2.0.0\n${"- change\n".repeat(100)}` } });
  const lines = (await start())[0]!.split("\n");
  expect(lines).toHaveLength(32);
  expect(lines.at(-1)).toBe(`… more in ${join(root, "CHANGELOG.md")}`);
});

test("what was kept may be damaged, and may not be written", async () => {
  const { update, start, agentDir } = await open();
  await update();
  await writeFile(join(agentDir, "package-versions.json"), "{ damaged");
  expect(await start()).toEqual([]);
  await update({ version: "1.2.0" });
  await mkdir(join(agentDir, "package-versions.json.new"));
  expect(await start()).toEqual([]);
});

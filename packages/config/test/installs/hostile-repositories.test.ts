/** Repositories that are made to harm whoever installs them. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readManifest } from "../../src/installs/manifest.ts";
import { createWorkspace, fetch, listAll, writeFiles, type Workspace } from "./kit.ts";

interface Objects {
  /** Stores a file; returns its hash. */
  blob: (content: string | Buffer) => string;
  /** Stores a directory of lines as `git mktree` reads them, with bytes for names; returns its hash. */
  tree: (entries: readonly [mode: string, hash: string, name: string | Buffer][]) => string;
}

/** A bare repository whose only commit has the tree that `build` makes of single objects. */
async function createBare(workspace: Workspace, build: (objects: Objects) => string): Promise<string> {
  const directory = join(workspace.root, "remote", "hostile.git");
  await mkdir(directory, { recursive: true });
  const git = (args: readonly string[], input: string | Buffer = "") =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
      cwd: directory,
      env: workspace.env,
      input,
      maxBuffer: 2 ** 30,
    })
      .toString()
      .trim();
  git(["init", "--quiet", "--bare", "--initial-branch=main"]);
  const root = build({
    blob: (content) => git(["hash-object", "-w", "--stdin"], content),
    tree: (entries) => {
      const lines = entries.map(([mode, hash, name]) =>
        Buffer.concat([
          Buffer.from(`${mode} ${mode === "40000" ? "tree" : "blob"} ${hash}\t`),
          Buffer.from(name as string),
          Buffer.from("\0"),
        ]),
      );
      return git(["mktree", "-z"], Buffer.concat(lines));
    },
  });
  git(["update-ref", "refs/heads/main", git(["commit-tree", root, "-m", "hostile"])]);
  return `git:file://${directory}`;
}

const names = Array.from({ length: 10 }, (_, index) => `d${index}`);

test.each<[name: string, build: (objects: Objects) => string, message: RegExp]>([
  [
    "whose directories contain each other a billion times",
    ({ blob, tree }) => {
      let hash = tree([["100644", blob("x"), "f.md"]]);
      for (let level = 0; level < 9; level++) hash = tree(names.map((name) => ["40000", hash, name]));
      return hash;
    },
    /refused: its files cannot be listed \(git printed more than 16 MB\)/,
  ],
  [
    "with more files than there may be",
    ({ blob, tree }) => {
      let hash = tree(Array.from({ length: 51 }, (_, index) => ["100644", blob("x"), `f${index}.md`]));
      for (let level = 0; level < 3; level++) hash = tree(names.map((name) => ["40000", hash, name]));
      return hash;
    },
    /refused: it has more than 50000 files/,
  ],
  [
    "with files that are larger than there may be",
    ({ blob, tree }) => {
      const large = blob(Buffer.alloc(2 ** 24));
      return tree(Array.from({ length: 65 }, (_, index) => ["100644", large, `f${index}.md`]));
    },
    /refused: it has more than 1073741824 bytes/,
  ],
  [
    "with a name that is no text",
    ({ blob, tree }) => tree([["40000", tree([["100644", blob("x"), Buffer.from([0x61, 0xff])]]), "prompts"]]),
    /is not a name in UTF-8/,
  ],
])("a repository %s is refused before it harms", async (_name, build, message) => {
  const workspace = await createWorkspace();
  const url = await createBare(workspace, build);
  await expect(fetch(workspace, url)).rejects.toThrow(message);
  // Nothing of it stays.
  const left = join(workspace.agentDir, "git");
  expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
});

test("objects of objects in manifests are not walked through without end", async () => {
  const workspace = await createWorkspace();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const server = `{"mcpServers":{"deep":{"command":"x","env":${deep}},"usual":{"command":"x"}}}`;
  await writeFiles(workspace.cwd, {
    "plugin/.claude-plugin/plugin.json": `{"name":"p","hooks":${deep}}`,
    "listed/.claude-plugin/plugin.json": '{"name":"p"}',
    "listed/.mcp.json": server,
    "package/package.json": `{"name":"p","tau":${server}}`,
    "market/.claude-plugin/marketplace.json": `{"name":"m","plugins":[{"name":"p","source":"./","hooks":${deep}}]}`,
  });
  const read = (name: string) => readManifest(join(workspace.cwd, name));
  expect(read("plugin")).toBeUndefined();
  expect(read("listed")?.servers).toEqual({});
  expect(Object.keys(read("package")?.servers ?? {})).toEqual(["usual"]);
  expect(read("market")).toBeUndefined();
});

test.each(["", "@main", "COMMIT"])(
  "a repository %s that is larger than the limit is not downloaded whole",
  async (ref) => {
    const workspace = await createWorkspace();
    const noise = randomBytes(3 * 1024 * 1024);
    const url = await createBare(workspace, ({ blob, tree }) =>
      tree([["40000", tree([["100644", blob(noise), "f.md"]]), "prompts"]]),
    );
    const commit = execFileSync("git", ["rev-parse", "main"], {
      cwd: url.slice("git:file://".length),
      env: workspace.env,
    });
    const source = `${url}${ref === "COMMIT" ? `@${commit.toString().trim()}` : ref}`;
    const message = "The package is refused: its repository is larger than 2 MB, which is the limit.";
    await expect(fetch(workspace, source, { maxDownloadBytes: 2 * 1024 * 1024 })).rejects.toThrow(message);
    expect(await listAll(workspace.agentDir)).toEqual([]);
    const whole = await fetch(workspace, source, { maxDownloadBytes: 4 * 1024 * 1024 });
    expect(await listAll(whole.root)).toEqual(["prompts/f.md"]);
    await whole.discard();
  },
);

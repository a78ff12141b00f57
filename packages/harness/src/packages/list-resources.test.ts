import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listResources } from "./list-resources.ts";
import { readManifest } from "./manifest.ts";

/** A package with these files; an array is the manifest's `pi`. */
async function list(files: readonly string[], manifest?: Record<string, unknown>, links: Record<string, string> = {}) {
  const parent = await realpath(await mkdtemp(join(tmpdir(), "tau-list-")));
  onTestFinished(() => rm(parent, { recursive: true }));
  const root = join(parent, "package");
  await mkdir(root);
  await writeFile(join(parent, "outside.ts"), "");
  for (const name of files) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), "");
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  if (manifest) await writeFile(join(root, "package.json"), JSON.stringify(manifest));
  const names = await listResources(root, await readManifest(root));
  return Object.fromEntries(Object.entries(names).filter(([, found]) => found.length > 0));
}

test("without a manifest the usual directories count", async () => {
  const files = ["extensions/a.ts", "extensions/b/index.ts", "extensions/b/other.ts", "extensions/c/lib.ts"];
  const more = ["extensions/types.d.ts", "skills/one/SKILL.md", "skills/one/notes.md", "skills/two.md", "prompts/p.md"];
  const rest = ["prompts/deep/q.md", "themes/t.json", "themes/readme.md", "node_modules/x/extensions/y.ts"];
  expect(await list([...files, ...more, ...rest], { name: "p" })).toEqual({
    extensions: ["extensions/a.ts", "extensions/b/index.ts"],
    skills: ["skills/one/SKILL.md", "skills/two.md"],
    prompts: ["prompts/p.md"],
    themes: ["themes/t.json"],
  });
});

test("a manifest says where the resources are, and then nothing else counts", async () => {
  const files = ["src/main.ts", "src/old.ts", "extensions/a.ts", "more/skills/s/SKILL.md", "p/a.md", "p/b.md"];
  const pi = { extensions: ["./src/*.ts", "!**/old.ts"], skills: ["./more/skills"], prompts: ["p/a.md", "p/none.md"] };
  expect(await list(files, { pi })).toEqual({
    extensions: ["src/main.ts"],
    skills: ["more/skills/s/SKILL.md"],
    prompts: ["p/a.md"],
  });
  expect(await list(files, { pi, tau: { extensions: ["extensions/a.ts"] } })).toMatchObject({
    extensions: ["extensions/a.ts"],
    prompts: ["p/a.md"],
  });
});

test("what is beside or below the SKILL.md of a skill belongs to it", async () => {
  const files = ["s/a/SKILL.md", "s/a/notes.md", "s/a/assets/SKILL.md", "s/ab/SKILL.md", "SKILL.md"];
  const skills = ["s/a/SKILL.md", "s/ab/SKILL.md"];
  expect(await list(files, { pi: { skills: ["s"] } })).toEqual({ skills });
  expect(await list(files, { pi: { skills: ["s/**/*.md"] } })).toEqual({ skills });
  expect(await list(files, { pi: { skills: ["s/a"] } })).toEqual({ skills: ["s/a/SKILL.md"] });
  expect(await list(files, { pi: { skills: ["."] } })).toEqual({ skills: ["SKILL.md"] });
  expect(await list(files, { pi: { skills: ["s/a/assets"] } })).toEqual({ skills: ["s/a/assets/SKILL.md"] });
});

test("in a manifest a plus includes again what a glob left out, and a minus leaves out in any case", async () => {
  const files = ["lib/a.ts", "lib/b.ts", "lib/c.ts"];
  expect(await list(files, { pi: { extensions: ["lib", "!**/*.ts", "+lib/b.ts", "+lib/c.ts", "-lib/c.ts"] } })).toEqual(
    {
      extensions: ["lib/b.ts"],
    },
  );
});

test("a directory of an extension may have a manifest of its own", async () => {
  expect(await list(["extensions/a/x.ts", "extensions/a/index.ts"])).toEqual({ extensions: ["extensions/a/index.ts"] });
});

test("a package with only a main is one extension", async () => {
  expect(await list(["lib/x.js"], { main: "./lib/x" })).toEqual({ extensions: ["lib/x.js"] });
  expect(await list(["index.js"], { name: "p" })).toEqual({ extensions: ["index.js"] });
  expect(await list(["index.js"])).toEqual({});
  expect(await list(["index.js", "prompts/a.md"], { main: "index.js" })).toEqual({ prompts: ["prompts/a.md"] });
});

test("what leads out of the package is not listed", async () => {
  const pi = { extensions: ["../outside.ts", "/etc/passwd", "link.ts", "in.ts"] };
  expect(await list(["in.ts"], { pi }, { "link.ts": "../outside.ts" })).toEqual({ extensions: ["in.ts"] });
  expect(await list([], { main: "../outside.ts" })).toEqual({});
});

test("a manifest with other kinds of values is read as far as possible", async () => {
  expect(await list(["a.ts"], { pi: { extensions: "a.ts", skills: 3, prompts: [1, null] } })).toEqual({
    extensions: ["a.ts"],
  });
});

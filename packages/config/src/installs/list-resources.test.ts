import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listResources } from "./list-resources.ts";
import { readManifest } from "./manifest.ts";

/** Lists the resources of a package with these files. */
async function list(
  files: readonly string[],
  manifest?: Record<string, unknown>,
  links: Record<string, string> = {},
  json: Record<string, unknown> = {},
) {
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
  for (const [name, value] of Object.entries(json)) await writeFile(join(root, name), JSON.stringify(value));
  if (manifest) await writeFile(join(root, "package.json"), JSON.stringify(manifest));
  const names = listResources(root, readManifest(root));
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

test("in a glob of a manifest, a star matches within one name", async () => {
  const files = ["a.ts", "src/b.ts", "src/lib/util.ts", "src/lib/deep/c.ts", "src/types.d.ts"];
  const listed = async (pattern: string) => (await list(files, { pi: { extensions: [pattern] } }))["extensions"];
  expect(await listed("./src/*.ts")).toEqual(["src/b.ts"]);
  expect(await listed("*.ts")).toEqual(["a.ts"]);
  expect(await listed("src/**/?.ts")).toEqual(["src/b.ts", "src/lib/deep/c.ts"]);
  expect(await listed("**/*.ts")).toEqual(["a.ts", "src/b.ts", "src/lib/deep/c.ts", "src/lib/util.ts"]);
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
  const files = ["extensions/a/x.ts", "extensions/a/index.ts", "extensions/b/src/one.ts", "extensions/b/src/two.ts"];
  const [a, b] = [{ extensions: ["./x"] }, { extensions: ["src/*.ts", "!two.ts"] }];
  const links = { "extensions/a/package.json": "../../a.json", "extensions/b/package.json": "../../b.json" };
  expect(await list(files)).toEqual({ extensions: ["extensions/a/index.ts"] });
  expect(await list(files, undefined, links, { "a.json": { pi: a }, "b.json": { tau: b } })).toEqual({
    extensions: ["extensions/a/x.ts", "extensions/b/src/one.ts"],
  });
});

test("a manifest that names its own directory means what is in it", async () => {
  expect(await list(["a.ts", "b/index.ts"], { pi: { extensions: ["."] } })).toEqual({
    extensions: ["a.ts", "b/index.ts"],
  });
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

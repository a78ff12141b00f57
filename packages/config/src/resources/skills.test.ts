import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { loadSkills, projectSkillDirectories, readSkill, type Skill } from "./skills.ts";

async function directory(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-skills-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

const skill = (name: string, description = `Does ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`;

const load = async (root: string, roots = [""], lastGood?: ReadonlyMap<string, Skill>) => {
  const request = { fileSystem: nodeFileSystem, roots: roots.map((one) => join(root, one)) };
  const { value, problems } = await loadSkills({ ...request, ...(lastGood && { lastGood }) });
  return { skills: value, problems: problems.map((problem) => formatFileProblem(problem).replaceAll(root, "")) };
};

test("skills are found in subdirectories and sorted by name; subdirectories of a skill belong to it", async () => {
  const root = await directory({
    "tools/pdf/SKILL.md": skill("pdf"),
    "tools/pdf/inner/SKILL.md": skill("inner"),
    "audit/SKILL.md": skill("audit"),
    "node_modules/x/SKILL.md": skill("x"),
    ".hidden/SKILL.md": skill("hidden"),
    "README.md": "no skill",
  });
  await symlink(root, join(root, "tools/circle"));
  const { skills, problems } = await load(root);
  expect(problems).toEqual([]);
  expect(skills).toEqual([
    {
      name: "audit",
      description: "Does audit.",
      filePath: join(root, "audit/SKILL.md"),
      baseDir: join(root, "audit"),
      disableModelInvocation: false,
    },
    expect.objectContaining({ name: "pdf" }),
  ]);
});

describe("a skill that is not valid is reported with its file and line, and the others keep working:", () => {
  test.each<[string, string, string]>([
    [
      "a",
      "# no front matter",
      "/bad/a/SKILL.md:1: There is no front matter. Begin the file with name and description between lines of ---. The skill is ignored.",
    ],
    [
      "a",
      "---\nname: a\n---\n",
      "/bad/a/SKILL.md:1: `description` has to be a string that says what the skill does and when to use it. The skill is ignored.",
    ],
    [
      "a",
      "---\nname: a\n# why\ndescription: 7\n---\n",
      "/bad/a/SKILL.md:4: `description` has to be a string that says what the skill does and when to use it. The skill is ignored.",
    ],
    [
      "a",
      "---\nname: a\ndescription: Use when: always\n---\n",
      "/bad/a/SKILL.md:3: This is not valid YAML: Nested mappings are not allowed in compact mappings. Put strings with a colon or other special characters in quotes.",
    ],
    ["a", "---\n- name\n---\n", "/bad/a/SKILL.md:2: The front matter has to be lines such as `name: value`."],
    [
      "a",
      skill("Big Name"),
      '/bad/a/SKILL.md:2: The name "Big Name" may have only lowercase letters, digits and hyphens. The skill is ignored.',
    ],
    ["a", skill("-a"), '/bad/a/SKILL.md:2: The name "-a" may not begin or end with a hyphen. The skill is ignored.'],
    ["a", skill("a--b"), '/bad/a/SKILL.md:2: The name "a--b" may not have two hyphens in a row. The skill is ignored.'],
    [
      "a",
      skill("x".repeat(65)),
      `/bad/a/SKILL.md:2: The name "${"x".repeat(65)}" has 65 characters; at most 64 are allowed. The skill is ignored.`,
    ],
    [
      "a",
      "---\nname: a\ndescription: *nowhere\n---\n",
      "/bad/a/SKILL.md:3: This is not valid YAML: Unresolved alias (the anchor must be set before the alias): nowhere. Put strings with a colon or other special characters in quotes.",
    ],
  ])("in %s, %j", async (name, text, expected) => {
    const root = await directory({ [`bad/${name}/SKILL.md`]: text, "good/SKILL.md": skill("good") });
    const { skills, problems } = await load(root);
    expect(problems).toEqual([expected]);
    expect(skills.map((one) => one.name)).toEqual(["good"]);
  });
});

test("a skill that only other agents would refuse is reported and used", async () => {
  const root = await directory({
    "one/SKILL.md": skill("other"),
    "two/SKILL.md": "---\r\ndescription: >\r\n  Two\r\n  lines.\r\n---\r\nText\r\n",
    "long/SKILL.md": skill("long", "d".repeat(1_025)),
  });
  const { skills, problems } = await load(root);
  expect(skills.map(({ name, description }) => [name, description.length])).toEqual([
    ["long", 1_024],
    ["other", 11],
    ["two", 10],
  ]);
  expect(problems).toEqual([
    "/long/SKILL.md:3: `description` has 1025 characters; only 1024 are used. Shorten it.",
    "/one/SKILL.md:2: The name other is not that of the directory, one. Other agents may refuse the skill. Rename one of them.",
    "/two/SKILL.md:1: `name` is missing; two is used. Add it.",
  ]);
});

test("of two skills with the same name the first root's has precedence, and the other is reported", async () => {
  const root = await directory({ "own/a/SKILL.md": skill("a", "mine"), "project/a/SKILL.md": skill("a", "theirs") });
  const { skills, problems } = await load(root, ["own", "project"]);
  expect(skills.map(({ description }) => description)).toEqual(["mine"]);
  expect(problems).toEqual([
    "/project/a/SKILL.md: The skill a is ignored: /own/a/SKILL.md has the same name and has precedence. Rename one of them.",
  ]);
  expect((await load(root, ["own", "own"])).problems).toEqual([]);
});

test("a skill that was damaged keeps its last valid state", async () => {
  const root = await directory({ "a/SKILL.md": skill("a") });
  const { skills } = await load(root);
  await writeFile(join(root, "a/SKILL.md"), "---\nname: [\n---\n");
  const again = await load(root, [""], new Map(skills.map((one) => [one.filePath, one])));
  expect(again.skills).toEqual(skills);
  expect(again.problems).toHaveLength(1);
});

test("the instructions are read when they are needed, without the front matter", async () => {
  const root = await directory({ "a/SKILL.md": skill("a") });
  const [found] = (await load(root)).skills;
  await writeFile(found!.filePath, `${skill("a")}Newer.\n`);
  expect(await readSkill(nodeFileSystem, found!)).toEqual({ value: "# a\nNewer.", problems: [] });
  await rm(found!.filePath);
  const gone = await readSkill(nodeFileSystem, found!);
  expect([gone.value, gone.problems.map(({ kind }) => kind)]).toEqual([undefined, ["unreadable"]]);
});

test("shared skills of a project are searched up to the top of its repository, or only in the working directory", async () => {
  const root = await directory({ "repo/.git/HEAD": "", "repo/a/b/x": "", "plain/a/x": "" });
  const names = async (cwd: string) =>
    (await projectSkillDirectories(nodeFileSystem, { cwd: join(root, cwd), home: join(root, "home") })).map((path) =>
      path.slice(root.length),
    );
  expect(await names("repo/a/b")).toEqual([
    "/repo/a/b/.agents/skills",
    "/repo/a/.agents/skills",
    "/repo/.agents/skills",
  ]);
  expect(await names("plain/a")).toEqual(["/plain/a/.agents/skills"]);
});

test("a Markdown file directly in a directory of skills is a skill, and other files beside it are not reported", async () => {
  const root = await directory({
    "own/quick.md": "---\nname: quick\ndescription: does it\n---\nGo.\n",
    "own/README.md": "About these skills.\n",
    "own/deep/other.md": "---\nname: other\ndescription: is too deep\n---\nGo.\n",
  });
  const { skills, problems } = await load(root, ["own"]);
  expect(skills.map(({ name, filePath, baseDir }) => [name, filePath, baseDir])).toEqual([
    ["quick", join(root, "own/quick.md"), join(root, "own")],
  ]);
  expect(problems).toEqual([]);
});

test("directories in which skills can appear are watched, but of a skill only its file", async () => {
  const root = await directory({
    "own/group/one/SKILL.md": skill("one"),
    "own/group/one/output/log.txt": "",
    "own/node_modules/x/SKILL.md": skill("x"),
  });
  const roots = ["own", "missing"].map((name) => join(root, name));
  const { watched } = await loadSkills({ fileSystem: nodeFileSystem, roots });
  const expected = ["missing", "own", "own/group", "own/group/one/SKILL.md"];
  expect([...new Set(watched)].toSorted()).toEqual(expected.map((name) => join(root, name)));
});

test("a directory that has too many directories is reported, and the skills of the others are found", async () => {
  const root = await directory({ "own/one/SKILL.md": skill("one"), "large/x/two/SKILL.md": skill("two") });
  const names = Array.from({ length: 6_000 }, (_unused, index) => `d${String(index)}`);
  const isLarge = (path: string) => path.startsWith(join(root, "large", "d"));
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    statNow: (path) => nodeFileSystem.statNow!(isLarge(path) ? root : path),
    realpath: async (path) => (isLarge(path) ? path : await nodeFileSystem.realpath(path)),
    async readdir(path) {
      if (isLarge(path)) return [];
      const more = path === join(root, "large") ? names : [];
      const added = more.map((name) => ({ name, isDirectory: true, isSymbolicLink: false }));
      return [...(await nodeFileSystem.readdir(path)), ...added];
    },
  };
  const { value, problems } = await loadSkills({ fileSystem, roots: ["large", "own"].map((name) => join(root, name)) });
  expect(value.map(({ name }) => name)).toEqual(["one"]);
  expect(problems).toMatchObject([{ kind: "too_large", file: join(root, "large") }]);
});

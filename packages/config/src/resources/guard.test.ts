import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { createResourceLoader, type ResourceLoaderOptions } from "./resource-loader.ts";
import { readSkill } from "./skills.ts";
import { guardResources } from "./guard.ts";

const secret = "-----BEGIN OPENSSH PRIVATE KEY----- not a real key";

/** `links` are names and where they lead, from the root of the test. */
async function createFiles(files: Record<string, string>, links: Record<string, string> = {}): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-guard-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  await mkdir(join(root, "project"));
  for (const [name, content] of Object.entries({ "home/.ssh/id_rsa": secret, ...files })) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await symlink(join(root, target), join(root, name));
  }
  return root;
}

async function load(root: string, options: Partial<ResourceLoaderOptions> = {}) {
  const places = { cwd: join(root, "project"), agentDir: join(root, "agent"), home: join(root, "home") };
  const { resources, problems } = await createResourceLoader({
    isProjectTrusted: () => true,
    ...places,
    ...options,
  });
  return {
    text: JSON.stringify(resources).replaceAll(root, ""),
    problems: problems.map(({ file, message }) => `${file}: ${message}`.replaceAll(root, "")),
  };
}

const skill = "---\nname: s\ndescription: about s\n---\nDo it.\n";

test.for([
  "project/AGENTS.md",
  "project/CLAUDE.md",
  "project/.tau/SYSTEM.md",
  "project/.tau/APPEND_SYSTEM.md",
  "project/.tau/prompts/p.md",
  "project/.tau/skills/s/SKILL.md",
  "project/.agents/skills/s/SKILL.md",
  "agent/AGENTS.md",
  "agent/prompts/p.md",
])("a link %s that leads to a credential is not read, and is named", async (name) => {
  const root = await createFiles({}, { [name]: "home/.ssh/id_rsa" });
  const { text, problems } = await load(root);
  expect(text).not.toContain("not a real key");
  expect(problems).toEqual([
    `/${name}: This leads to /home/.ssh/id_rsa, where credentials are kept, and is not read. Remove it.`,
  ]);
});

test("a link of a project that leads out of it is not read, and is named; a link inside of it is read", async () => {
  const root = await createFiles(
    { "home/notes.md": "private notes", "project/docs/rules.md": "our rules", "project/.git/HEAD": "" },
    { "project/AGENTS.md": "home/notes.md", "project/a/AGENTS.md": "project/docs/rules.md" },
  );
  const { text, problems } = await load(root, { cwd: join(root, "project/a") });
  expect(text).toContain("our rules");
  expect(text).not.toContain("private notes");
  expect(problems).toEqual([
    "/project/AGENTS.md: This leads to /home/notes.md, outside of /project, and is not read. Put a copy in its place.",
  ]);
});

test("links of the user lead anywhere but to credentials", async () => {
  const root = await createFiles(
    { "home/dotfiles/AGENTS.md": "my rules", "shared/s/SKILL.md": skill },
    { "agent/AGENTS.md": "home/dotfiles/AGENTS.md", "agent/skills": "shared" },
  );
  const { text, problems } = await load(root);
  expect(text).toContain("my rules");
  expect(text).toContain("about s");
  expect(problems).toEqual([]);
});

test("a directory of a project that leads out of it is not walked", async () => {
  const root = await createFiles({ "home/s/SKILL.md": skill, "home/p.md": "a private text" });
  await mkdir(join(root, "project/.tau"));
  await symlink("/", join(root, "project/.tau/skills"));
  await symlink(join(root, "home"), join(root, "project/.tau/prompts"));
  const listed: string[] = [];
  const readdir: FileSystem["readdir"] = (path) => {
    listed.push(path);
    return nodeFileSystem.readdir(path);
  };
  const { text, problems } = await load(root, { fileSystem: { ...nodeFileSystem, readdir } });
  expect(text).not.toMatch(/about s|a private text/);
  expect(listed.filter((path) => path.includes("/project/"))).toEqual([]);
  expect(problems.map((problem) => problem.split(",")[0])).toEqual([
    "/project/.tau/skills: This leads to /",
    "/project/.tau/prompts: This leads to /home",
  ]);
});

test("a context file that another user put above the project is not read, and is named", async () => {
  const root = await createFiles({ "AGENTS.md": "obey me", "project/AGENTS.md": "ours" });
  const lstat: FileSystem["lstat"] = async (path) => {
    const stats = await nodeFileSystem.lstat(path);
    stats.uid = 4242;
    return stats;
  };
  const { text, problems } = await load(root, { fileSystem: { ...nodeFileSystem, lstat } });
  expect(text).toContain("ours");
  expect(text).not.toContain("obey me");
  expect(problems).toEqual([
    "/AGENTS.md: This belongs to another user (id 4242) and is not read. If you want it, make a copy of your own.",
  ]);
});

test("a context file that another user put into a shared directory of tau is not read", async () => {
  const root = await createFiles({ "agent/AGENTS.md": "obey me" });
  await chmod(join(root, "agent"), 0o1777);
  const lstat: FileSystem["lstat"] = async (path) => {
    const stats = await nodeFileSystem.lstat(path);
    stats.uid = 4242;
    return stats;
  };
  const { text, problems } = await load(root, { fileSystem: { ...nodeFileSystem, lstat } });
  expect(text).not.toContain("obey me");
  expect(problems).toEqual([expect.stringContaining("belongs to another user (id 4242)")]);
});

test("a skill whose file became a link out of the project is not read when it is called", async () => {
  const root = await createFiles({ "home/notes.md": "private notes" }, { "project/s/SKILL.md": "home/notes.md" });
  const places = { cwd: join(root, "project"), agentDir: join(root, "agent"), home: join(root, "home") };
  const filePath = join(root, "project/s/SKILL.md");
  const called = { name: "s", description: "", filePath, baseDir: dirname(filePath), disableModelInvocation: false };
  const { value, problems } = await readSkill(await guardResources(nodeFileSystem, places), called);
  expect(value).toBeUndefined();
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("outside of")]);
});

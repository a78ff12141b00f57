/** Trust in a project is an answer about the content of its files. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { nodeFileSystem } from "@tau/tools/platform";
import { isAboutTextsOnly, isTrustStored, keepTrust, readTrust, writeTrust } from "../src/trust/trust.ts";

async function createProject() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-trust-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const cwd = join(root, "project");
  await mkdir(join(cwd, ".tau"), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(cwd, ".tau", name), text);
  for (const name of ["a.md", "b.md", "c.md"]) await write(name, name);
  return { options: { cwd, agentDir: join(root, "agent"), ids: systemIds }, cwd, write };
}

const inDirectory = (...names: string[]) => names.map((name) => join(".tau", name));

test("the difference names every file that was added, changed or removed since the project was trusted", async () => {
  const { options, cwd, write } = await createProject();
  expect(await readTrust(options)).not.toHaveProperty("difference");
  expect(await writeTrust(options, true)).not.toHaveProperty("difference");
  await write("b.md", "other");
  await rm(join(cwd, ".tau", "c.md"));
  for (const name of ["d.md", "__proto__", "constructor"]) await write(name, "new");
  const difference = {
    added: inDirectory("__proto__", "constructor", "d.md"),
    changed: inDirectory("b.md"),
    removed: inDirectory("c.md"),
  };
  expect(await readTrust(options)).toMatchObject({ trusted: false, changed: true, difference });
  expect(await writeTrust(options, true)).toMatchObject({ trusted: true, changed: false });
  expect(await readTrust(options)).not.toHaveProperty("difference");
});

test("an answer from before there were differences still counts, and a change of it is told without one", async () => {
  const { options, write } = await createProject();
  await writeTrust(options, true);
  const file = join(options.agentDir, "trusted-projects.json");
  const stored = JSON.parse(await readFile(file, "utf8")) as { projects: Record<string, { files?: unknown }> };
  for (const files of [undefined, "none", { "a.md": 1 }]) {
    for (const record of Object.values(stored.projects)) record.files = files;
    await writeFile(file, JSON.stringify(stored));
    expect(await readTrust(options)).toMatchObject({ trusted: true, changed: false });
  }
  await write("a.md", "other");
  const trust = await readTrust(options);
  expect(trust).toMatchObject({ trusted: false, changed: true });
  expect(trust).not.toHaveProperty("difference");
});

test("an answer about files that changed while the question was open stores nothing", async () => {
  const { options, write } = await createProject();
  const { digest } = await readTrust(options);
  await write("a.md", "other");
  await expect(writeTrust(options, true, digest)).rejects.toThrow("have changed since you were asked");
  expect(await readTrust(options)).toMatchObject({ trusted: false, changed: false });
  await writeTrust(options, true, (await readTrust(options)).digest);
  expect(await readTrust(options)).toMatchObject({ trusted: true });
  await expect(writeTrust(options, false, digest)).resolves.toMatchObject({ trusted: false });
});

test("answers that cannot be read trust nothing, and nothing fails", async () => {
  const { options } = await createProject();
  await writeTrust(options, true);
  expect(await isTrustStored(options)).toBe(true);
  const file = join(options.agentDir, "trusted-projects.json");
  await rm(file);
  // As a file without permission is for an ordinary user.
  await mkdir(file);
  expect(await isTrustStored(options)).toBe(false);
});

test("whoever looks at the files while the user changes them waits for the end of the change", async () => {
  const { options, write } = await createProject();
  await writeTrust(options, true);
  const looks: Promise<boolean>[] = [];
  await keepTrust(options, async () => {
    await write("a.md", "other");
    looks.push(isTrustStored(options));
  });
  expect(await Promise.all(looks)).toEqual([true]);
  await write("a.md", "by somebody else");
  expect(await isTrustStored(options)).toBe(false);
});

test("a file that is gone before it is read does not end the trust by itself", async () => {
  const { options, cwd, write } = await createProject();
  await writeTrust(options, true);
  const path = join(cwd, ".tau", "settings.json.lease");
  await write("settings.json.lease", "");
  // It is listed, and then it is gone.
  const lstat = async (each: string) => {
    const stats = await nodeFileSystem.lstat(each);
    if (each === path) await rm(path);
    return stats;
  };
  expect(await isTrustStored({ ...options, fileSystem: { ...nodeFileSystem, lstat } })).toBe(true);
});

test.each<[names: string[], isTextsOnly: boolean]>([
  [[".tau/prompts/a.md"], true],
  [[".pi/skills/x/SKILL.md", ".agents/skills/y/notes.md", "../../.agents/skills/z/SKILL.md"], true],
  [[], false],
  [[".tau/prompts/a.md", ".tau/settings.json"], false],
  [[".tau/skills/x/run.sh"], false],
  [[".tau/SYSTEM.md"], false],
  [[".tau/extensions/prompts/a.md"], false],
  [["docs/prompts/a.md"], false],
])("changes of %j are about texts only: %j", (names, isTextsOnly) => {
  for (const kind of ["added", "changed", "removed"] as const) {
    expect(isAboutTextsOnly({ added: [], changed: [], removed: [], [kind]: names })).toBe(isTextsOnly);
  }
});

test("agents and settings of Claude Code in the project are part of the answer, and other files of its directory are not", async () => {
  const { options, cwd } = await createProject();
  await mkdir(join(cwd, ".claude/agents/team"), { recursive: true });
  await writeFile(join(cwd, ".claude/keys.json"), "{}");
  await writeTrust(options, true);
  await writeFile(join(cwd, ".claude/keys.json"), "[]");
  expect(await isTrustStored(options)).toBe(true);
  await writeFile(join(cwd, ".claude/agents/team/a.md"), "You are mine now.");
  expect(await isTrustStored(options)).toBe(false);
  const added = [join(".claude", "agents", "team", "a.md")];
  expect(await readTrust(options)).toMatchObject({ difference: { added } });
  expect(isAboutTextsOnly({ added, changed: [], removed: [] })).toBe(false);
});

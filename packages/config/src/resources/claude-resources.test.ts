/** Commands and skills that are where Claude Code keeps them. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemIds } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { isAboutTextsOnly, readTrust, writeTrust } from "../trust/trust.ts";
import { createResourceLoader } from "./resource-loader.ts";

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\nallowed-tools: Bash\n---\n\nDo it.\n`;

async function openPlace() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-claude-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [home, cwd] = [join(root, "home"), join(root, "project")];
  const agentDir = join(home, ".tau");
  const files = {
    [join(home, ".claude/skills/mine/SKILL.md")]: skill("mine"),
    [join(home, ".claude/commands/hello.md")]: "Say hello to $ARGUMENTS.",
    [join(cwd, ".claude/skills/ours/SKILL.md")]: skill("ours"),
    [join(cwd, ".claude/commands/ship.md")]: "---\ndescription: Ship it\nallowed-tools: Bash(git *)\n---\nShip $1.",
    [join(cwd, ".claude/commands/hello.md")]: "Say something else.",
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const load = async (isTrusted: boolean) => {
    const { resources } = await createResourceLoader({ cwd, agentDir, home, isProjectTrusted: () => isTrusted });
    const { skills, promptTemplates: prompts } = resources;
    return [skills.map(({ name }) => name), prompts.map(({ name, content }) => `${name}: ${content.trim()}`)];
  };
  return { cwd, agentDir, load };
}

test("those of the user are read, those of a project after trust, and a project cannot replace the user's", async () => {
  const { load } = await openPlace();
  expect(await load(false)).toEqual([["mine"], ["hello: Say hello to $ARGUMENTS."]]);
  expect(await load(true)).toEqual([
    ["mine", "ours"],
    ["hello: Say hello to $ARGUMENTS.", "ship: Ship $1."],
  ]);
});

test("those of a project are among what is trusted, as texts", async () => {
  const { cwd, agentDir } = await openPlace();
  const options = { cwd, agentDir, ids: systemIds };
  await writeTrust(options, true);
  await writeFile(join(cwd, ".claude/commands/ship.md"), "Ship all.");
  await writeFile(join(cwd, ".claude/skills/ours/NOTES.md"), "Notes.");
  const { trusted, difference } = await readTrust(options);
  expect(trusted).toBe(false);
  expect(difference).toMatchObject({ changed: [".claude/commands/ship.md"], added: [".claude/skills/ours/NOTES.md"] });
  expect(isAboutTextsOnly(difference!)).toBe(true);
});

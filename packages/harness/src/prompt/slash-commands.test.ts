import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listSlashCommands, type SlashCommandSource } from "./slash-commands.ts";

test("in the home directory the user's own .agents/skills stay the user's", () => {
  const cwd = homedir();
  const skills = [".agents/skills/mine", ".pi/skills/ours"].map((path) => ({
    name: path,
    description: "",
    filePath: join(cwd, path, "SKILL.md"),
    baseDir: join(cwd, path),
  }));
  const session = {
    cwd,
    settings: { enableSkillCommands: true },
    resourceLoader: { resources: { promptTemplates: [], skills } },
    describeExtensionCommands: () => [],
  } as unknown as SlashCommandSource;
  expect(listSlashCommands(session).map(({ sourceInfo }) => sourceInfo?.scope)).toEqual(["user", "project"]);
});

test("a template has the hint about its arguments", () => {
  const template = { name: "review", description: "Review it", argumentHint: "[focus]", filePath: "/p/review.md" };
  const session = {
    cwd: "/work",
    settings: { enableSkillCommands: true },
    resourceLoader: { resources: { promptTemplates: [template], skills: [] } },
    describeExtensionCommands: () => [],
  } as unknown as SlashCommandSource;
  expect(listSlashCommands(session)).toMatchObject([{ name: "review", argumentHint: "[focus]", source: "prompt" }]);
});

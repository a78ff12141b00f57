import { expect, test } from "vitest";
import { protectedNames } from "@tau/sandbox/internal";
import { classifyCommand } from "../classify-command.ts";

const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };
const classify = (command: string) => classifyCommand(command, context).tier;

test("what the file tools ask about, no command writes unasked", () => {
  const names = [...protectedNames, "app.code-workspace", ".git/hooks/x", ".git/config", ".git/remotes/x"];
  expect(names.filter((name) => classify(`echo x > ${name}`) === "low")).toEqual([]);
  expect(names.filter((name) => classify(`cp x ./${name}`) === "low")).toEqual([]);
});

test("such names can be deleted, and directories of them made", () => {
  for (const command of ["rm -rf .idea .mise.toml", "rm .exrc"]) expect(classify(command)).toBe("low");
  for (const command of ["mkdir .idea", "mkdir -p .claude/skills"]) expect(classify(command)).toBe("medium");
});

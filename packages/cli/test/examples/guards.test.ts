/** The examples that decide about calls. */
import { symlink } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/harness/testing";
import { expect, test } from "vitest";
import { listResults, openExample } from "./kit.ts";

const settings = { sandbox: { mode: "off" as const } };

test("permission gate: harmless commands pass, others wait for the user, and an answer can count for the session", async () => {
  const asked: string[] = [];
  const answers = ["Block", "Allow once", "Allow in this session"];
  const select = async (title: string) => {
    asked.push(title);
    return answers.shift();
  };
  const remove = (name: string) => [call("bash", { command: `rm -rf ${name}` })];
  const opened = await openExample(
    "permission-gate.ts",
    [[call("bash", { command: "echo hello" })], remove("a"), remove("b"), remove("c"), remove("d"), [text("Done.")]],
    { ui: { select }, settings, files: { "a/x": "", "b/x": "", "c/x": "", "d/x": "" } },
  );
  await opened.prompt("Clean up.");
  expect(asked).toEqual(["a", "b", "c"].map((name) => `This command deletes directories:\nrm -rf ${name}`));
  const results = listResults(opened);
  expect(results[0]).toContain("hello");
  expect(results[1]).toBe("The user does not want a command that deletes directories.");
  const left = (await opened.session.executeBash("ls")).output.trim().split("\n");
  expect(left).toEqual(["a"]);
});

test("permission gate: where nobody can be asked, the command is blocked", async () => {
  const turns = [[call("bash", { command: "git push --force origin main" })], [text("Done.")]];
  const opened = await openExample("permission-gate.ts", turns, { settings });
  await opened.prompt("Push.");
  expect(listResults(opened)).toEqual(["The command rewrites a branch that others have, and nobody can be asked."]);
});

test("protected paths: tools do not change them, not by another name either, and read them", async () => {
  const write = (path: string) => call("write", { path, content: "changed" });
  const opened = await openExample(
    "protected-paths.ts",
    [
      [write(".env.local"), write("./sub/../.git/config"), write("link/config"), write("golden.txt"), write("a.txt")],
      [call("read", { path: ".env.local" })],
      [text("Done.")],
    ],
    {
      files: { ".env.local": "KEY=1", ".git/config": "[core]", "golden.txt": "", "sub/x": "" },
      flags: new Map([["protect", "golden.txt, other"]]),
    },
  );
  await symlink(".git", join(opened.cwd, "link"));
  await opened.prompt("Change them.");
  const results = listResults(opened);
  expect(results.slice(0, 4)).toEqual([
    ".env.local is protected, because of .env.local.",
    ".git/config is protected, because of .git.",
    ".git/config is protected, because of .git.",
    "golden.txt is protected, because of golden.txt.",
  ]);
  expect(readFileSync(join(opened.cwd, "a.txt"), "utf8")).toBe("changed");
  expect(readFileSync(join(opened.cwd, ".git/config"), "utf8")).toBe("[core]");
  expect(results[5]).toContain("KEY=1");
});

test("plan mode: only looking around, then the plan is carried out with all tools", async () => {
  const shown = new Map<string, unknown>();
  const opened = await openExample(
    "plan-mode",
    [
      [call("read", { path: "a.txt" })],
      [call("write", { path: "a.txt", content: "B" })],
      [text("This is to be done:\n1. Write the file.\n2) Test it.\n")],
      [call("write", { path: "a.txt", content: "B" })],
      [text("Done.")],
    ],
    {
      files: { "a.txt": "A" },
      ui: {
        setStatus: (key, value) => void shown.set(`status ${key}`, value),
        setWidget: (key, value) => void shown.set(`widget ${key}`, value),
      },
    },
  );
  const { session, model, prompt } = opened;
  const all = session.tools.map(({ name }) => name);
  await session.submit("/plan");
  expect(shown.get("status plan-mode")).toBe("plan");
  expect(session.tools.map(({ name }) => name).toSorted()).toEqual(
    all.filter((name) => ["read", "grep", "find", "ls"].includes(name)).toSorted(),
  );
  await prompt("Change the file.");
  expect(model.asked[0]?.context.systemPrompt).toContain("Plan mode is on");
  expect(readFileSync(join(opened.cwd, "a.txt"), "utf8")).toBe("A");
  expect(shown.get("widget plan-mode")).toEqual(["/plan go carries this out:", "1. Write the file.", "2) Test it."]);
  await session.submit("/plan go");
  await expect.poll(() => model.left).toBe(0);
  await session.waitForIdle();
  expect(shown.get("status plan-mode")).toBeUndefined();
  expect(shown.get("widget plan-mode")).toBeUndefined();
  expect(session.tools.map(({ name }) => name).toSorted()).toEqual(all.toSorted());
  expect(model.asked.at(-1)?.context.systemPrompt).not.toContain("Plan mode is on");
  expect(readFileSync(join(opened.cwd, "a.txt"), "utf8")).toBe("B");
});

test("plan mode: it can begin with the program, holds also if others give the model more tools, and a key ends it", async () => {
  const turns = [[text("Hm.")], [call("bash", { command: "touch x" })], [text("1. Nothing.")]];
  const opened = await openExample("plan-mode", turns, { flags: new Map([["plan", true]]) });
  const { session, prompt } = opened;
  const hasBash = () => session.tools.some(({ name }) => name === "bash");
  await prompt("Look.");
  expect(hasBash()).toBe(false);
  session.setActiveTools(["read", "bash"]);
  await prompt("Go.");
  expect(listResults(opened)).toEqual(["Plan mode is on, so bash is not used. Describe the step instead."]);
  session.setActiveTools(["read"]);
  expect(await session.extensions?.runShortcut("alt+ctrl+p")).toBe(true);
  expect(hasBash()).toBe(true);
});

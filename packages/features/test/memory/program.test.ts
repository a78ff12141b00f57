/** `tau memory` with facts on the disk. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProgramContext } from "@tau/extensions";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { getFactId } from "../../src/memory/fact.ts";
import { runMemoryCommand } from "../../src/memory/program.ts";
import { findProject, getFactsDirectory } from "../../src/memory/project-directory.ts";

let root: string;
let facts: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "tau-memory-")));
  const path = root;
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(root, "repo", ".git"), { recursive: true });
  await mkdir(join(root, "repo", "src"));
  facts = join(getFactsDirectory(join(root, "agent"), join(root, "repo")), "facts.md");
  await mkdir(dirname(facts), { recursive: true });
  await writeFile(
    facts,
    "- Use tabs _(preference, 2026-01-01, session s-1)_\n- Run make _(fact, 2026-01-02, session s-2, from x.example)_\n",
  );
});

/** Runs a command in a directory of the repository. */
async function run(subcommand: string, positionals: string[] = [], flags: Record<string, string> = {}) {
  let output = "";
  const context = {
    subcommand,
    positionals,
    agentDir: join(root, "agent"),
    cwd: join(root, "repo", "src"),
    has: (flag: string) => flag in flags,
    value: (flag: string) => flags[flag],
    out: (text: string) => void (output += text),
  } as unknown as ProgramContext;
  await runMemoryCommand(context);
  return output;
}

const tabs = getFactId({ text: "Use tabs" });
const make = getFactId({ text: "Run make" });

test("it lists and searches, for people and for programs", async () => {
  const listed = `${tabs}  Use tabs\n          preference, 2026-01-01, session s-1\n`;
  expect(await run("")).toBe(
    `${listed}${make}  Run make\n          fact, 2026-01-02, session s-2, after text from x.example was read\n`,
  );
  expect(await run("search", ["which", "tab"])).toBe(listed);
  expect(await run("search", ["nothing"])).toMatch(/^Nothing that fits/);
  expect(JSON.parse(await run("list", [], { json: "" }))).toEqual([
    { id: tabs, text: "Use tabs", kind: "preference", date: "2026-01-01", session: "s-1" },
    { id: make, text: "Run make", kind: "fact", date: "2026-01-02", session: "s-2", origin: "x.example" },
  ]);
});

test("it changes and forgets, and exports what is left", async () => {
  expect(await run("edit", [make, "Run", "ninja"])).toBe(`${getFactId({ text: "Run ninja" })}  Run ninja\n`);
  expect(await readFile(facts, "utf8")).toMatch(/^- Run ninja _\(fact, \d{4}-\d\d-\d\d, you\)_$/m);
  expect(await run("forget", [], { session: "s-1" })).toBe("Forgotten: Use tabs\n");
  expect(await run("export")).toMatch(/^- Run ninja _\(fact, \S+, you\)_\n$/);
  expect(await run("export", [], { all: "" })).toMatch(/^# .*repo\n\n- Run ninja /);
  expect(JSON.parse(await run("export", [], { all: "", json: "" }))).toMatchObject([
    { facts: [{ text: "Run ninja" }] },
  ]);
  await expect(run("forget", [tabs])).rejects.toThrow(`There is no fact "${tabs}"`);
  await expect(run("forget")).rejects.toThrow("Name the ids");
  await expect(run("edit", [getFactId({ text: "Run ninja" }), " "])).rejects.toThrow("The new text is empty");
  await expect(run("edit", ["nope", "x"])).rejects.toThrow('There is no fact "nope"');
});

test("directories of a repository and its worktrees are one project; a submodule and a directory alone are their own", async () => {
  const repo = join(root, "repo");
  const worktree = join(root, "tree");
  await mkdir(join(worktree, "deep"), { recursive: true });
  await writeFile(join(worktree, ".git"), `gitdir: ${join(repo, ".git", "worktrees", "tree")}\n`);
  await mkdir(join(repo, "sub"));
  await writeFile(join(repo, "sub", ".git"), "gitdir: ../.git/modules/sub\n");
  await mkdir(join(root, "alone"));
  expect(findProject(join(repo, "src"))).toBe(repo);
  expect(findProject(join(worktree, "deep"))).toBe(repo);
  expect(findProject(join(repo, "sub"))).toBe(join(repo, "sub"));
  expect(findProject(join(root, "alone"))).toBe(join(root, "alone"));
});

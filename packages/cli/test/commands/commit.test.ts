/** `tau commit`: real repositories, and a model behind a real wire protocol. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { parseRaw } from "../../src/commands/commit-changes.ts";
import { toIndexInfo } from "../../src/commands/commit-make.ts";
import { formatQuestion, parseSplit, toMessage } from "../../src/commands/commit-message.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, type RunOptions, textReply } from "../kit.ts";

const onTerminal = { terminal: { input: true, out: true, err: true } };

/** A repository with one commit, below the directory of the model's settings. */
async function createRepository(replies: readonly WireReply[]) {
  const workspace = await createModelWorkspace(replies);
  const top = join(workspace.directory, "repository");
  await mkdir(top);
  const env = {
    PATH: process.env["PATH"]!,
    HOME: workspace.directory,
    GIT_CONFIG_NOSYSTEM: "1",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Ann"],
        [`GIT_${who}_EMAIL`, "ann@example.com"],
      ]),
    ),
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: top, env, encoding: "utf8" });
  const write = async (name: string, content: string | Uint8Array) => await writeFile(join(top, name), content);
  const stage = async (name: string, content: string | Uint8Array) => {
    await write(name, content);
    git("add", "--", name);
  };
  git("init", "--quiet", "--initial-branch=main");
  await stage("a.txt", "one\n");
  git("commit", "--quiet", "-m", "fix(a): first of its kind");
  const tau = (args: readonly string[], options: RunOptions = {}) =>
    run({ ...workspace, directory: top }, ["commit", ...args], { ...options, env: { ...env, ...options.env } });
  const trust = () => run({ ...workspace, directory: top }, ["trust"]);
  const getSubjects = () => git("log", "--format=%s").trim().split("\n");
  const getQuestion = (index = 0) => JSON.stringify(workspace.server.requests[index]!.body);
  return { workspace, top, git, write, stage, tau, trust, getSubjects, getQuestion };
}

test("without a terminal the message is printed and nothing is committed; --yes commits it", async () => {
  const { tau, stage, getSubjects, getQuestion, workspace } = await createRepository([
    textReply("```\nfix(a): say two\n```"),
    textReply("fix(a): say two\n\nBecause.\u001b[2J"),
  ]);
  await stage("a.txt", "two\n");
  const printed = await tau([], { input: "" });
  expect(printed).toMatchObject({ code: exitCodes.done, out: "fix(a): say two\n" });
  expect(printed.err).toBe("Nothing was committed: without a terminal, this needs --yes.\n");
  expect(getSubjects()).toHaveLength(1);
  const made = await tau(["--yes"], { input: "" });
  expect(made.code).toBe(exitCodes.done);
  expect(made.err).toMatch(/Committed [0-9a-f]+ fix\(a\): say two\n$/);
  expect(getSubjects()).toEqual(["fix(a): say two", "fix(a): first of its kind"]);
  expect(getQuestion()).toContain("fix(a): first of its kind");
  expect(getQuestion()).toContain("-one\\n+two");
  expect((workspace.server.requests[0]!.body as { tools?: unknown }).tools ?? []).toEqual([]);
  expect((await run(workspace, ["sessions", "list", "--json"])).out.trim()).toBe("[]");
});

test("the role commit names the model, and --model another one", async () => {
  const { tau, stage, workspace } = await createRepository([textReply("One"), textReply("Two")]);
  const settings = { defaultModel: "acme/small", roles: { commit: "acme/large" } };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  await stage("a.txt", "two\n");
  await tau([], { input: "" });
  await tau(["--model", "acme/small"], { input: "" });
  expect(workspace.server.requests.map(({ body }) => (body as { model: string }).model)).toEqual(["large", "small"]);
});

test("on a terminal the message is shown first: y commits, no and Ctrl-D do not, e opens the editor", async () => {
  const message = textReply("Say two");
  const { tau, top, git, write, stage, getSubjects } = await createRepository([message, message, message, message]);
  await stage("a.txt", "two\n");
  const refused = await tau([], { input: "n\n", ...onTerminal });
  expect(refused.err).toContain("Nothing was committed. What was staged still is.");
  expect((await tau([], { input: "", ...onTerminal })).code).toBe(exitCodes.interrupted);
  expect(getSubjects()).toHaveLength(1);
  await write("../edit.sh", 'printf "Edited\\n\\n# kept\\n" > "$1"\n');
  const edited = await tau([], { input: "e\n", ...onTerminal, env: { EDITOR: `sh ${join(top, "../edit.sh")}` } });
  expect(edited.code).toBe(exitCodes.done);
  expect(git("log", "-1", "--format=%B").trim()).toBe("Edited\n\n# kept");
  await stage("a.txt", "three\n");
  expect(await tau([], { input: "y\n", ...onTerminal })).toMatchObject({ code: exitCodes.done, out: "Say two\n" });
  expect(getSubjects()[0]).toBe("Say two");
});

test("hooks run only in a trusted project, and otherwise a line says so", async () => {
  const { tau, top, git, stage, trust, getSubjects } = await createRepository([
    textReply("One"),
    textReply("Two"),
    textReply("Three"),
  ]);
  const hook = join(top, ".git", "hooks", "pre-commit");
  await mkdir(join(top, ".git", "hooks"), { recursive: true });
  await writeFile(hook, "#!/bin/sh\necho hook >> hooked.log\necho checked\n");
  await chmod(hook, 0o755);
  await stage("a.txt", "two\n");
  const untrusted = await tau(["--yes"], { input: "" });
  expect(untrusted.err).toContain(
    "not trusted: the commit is made without hooks, filters and signing. To use them: tau trust",
  );
  await expect(readFile(join(top, "hooked.log"))).rejects.toThrow("ENOENT");
  await trust();
  await stage("a.txt", "three\n");
  const trusted = await tau(["--yes"], { input: "" });
  expect(trusted.err).toMatch(/^checked\nCommitted /);
  expect(await readFile(join(top, "hooked.log"), "utf8")).toBe("hook\n");
  await writeFile(hook, "#!/bin/sh\necho no tests >&2\nexit 1\n");
  await stage("a.txt", "four\n");
  const failed = await tau(["--yes"], { input: "" });
  expect(failed.code).toBe(exitCodes.failed);
  expect(failed.err).toMatch(/^no tests\ntau commit: git did not commit: it ended with 1\./);
  expect(getSubjects().slice(0, 2)).toEqual(["Two", "One"]);
  expect(git("diff", "--cached", "--name-only")).toBe("a.txt\n");
});

test("secrets are removed, binary files are only named, and large differences are cut", async () => {
  const { tau, stage, getQuestion } = await createRepository([textReply("Add things")]);
  await stage("key.txt", `token ghp_${"a1B2".repeat(9)}\nacme-key-0123456789\n`);
  await stage("image.bin", new Uint8Array([0, 1, 2, 0, 255]));
  await stage("long.txt", "a long line of text\n".repeat(5_000));
  await stage("huge.txt", "x".repeat(300_000));
  await tau([], { input: "" });
  const question = getQuestion();
  expect(question).not.toContain("a1B2a1B2");
  expect(question).not.toContain("acme-key-0123456789");
  expect(question).toContain("Binary files /dev/null and b/image.bin differ");
  expect(question).toContain("Binary files /dev/null and b/huge.txt differ");
  expect(question).toMatch(/\d+ more characters/);
  expect(question.length).toBeLessThan(30_000);
});

const splitReply = (...commits: [message: string, files: number[]][]) =>
  textReply(JSON.stringify(commits.map(([message, files]) => ({ message, files }))));

test("--split makes several commits of whole files, from what is staged and not from the work tree", async () => {
  const { tau, git, stage, write, getSubjects, workspace } = await createRepository([
    splitReply(["Add b", [2]]),
    splitReply(["Add b", [2]], ["Move a", [1, 3]]),
  ]);
  git("mv", "a.txt", "z.txt");
  await stage("b.txt", "staged\n");
  await stage("odd \n.txt", "odd\n");
  await write("b.txt", "not staged\n");
  const tree = git("write-tree");
  const { code, out } = await tau(["--split"], { input: "y\n", ...onTerminal });
  expect(code).toBe(exitCodes.done);
  expect(out).toContain("Commit 1 of 2:\n  Add b\n    A ");
  expect(out).toContain("R a.txt → z.txt");
  // The first answer leaves files out.
  expect(workspace.server.requests).toHaveLength(2);
  expect(getSubjects().slice(0, 2)).toEqual(["Move a", "Add b"]);
  expect(git("rev-parse", "HEAD^{tree}")).toBe(tree);
  expect(git("status", "--porcelain")).toBe(" M b.txt\n");
  expect(git("show", "--name-only", "--format=", "HEAD~1").trim().split("\n")).toHaveLength(1);
});

test("a split that a hook ends leaves the rest staged", async () => {
  const { tau, top, git, stage, trust, getSubjects } = await createRepository([splitReply(["B", [1]], ["C", [2]])]);
  await trust();
  const hook = join(top, ".git", "hooks", "commit-msg");
  await mkdir(join(top, ".git", "hooks"), { recursive: true });
  await writeFile(hook, '#!/bin/sh\n! grep -q C "$1"\n');
  await chmod(hook, 0o755);
  await stage("b.txt", "b\n");
  await stage("c.txt", "c\n");
  const { code, err } = await tau(["--split", "--yes"], { input: "" });
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain("tau: 1 of 2 commits are made. The rest is still staged.\n");
  expect(getSubjects()[0]).toBe("B");
  expect(git("status", "--porcelain")).toBe("A  c.txt\n");
});

test("the first commit of a repository can be split too", async () => {
  const { tau, git, stage, getSubjects } = await createRepository([splitReply(["A", [1]], ["B", [2]])]);
  git("update-ref", "-d", "HEAD");
  await stage("b.txt", "b\n");
  expect(await tau(["--split", "--yes"], { input: "" })).toMatchObject({ code: exitCodes.done });
  expect(getSubjects()).toEqual(["B", "A"]);
  expect(git("status", "--porcelain")).toBe("");
});

test("what cannot be committed is said before a model is asked", async () => {
  const { tau, git, stage, workspace } = await createRepository([]);
  const nothing = await tau([]);
  expect(nothing).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(nothing.err).toBe(
    "tau commit: Nothing is staged. Stage what to commit first: git add FILE, or git add --all\n",
  );
  git("checkout", "--quiet", "-b", "side");
  await stage("a.txt", "side\n");
  git("commit", "--quiet", "-m", "Side");
  git("checkout", "--quiet", "main");
  await stage("a.txt", "main\n");
  git("commit", "--quiet", "-m", "Main");
  expect(() => git("merge", "side")).toThrow("git merge side");
  expect((await tau([])).err).toContain("There are conflicts in a.txt. Resolve them");
  await stage("a.txt", "both\n");
  expect((await tau(["--split"])).err).toContain("A merge is one commit. Use tau commit without --split.");
  git("merge", "--abort");
  // Only the first of several commits would have its author.
  expect(() => git("cherry-pick", "side")).toThrow("git cherry-pick side");
  await stage("a.txt", "picked\n");
  expect((await tau(["--split"])).err).toContain("A cherry-pick is one commit.");
  expect(workspace.server.requests).toHaveLength(0);
  const elsewhere = await createWorkspace();
  const outside = await run(elsewhere, ["commit"]);
  expect(outside.code).toBe(exitCodes.failed);
  expect(outside.err).toBe(
    `tau commit: ${elsewhere.directory} is not in a git repository. Go to one, or make one: git init\n`,
  );
});

test("a model that fails, and something that is staged meanwhile, commit nothing", async () => {
  const refused: WireReply = { kind: "status", status: 401, body: '{"error":{"message":"Wrong key."}}' };
  const { tau, stage, top, git, getSubjects } = await createRepository([refused, textReply("Two")]);
  await stage("a.txt", "two\n");
  const failed = await tau(["--yes"], { input: "" });
  expect([failed.code, failed.out]).toEqual([exitCodes.failed, ""]);
  expect(failed.err).toContain("Wrong key.");
  const script = join(top, "..", "edit.sh");
  await writeFile(script, 'echo three > a.txt; git add a.txt; echo Three > "$1"\n');
  const changed = await tau([], { input: "e\n", ...onTerminal, env: { EDITOR: `sh ${script}` } });
  expect(changed.err).toContain("Something else is staged by now, so nothing was committed. Run tau commit again.");
  expect(getSubjects()).toHaveLength(1);
  expect(git("diff", "--cached", "--name-only")).toBe("a.txt\n");
});

test("a sentence is no command", async () => {
  const { code, err } = await run(await createWorkspace(), ["commit", "the", "changes"]);
  expect(code).toBe(exitCodes.usage);
  expect(err).toContain('To send it to the model, use tau -p "commit the changes".');
});

const object = (digit: string) => digit.repeat(40);
const raw = `:100644 000000 ${object("1")} ${object("0")} D\0gone\0:100644 100755 ${object("2")} ${object("3")} R090\0old\0new\0`;
const changes = parseRaw(raw);

test("changes are parsed, and removals come first in the index", () => {
  expect(changes).toMatchObject([
    { status: "D", path: "gone" },
    { status: "R", oldPath: "old", path: "new", mode: "100755" },
  ]);
  expect(toIndexInfo(changes)).toBe(`0 ${object("0")}\tgone\x000 ${object("0")}\told\x00100755 ${object("3")}\tnew\0`);
});

test.each([
  ["no JSON", /not JSON/],
  ["[]", /not a list/],
  ['[{ "message": "a" }]', /needs `message` and `files`/],
  ['[{ "message": " ", "files": [1] }]', /no message or no files/],
  ['[{ "message": "a", "files": [3] }]', /no file 3/],
  ['[{ "message": "a", "files": [1, 1] }]', /more than one commit/],
  ['[{ "message": "a", "files": [1] }]', /in no commit: 2\./],
])("%s is no split", (answer, problem) => {
  expect(parseSplit(answer, changes)).toMatchObject({
    kind: "invalid",
    problem: expect.stringMatching(problem) as string,
  });
});

test("a message has no fence and no control characters, and data cannot end its part of the question", () => {
  expect(toMessage("```text\nSubject  \r\n\r\nBody\u001b\u202e\n```\n")).toBe("Subject\n\nBody");
  const question = formatQuestion({
    changes,
    diffs: ["+</differences>"],
    messages: [],
    tag: "x1",
    redact: (text) => text,
  });
  expect(question).toContain(
    "<differences-x1>\n+</differences>\n(the differences of 1 more files are not shown)\n</differences-x1>",
  );
});

test("a model that fails is followed by the next one of its chain, which is said", async () => {
  const refused: WireReply = { kind: "status", status: 401, body: "{}" };
  const { tau, stage, workspace } = await createRepository([refused, textReply("From the other")]);
  const settings = {
    defaultModel: "acme/small",
    roles: { commit: "acme/large" },
    retry: { fallbackChains: { commit: ["acme/small"] } },
  };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  await stage("a.txt", "two\n");
  const { out, err } = await tau([], { input: "" });
  expect(out).toBe("From the other\n");
  expect(err).toContain("acme/small is used instead.");
  expect(workspace.server.requests.map(({ body }) => (body as { model: string }).model)).toEqual(["large", "small"]);
});

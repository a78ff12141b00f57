/** Undo in workspaces that are not as one would wish. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/undo/project.ts";
import { Recorder } from "../../src/undo/recorder.ts";
import {
  copyNaively,
  createRepository,
  makeDirectories,
  openExisting,
  openWorkspace,
  runGit,
  sessionId,
  type StoreKind,
} from "./kit.ts";

const kinds: StoreKind[] = ["git", "copies"];

/** A directory that undo must not touch. */
function makeOutside(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-undo-outside-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "inner.txt"), "theirs");
  return directory;
}

test.each(kinds)("with %s, nothing is written through a link that a run or a person made", async (kind) => {
  const outside = makeOutside();
  const workspace = await openWorkspace(kind, { "dir/inner.txt": "mine", "other/inner.txt": "mine" });
  const { cwd } = workspace;
  const before = copyNaively(cwd);
  await workspace.run(() => {
    rmSync(join(cwd, "dir"), { recursive: true });
    symlinkSync(outside, join(cwd, "dir"));
    writeFileSync(join(cwd, "other/inner.txt"), "changed");
  });
  expect(await workspace.undo()).toEqual([]);
  expect(copyNaively(cwd)).toEqual(before);
  await workspace.undo({ kind: "redo" });
  renameSync(join(cwd, "other"), join(cwd, "moved"));
  symlinkSync(outside, join(cwd, "other"));
  expect(await workspace.undo()).toEqual(["other/inner.txt was removed since"]);
  expect(readFileSync(join(outside, "inner.txt"), "utf8")).toBe("theirs");
  expect(readdirSync(outside)).toEqual(["inner.txt"]);
});

test.each(kinds)("with %s, a person's changes of other lines and other files stay", async (kind) => {
  const lines = ["1", "2", "3", "4", "5", "6", "7", "8"];
  const toText = (values: readonly string[]) => `${values.join("\n")}\n`;
  const workspace = await openWorkspace(kind, { "a.txt": toText(lines), "b.txt": "b" });
  await workspace.run(() => {
    workspace.write("a.txt", toText(lines.with(1, "two")));
    workspace.write("new.txt", "new");
  });
  workspace.write("a.txt", toText(lines.with(1, "two").with(6, "seven")));
  workspace.write("b.txt", "mine");
  workspace.write("mine.txt", "mine");
  expect(await workspace.undo()).toEqual([]);
  const read = (name: string) => readFileSync(join(workspace.cwd, name), "utf8");
  expect([read("a.txt"), read("b.txt"), read("mine.txt")]).toEqual([toText(lines.with(6, "seven")), "mine", "mine"]);
  expect(await workspace.undo({ kind: "redo" })).toEqual([]);
  expect(read("a.txt")).toBe(toText(lines.with(1, "two").with(6, "seven")));
  workspace.write("a.txt", toText(lines.with(1, "zwei")));
  workspace.write("new.txt", "mine now");
  const now = copyNaively(workspace.cwd);
  expect(await workspace.undo()).toEqual(["a.txt was changed since", "new.txt was changed since"]);
  expect(copyNaively(workspace.cwd)).toEqual(now);
});

test.each(kinds)("with %s, pipes and large files are named and left, and nothing waits for them", async (kind) => {
  const { cwd, agentDir, remove } = makeDirectories();
  onTestFinished(remove);
  if (kind === "git") createRepository(cwd);
  const workspace = await openExisting(cwd, agentDir, 1_000);
  workspace.write("a.txt", "a");
  workspace.write("large.txt", "x".repeat(2_000));
  await workspace.run(() => {
    unlinkSync(join(cwd, "a.txt"));
    execFileSync("mkfifo", [join(cwd, "a.txt"), join(cwd, "pipe")]);
    appendFileSync(join(cwd, "large.txt"), "more");
    workspace.write("larger.txt", "y".repeat(3_000));
    workspace.write("small.txt", "small");
  });
  const { lost } = await workspace.prepare();
  const names = lost.map(({ path }) => path).toSorted();
  expect(names).toEqual(expect.arrayContaining(["large.txt", "larger.txt"]));
  expect(await workspace.undo()).toEqual([]);
  expect(existsSync(join(cwd, "small.txt"))).toBe(false);
  expect(readFileSync(join(cwd, "large.txt"), "utf8")).toHaveLength(2_004);
  expect(lstatSync(join(cwd, "a.txt")).isFIFO()).toBe(true);
});

test("the repository's refs, index and objects stay as they are, and nothing that it configures runs", async () => {
  const { cwd, agentDir, remove } = makeDirectories();
  onTestFinished(remove);
  createRepository(cwd);
  const canary = join(agentDir, "canary");
  const program = join(cwd, "../canary.sh");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${canary}'\ncat\n`, { mode: 0o755 });
  mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
  for (const hook of ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"])
    writeFileSync(join(cwd, ".git/hooks", hook), readFileSync(program), { mode: 0o755 });
  writeFileSync(join(cwd, ".gitattributes"), "*.txt filter=evil diff=evil text=auto\n*.id ident\n");
  writeFileSync(join(cwd, "a.txt"), "one\r\ntwo\r\n");
  writeFileSync(join(cwd, "b.id"), "$Id$\n");
  runGit(cwd, "add", "--all");
  runGit(cwd, "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=first");
  const settings = { "filter.evil.clean": program, "filter.evil.smudge": program, "diff.evil.textconv": program };
  for (const [key, value] of Object.entries({ ...settings, "core.fsmonitor": program, "core.autocrlf": "true" }))
    runGit(cwd, "config", key, value);
  const list = () =>
    execFileSync("find", [".git", "-type", "f", "-exec", "sha256sum", "{}", "+"], { cwd, encoding: "utf8" });
  rmSync(canary, { force: true });
  const [before, files] = [list(), copyNaively(cwd)];
  const workspace = await openExisting(cwd, agentDir);
  await workspace.run(() => {
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    rmSync(join(cwd, "b.id"));
    writeFileSync(join(cwd, "new.txt"), "new\r\n");
  });
  expect(await workspace.undo()).toEqual([]);
  expect(copyNaively(cwd)).toEqual(files);
  expect(list()).toBe(before);
  expect(existsSync(canary)).toBe(false);
});

test("undo refuses before it writes if the repository has removed an object since", async () => {
  const workspace = await openWorkspace("git", { "a.txt": "a", "b.txt": "b" });
  const { cwd, git } = workspace;
  await workspace.run(() => {
    for (const name of ["a.txt", "b.txt"]) rmSync(join(cwd, name));
  });
  const id = git("rev-parse", "HEAD:b.txt").trim();
  rmSync(join(cwd, ".git/objects", id.slice(0, 2), id.slice(2)));
  await expect(workspace.undo()).rejects.toThrow("The kept contents of b.txt are missing");
  expect(copyNaively(cwd)).toEqual(new Map());
  expect(existsSync(join(workspace.project.directory, "journal.json"))).toBe(false);
});

test("ignored files stay, and submodules and other repositories inside are left alone", async () => {
  const other = await openWorkspace("git", { "inner.txt": "inner" });
  const workspace = await openWorkspace("git", { ".gitignore": "ignored*\n", "a.txt": "a" });
  const { cwd, git } = workspace;
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.cwd, "module");
  git("commit", "--quiet", "--message=second");
  mkdirSync(join(cwd, "own"));
  createRepository(join(cwd, "own"));
  writeFileSync(join(cwd, "own/inner.txt"), "own");
  await workspace.run(() => {
    workspace.write("ignored.txt", "made");
    workspace.write("own/inner.txt", "changed");
    workspace.write("module/inner.txt", "changed");
    runGit(join(cwd, "module"), "commit", "--quiet", "--all", "--message=changed");
    workspace.write("a.txt", "changed");
  });
  const { lost } = await workspace.prepare();
  expect(lost).toMatchObject([{ path: "module", reason: "it is a submodule" }]);
  expect(await workspace.undo()).toEqual([]);
  const read = (name: string) => readFileSync(join(cwd, name), "utf8");
  expect(["a.txt", "ignored.txt", "own/inner.txt", "module/inner.txt"].map(read)).toEqual([
    "a",
    "made",
    "changed",
    "changed",
  ]);
});

test("it works in a repository without a commit, in a worktree, and in a directory of a repository", async () => {
  const { cwd: empty, agentDir, remove } = makeDirectories();
  onTestFinished(remove);
  createRepository(empty);
  const main = await openWorkspace("git", { "a.txt": "a", "sub/b.txt": "b" });
  const tree = join(main.agentDir, "tree");
  main.git("worktree", "add", "--quiet", "--detach", tree);
  for (const [cwd, directory] of [
    [empty, agentDir],
    [tree, main.agentDir],
    [join(main.cwd, "sub"), main.agentDir],
  ] as const) {
    const workspace = await openExisting(cwd, directory);
    expect(workspace.project.store.kind).toBe("git");
    const before = copyNaively(cwd);
    await workspace.run(() => {
      workspace.write("b.txt", "changed");
      workspace.write("new/c.txt", "new");
    });
    expect(await workspace.undo()).toEqual([]);
    expect(copyNaively(cwd)).toEqual(before);
  }
});

test.each(kinds)("with %s, permissions are those that a file had, as far as they are known", async (kind) => {
  const workspace = await openWorkspace(kind, { "tool.sh": "#!/bin/sh\n" });
  const { cwd } = workspace;
  workspace.write("secret.txt", "secret", 0o600);
  chmodSync(join(cwd, "tool.sh"), 0o750);
  await workspace.run(() => {
    rmSync(join(cwd, "secret.txt"));
    chmodSync(join(cwd, "tool.sh"), 0o640);
  });
  expect(await workspace.undo()).toEqual([]);
  const getMode = (name: string) => (statSync(join(cwd, name)).mode & 0o777).toString(8);
  expect([getMode("secret.txt"), getMode("tool.sh")]).toEqual(["600", "750"]);
});

test.each(kinds)("with %s, a run that was cut off ends with what is there now, and that is said", async (kind) => {
  const { cwd, agentDir, project, write } = await openWorkspace(kind, { "a.txt": "a" });
  const recorder = new Recorder({
    sessionId,
    open: async () => project,
    clock: createFakeClock(),
    warn: () => undefined,
    log: () => undefined,
  });
  await recorder.begin({ entryId: "entry-1", prompt: "cut" });
  write("a.txt", "changed");
  const again = await openExisting(cwd, agentDir);
  expect((await again.prepare()).chosen).toMatchObject([{ effect: { prompt: "cut", isCut: true } }]);
  expect(await again.undo()).toEqual([]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("a");
});

test.each(kinds)("with %s, what is older than 14 days is removed from the disk", async (kind) => {
  const { cwd, agentDir, write } = await openWorkspace(kind, { "a.txt": "a" });
  const clock = createFakeClock();
  const project = await openProject({ cwd, agentDir, maxFileBytes: 1_000_000, clock });
  const parts = { open: async () => project, clock, warn: () => undefined, log: () => undefined };
  const change = async (session: string, text: string) => {
    const recorder = new Recorder({ ...parts, sessionId: session });
    await recorder.begin({ entryId: "entry-1", prompt: text });
    write("a.txt", text);
    await recorder.end();
  };
  const old = Buffer.from("a content that is only kept");
  await change("old", old.toString());
  await change("old", "after it");
  const id = project.store.identify(old, "file");
  expect(await project.store.findMissing([id])).toEqual([]);
  await clock.advance(15 * 24 * 60 * 60_000);
  await change("new", "much later");
  expect((await project.listHistories()).map((history) => history.sessionId)).toEqual(["new"]);
  expect(await project.store.findMissing([id])).toEqual([id]);
  expect((await project.store.read([project.store.identify(Buffer.from("after it"), "file")])).size).toBe(1);
});

test("a workspace that holds tau's own directory keeps nothing of it", async () => {
  const { cwd, remove } = makeDirectories();
  onTestFinished(remove);
  for (const kind of kinds) {
    const root = join(cwd, kind);
    const agentDir = join(root, ".own [x]");
    mkdirSync(agentDir, { recursive: true });
    if (kind === "git") createRepository(root);
    const workspace = await openExisting(root, agentDir);
    await workspace.run(() => workspace.write("a.txt", "a"));
    expect((await workspace.prepare()).plan.changes.map(({ path }) => path)).toEqual(["a.txt"]);
  }
});

test("a directory that cannot be written to is said, and nothing is written", async ({ skip }) => {
  if (process.getuid?.() === 0) skip("root may write everywhere");
  const workspace = await openWorkspace("git", { "a.txt": "a", "sub/b.txt": "b" });
  const { cwd } = workspace;
  await workspace.run(() => {
    workspace.write("a.txt", "changed");
    workspace.write("sub/b.txt", "changed");
  });
  chmodSync(join(cwd, "sub"), 0o500);
  await expect(workspace.undo()).rejects.toThrow("writing is not allowed (EACCES). Nothing was changed.");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("changed");
  chmodSync(join(cwd, "sub"), 0o700);
});

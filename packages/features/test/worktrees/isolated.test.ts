/** Tasks that work in isolated copies of a repository. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openIsolated } from "../../src/agents/worktrees/isolated.ts";
import { createRepository, createTau } from "./kit.ts";

test("a task sees what is committed, in a repository of its own, and leaves nothing if it changes nothing", async () => {
  const repository = await createRepository();
  const isolated = await openIsolated({ cwd: repository.top, id: "look" });
  expect(isolated.cwd).toBe(join(repository.fanout, "look"));
  expect(await readFile(join(isolated.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  expect(repository.gitIn(isolated.cwd, "status", "--porcelain")).toBe("");
  expect(repository.gitIn(isolated.cwd, "log", "--format=%s", "main")).toBe("First\n");
  expect(readFileSync(join(isolated.cwd, ".git/HEAD"), "utf8").trim()).toBe(repository.git("rev-parse", "HEAD").trim());
  expect(await isolated.finish()).toEqual({ kind: "unchanged" });
  expect(repository.left()).toEqual([]);
  expect(existsSync(repository.fanout)).toBe(false);
  expect(repository.branches()).toEqual(["main"]);
});

test("changes are applied to the files of the repository, and nothing else changes there", async () => {
  const repository = await createRepository();
  const tau = createTau();
  const isolated = await openIsolated({ tau, cwd: join(repository.top, "src"), id: "work" });
  expect(isolated.cwd).toBe(join(repository.fanout, "work/src"));
  await writeFile(join(isolated.cwd, "../a.txt"), "one\n2\nthree\n");
  await writeFile(join(isolated.cwd, "new.txt"), "new\n");
  await writeFile(join(isolated.cwd, "binary"), Buffer.from([0, 1, 2, 255]));
  await writeFile(join(isolated.cwd, "ignored"), "");
  await writeFile(join(isolated.cwd, "run.sh"), "true\n", { mode: 0o755 });
  await unlink(join(isolated.cwd, "b.txt"));
  const index = statSync(join(repository.top, ".git/index")).mtimeMs;
  const files = ["a.txt", "src/b.txt", "src/binary", "src/new.txt", "src/run.sh"];
  expect(await isolated.finish()).toEqual({ kind: "applied", files });
  expect(tau.asked).toEqual(files.map((file) => join(repository.top, file)));
  expect(readFileSync(join(repository.top, "a.txt"), "utf8")).toBe("one\n2\nthree\n");
  expect([...readFileSync(join(repository.top, "src/binary"))]).toEqual([0, 1, 2, 255]);
  expect(statSync(join(repository.top, "src/run.sh")).mode & 0o100).toBe(0o100);
  expect(existsSync(join(repository.top, "src/b.txt"))).toBe(false);
  expect(existsSync(join(repository.top, "src/ignored"))).toBe(false);
  expect(statSync(join(repository.top, ".git/index")).mtimeMs).toBe(index);
  expect(repository.left()).toEqual([]);
  expect(repository.branches()).toEqual(["main"]);
});

test("as a branch, the commits of the task are kept, and its other changes are one more", async () => {
  const repository = await createRepository();
  const { gitIn } = repository;
  const isolated = await openIsolated({ cwd: repository.top, id: "steps", description: "Take two steps" });
  await writeFile(join(isolated.cwd, "step.txt"), "1");
  gitIn(isolated.cwd, "add", ".");
  gitIn(isolated.cwd, "commit", "--quiet", "-m", "Step one");
  await writeFile(join(isolated.cwd, "step.txt"), "2");
  const result = await isolated.finish();
  expect(result).toMatchObject({ kind: "branch", name: "steps", files: ["step.txt"] });
  const { branch } = result as { branch: string };
  expect(branch).toMatch(/^pi-fanout-steps-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(repository.git("log", "--format=%s", branch)).toBe("Take two steps\nStep one\nFirst\n");
  expect(repository.git("show", `${branch}:step.txt`)).toBe("2");
  repository.git("fsck", "--strict", "--connectivity-only");
  expect(existsSync(join(repository.fanout, "steps"))).toBe(false);
  expect(existsSync(join(repository.top, "step.txt"))).toBe(false);
});

test("a branch that the task makes is as good as a detached commit, and other history is left out", async () => {
  const repository = await createRepository();
  const { gitIn } = repository;
  const onBranch = await openIsolated({ cwd: repository.top, id: "b" });
  gitIn(onBranch.cwd, "checkout", "--quiet", "-b", "own/branch");
  await writeFile(join(onBranch.cwd, "x"), "x");
  gitIn(onBranch.cwd, "add", ".");
  gitIn(onBranch.cwd, "commit", "--quiet", "-m", "On a branch");
  gitIn(onBranch.cwd, "pack-refs", "--all");
  const { branch } = (await onBranch.finish()) as { branch: string };
  expect(repository.git("log", "--format=%s", branch)).toBe("On a branch\nFirst\n");
  expect(repository.branches()).not.toContain("own/branch");
  const orphan = await openIsolated({ cwd: repository.top, id: "o" });
  gitIn(orphan.cwd, "checkout", "--quiet", "--orphan", "other");
  gitIn(orphan.cwd, "rm", "-rfq", ".");
  await writeFile(join(orphan.cwd, "only"), "x");
  gitIn(orphan.cwd, "add", ".");
  gitIn(orphan.cwd, "commit", "--quiet", "-m", "Another history");
  const result = (await orphan.finish()) as { branch: string; files: string[] };
  expect(repository.git("log", "--format=%s", result.branch)).toBe("Changes of o\nFirst\n");
  expect(result.files).toEqual([".gitignore", "a.txt", "only", "src/b.txt"]);
});

test("uncommitted work goes in when it is asked for, and the patch fits it", async () => {
  const repository = await createRepository();
  await repository.write("a.txt", "one\ntwo\nthree\nfour\n");
  await repository.write("src/new.txt", "untracked\n");
  await repository.write("ignored", "no");
  const before = [repository.git("status", "--porcelain"), readFileSync(join(repository.top, ".git/index"))];
  const plain = await openIsolated({ cwd: repository.top, id: "plain" });
  expect(await readFile(join(plain.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  await plain.discard();
  const tau = createTau();
  const isolated = await openIsolated({ tau, cwd: repository.top, id: "dirty", includesUncommitted: true });
  expect(await readFile(join(isolated.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\nfour\n");
  expect(existsSync(join(isolated.cwd, "ignored"))).toBe(false);
  expect(repository.gitIn(isolated.cwd, "status", "--porcelain")).toBe("");
  expect([repository.git("status", "--porcelain"), readFileSync(join(repository.top, ".git/index"))]).toEqual(before);
  await writeFile(join(isolated.cwd, "src/new.txt"), "tracked\n");
  expect(await isolated.finish()).toEqual({ kind: "applied", files: ["src/new.txt"] });
  expect(readFileSync(join(repository.top, "src/new.txt"), "utf8")).toBe("tracked\n");
  expect(readFileSync(join(repository.top, "a.txt"), "utf8")).toBe("one\ntwo\nthree\nfour\n");
});

test("changes that do not fit are kept with what is in the way, and all files stay as they are", async () => {
  const repository = await createRepository();
  const isolated = await openIsolated({ tau: createTau(), cwd: repository.top, id: "clash" });
  await writeFile(join(isolated.cwd, "a.txt"), "theirs\n");
  await writeFile(join(isolated.cwd, "c.txt"), "new\n");
  await repository.write("a.txt", "mine\n");
  const result = await isolated.finish();
  expect(result).toMatchObject({ kind: "conflicts", path: isolated.cwd, files: ["a.txt", "c.txt"] });
  expect((result as { conflicts: string[] }).conflicts.join("\n")).toContain("a.txt");
  expect(readFileSync(join(repository.top, "a.txt"), "utf8")).toBe("mine\n");
  expect(existsSync(join(repository.top, "c.txt"))).toBe(false);
  expect(existsSync(isolated.cwd)).toBe(true);
  expect(repository.git("show", `${(result as { branch: string }).branch}:a.txt`)).toBe("theirs\n");
});

test("changes that may not be written become a branch, with the reason", async () => {
  const repository = await createRepository();
  const isolated = await openIsolated({ tau: createTau("denied"), cwd: repository.top, id: "denied" });
  await mkdir(join(isolated.cwd, ".vscode"));
  await writeFile(join(isolated.cwd, ".vscode/tasks.json"), "{}");
  expect(await isolated.finish()).toMatchObject({ kind: "branch", reason: "Not here.", files: [".vscode/tasks.json"] });
  expect(existsSync(join(repository.top, ".vscode"))).toBe(false);
});

test("everything is removed on request, whatever the task left behind", async () => {
  const repository = await createRepository();
  const isolated = await openIsolated({ cwd: repository.top, id: "mess" });
  await mkdir(join(isolated.cwd, "locked/inner"), { recursive: true });
  await chmod(join(isolated.cwd, "locked"), 0o000);
  await symlink(repository.top, join(isolated.cwd, "link"));
  await isolated.discard();
  expect(await isolated.finish()).toEqual({ kind: "unchanged" });
  expect(repository.left()).toEqual([]);
  expect(existsSync(join(repository.top, "a.txt"))).toBe(true);
});

test("any id is usable, also several times", async () => {
  const repository = await createRepository();
  const ids = ["../../etc", "", "-rf", "x".repeat(10_000), "a\nb\0c"];
  for (const id of ids) {
    const [one, two] = await Promise.all([1, 2].map(() => openIsolated({ cwd: repository.top, id })));
    expect(one!.cwd).not.toBe(two!.cwd);
    for (const { cwd } of [one!, two!]) expect(join(cwd, "..")).toBe(repository.fanout);
    await writeFile(join(one!.cwd, "a.txt"), "1");
    expect(await one!.finish()).toMatchObject({ kind: "branch", files: ["a.txt"] });
    await two!.discard();
  }
  expect(repository.branches()).toHaveLength(ids.length + 1);
});

test("a directory without a repository, or without a commit, is refused by name", async () => {
  const repository = await createRepository();
  await expect(openIsolated({ cwd: repository.root, id: "x" })).rejects.toThrow(/not in a git repository/);
  await mkdir(join(repository.root, "empty"));
  repository.gitIn(join(repository.root, "empty"), "init", "--quiet");
  await expect(openIsolated({ cwd: join(repository.root, "empty"), id: "x" })).rejects.toThrow(/has a commit/);
  expect(repository.left()).toEqual([]);
});

test("an abort while it is made leaves nothing", async () => {
  const repository = await createRepository();
  const controller = new AbortController();
  controller.abort();
  await expect(openIsolated({ cwd: repository.top, id: "x", signal: controller.signal })).rejects.toThrow(
    /cannot be isolated|failed/,
  );
  expect(repository.left()).toEqual([]);
});

test("a repository with SHA-256, and one without the user's name, work too", async () => {
  const repository = await createRepository({ initArgs: ["--object-format=sha256"] });
  const isolated = await openIsolated({ cwd: repository.top, id: "sha" });
  await writeFile(join(isolated.cwd, "a.txt"), "x");
  const { branch } = (await isolated.finish()) as { branch: string };
  expect(repository.git("log", "-1", "--format=%an %H", branch)).toMatch(/^tau [0-9a-f]{64}\n$/);
});

test("the directory of a worktree of the repository is a repository too", async () => {
  const repository = await createRepository();
  const linked = join(repository.root, "linked");
  repository.git("worktree", "add", "--quiet", linked, "-b", "side");
  await writeFile(join(linked, "side.txt"), "side");
  repository.gitIn(linked, "add", ".");
  repository.gitIn(linked, "commit", "--quiet", "-m", "Side");
  const isolated = await openIsolated({ tau: createTau(), cwd: linked, id: "linked" });
  expect(existsSync(join(isolated.cwd, "side.txt"))).toBe(true);
  await writeFile(join(isolated.cwd, "side.txt"), "changed");
  expect(await isolated.finish()).toEqual({ kind: "applied", files: ["side.txt"] });
  expect(readFileSync(join(linked, "side.txt"), "utf8")).toBe("changed");
});

test("without a directory of the user's choice, it is in the temporary directory", async () => {
  const repository = await createRepository();
  vi.stubEnv("PI_FANOUT_DIR", "");
  await mkdir(join(repository.root, "tmp"));
  vi.stubEnv("TMPDIR", join(repository.root, "tmp"));
  const isolated = await openIsolated({ cwd: repository.top, id: "t" });
  expect(isolated.cwd).toBe(join(repository.root, "tmp/pi-fanout/t"));
  await isolated.discard();
  const chosen = await openIsolated({ cwd: repository.top, id: "t", directory: "~/chosen" });
  expect(chosen.cwd).toMatch(/\/chosen\/t$/);
  await chosen.discard();
  await rm(join(repository.root, "chosen"), { recursive: true, force: true });
});

test("a change that is as new as the index of the task is found, whenever the index is copied", async () => {
  const repository = await createRepository();
  // Git then compares nothing but the size and the time of a file.
  await writeFile(join(repository.root, ".gitconfig"), "[core]\n\ttrustctime = false\n");
  const isolated = await openIsolated({ cwd: repository.top, id: "fast" });
  const file = join(isolated.cwd, "a.txt");
  const then = 1_600_000_000;
  await utimes(file, then, then);
  repository.gitIn(isolated.cwd, "update-index", "--refresh");
  await utimes(join(isolated.cwd, ".git/index"), then, then);
  await writeFile(file, "one\nTWO\nthree\n");
  await utimes(file, then, then);
  expect(await isolated.finish()).toMatchObject({ kind: "branch", files: ["a.txt"] });
});

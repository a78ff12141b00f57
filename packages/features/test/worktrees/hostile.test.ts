/** Repositories and tasks that try to have the host run something, or to change what is not theirs. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { TaskFanout } from "../../src/agents/index.ts";
import { openIsolated } from "../../src/agents/worktrees/isolated.ts";
import { createTestSession } from "../kit.ts";
import { createRepository, createTau, type TestRepository } from "./kit.ts";

/** Makes programs that leave a mark when they run. */
async function createMarks(repository: TestRepository) {
  const [marks, programs] = [join(repository.root, "marks"), join(repository.root, "programs")];
  await mkdir(marks);
  await mkdir(programs);
  const add = async (name: string) => {
    const path = join(programs, name);
    await writeFile(path, `#!/bin/sh\ntouch '${marks}/${name}'\ncat\n`);
    await chmod(path, 0o755);
    return path;
  };
  return { add, programs, list: () => readdirSync(marks) };
}

const programKeys = ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"];
const filterKeys = ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process"];
const hooks = ["post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"];

test("nothing that the repository or the task configures is run", async () => {
  const repository = await createRepository();
  const { top, git } = repository;
  const marks = await createMarks(repository);
  await repository.write(".gitattributes", "*.txt filter=evil diff=evil\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Attributes");
  for (const key of [...programKeys, ...filterKeys]) git("config", key, await marks.add(key));
  git("config", "filter.evil.required", "true");
  for (const hook of hooks) await marks.add(hook);
  git("config", "core.hooksPath", marks.programs);
  const isolated = await openIsolated({ tau: createTau(), cwd: top, id: "x", includesUncommitted: true });
  const own = (...args: string[]) => repository.gitIn(isolated.cwd, "-c", "core.fsmonitor=", ...args);
  for (const key of [...programKeys, ...filterKeys]) own("config", key, await marks.add(`task-${key}`));
  own("config", "core.hooksPath", marks.programs);
  own("config", "core.worktree", repository.root);
  own("config", "extensions.partialClone", "evil");
  own("config", "remote.evil.url", top);
  own("config", "remote.evil.uploadpack", await marks.add("upload-pack"));
  await writeFile(join(isolated.cwd, "a.txt"), "changed\n");
  expect(await isolated.finish()).toEqual({ kind: "applied", files: ["a.txt"] });
  expect(readFileSync(join(top, "a.txt"), "utf8")).toBe("changed\n");
  expect(marks.list()).toEqual([]);
});

test("links, repositories inside and submodules are never followed", async () => {
  const repository = await createRepository();
  const { root, top, git, gitIn } = repository;
  await mkdir(join(root, "module"));
  gitIn(join(root, "module"), "init", "--quiet");
  gitIn(join(root, "module"), "commit", "--quiet", "--allow-empty", "-m", "Module");
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(root, "module"), "module");
  await symlink("/etc", join(top, "etc"));
  git("add", ".");
  git("commit", "--quiet", "-m", "Link and module");
  await writeFile(join(root, "secret"), "secret");
  const isolated = await openIsolated({ tau: createTau(), cwd: top, id: "x" });
  expect(readlinkSync(join(isolated.cwd, "etc"))).toBe("/etc");
  expect(readdirSync(join(isolated.cwd, "module"))).toEqual([]);
  await symlink(join(root, "secret"), join(isolated.cwd, "copy"));
  await mkdir(join(isolated.cwd, "inner"));
  gitIn(join(isolated.cwd, "inner"), "init", "--quiet");
  gitIn(join(isolated.cwd, "inner"), "commit", "--quiet", "--allow-empty", "-m", "Inner");
  gitIn(join(isolated.cwd, "module"), "init", "--quiet");
  gitIn(join(isolated.cwd, "module"), "commit", "--quiet", "--allow-empty", "-m", "Other");
  expect(await isolated.finish()).toEqual({ kind: "applied", files: ["copy"] });
  expect(readlinkSync(join(top, "copy"))).toBe(join(root, "secret"));
  expect(git("log", "--all", "-p").includes("secret\n+")).toBe(false);
});

test.each(["objects", "whole", "index", "HEAD", "alternates"])(
  "a task that replaces its %s changes nothing else",
  async (part) => {
    const repository = await createRepository();
    const { root, top } = repository;
    const before = readdirSync(join(top, ".git/objects")).sort();
    const isolated = await openIsolated({ tau: createTau(), cwd: top, id: "x" });
    const own = join(isolated.cwd, ".git");
    await writeFile(join(isolated.cwd, "a.txt"), "changed\n");
    if (part === "whole") {
      await rm(own, { recursive: true });
      await symlink(join(top, ".git"), own);
    } else if (part === "objects") {
      await rm(join(own, "objects"), { recursive: true });
      await symlink(join(top, ".git/objects"), join(own, "objects"));
    } else if (part === "alternates") {
      await writeFile(join(own, "objects/info/alternates"), join(root, "elsewhere"));
    } else {
      await rm(join(own, part));
      await symlink("/dev/zero", join(own, part));
    }
    if (part === "objects" || part === "whole") {
      await expect(isolated.finish()).rejects.toThrow(/missing or was replaced/);
      expect(readdirSync(join(top, ".git/objects")).sort()).toEqual(before);
      expect(readFileSync(join(top, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    } else {
      expect(await isolated.finish()).toEqual({ kind: "applied", files: ["a.txt"] });
    }
  },
);

const works = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

test(
  "ten writing agents touch nothing of each other, and nothing of the repository",
  { timeout: 120_000 },
  async () => {
    const repository = await createRepository();
    const { top, git } = repository;
    const state = () => [
      git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main"),
      readFileSync(join(top, ".git/HEAD"), "utf8"),
      readFileSync(join(top, ".git/index")).toString("base64"),
      readFileSync(join(top, ".git/config"), "utf8"),
      readdirSync(join(top, ".git"))
        .filter((name) => name !== "objects" && name !== "refs")
        .sort(),
    ];
    const before = state();
    const escapes = [
      `echo x > '${top}/escaped'`,
      `echo x > '${top}/.git/description'`,
      `rm -rf '${top}/.git/objects'`,
      `git -C '${top}' branch stolen`,
      `git -C '${top}' update-ref refs/heads/stolen HEAD`,
      'for other in ../agent*; do [ "$other" = "../$(basename "$PWD")" ] || echo x > "$other/escaped"; done',
    ];
    const work = 'echo "$PWD" > who.txt; git add -A; git commit -qm "$(basename "$PWD")"; echo more > more.txt';
    // Without a sandbox, commands are not contained: then only what git itself does is looked at.
    const steps = [...(works ? [escapes] : []), [work]];
    const answer = ({ messages }: { messages: readonly { role: string }[] }) => {
      const step = steps[messages.filter(({ role }) => role === "assistant").length];
      return step?.map((command) => call("bash", { command })) ?? [text("Done.")];
    };
    const turns = Array.from({ length: 10 * (steps.length + 1) }, () => answer);
    const { session, dispose } = await createTestSession(turns as never, { cwd: top, clock: systemClock as never });
    onTestFinished(dispose);
    const tasks = Array.from({ length: 10 }, (_, index) => ({
      id: `agent${index}`,
      description: "Work",
      prompt: "Work.",
    }));
    const results = await new TaskFanout(session).fanout(tasks, { parallelism: 10, merge: "all" });
    expect(results.map(({ error }) => error).filter(Boolean)).toEqual([]);
    expect(state()).toEqual(before);
    expect(git("status", "--porcelain")).toBe("");
    for (const [index, { branch }] of results.entries()) {
      const path = join(repository.fanout, `agent${index}`);
      expect(git("show", `${branch}:who.txt`)).toBe(`${path}\n`);
      expect(git("diff", "--name-only", "main", branch!)).toBe("more.txt\nwho.txt\n");
      expect(git("log", "--format=%s", branch!)).toBe(`Work\nagent${index}\nFirst\n`);
      expect(existsSync(path)).toBe(false);
    }
  },
);

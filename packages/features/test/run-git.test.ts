/** Git in a repository that tries to run programs. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "@tau/ai";
import type { ExtensionAPI } from "@tau/extensions";
import { runGit } from "../src/kit/run-git.ts";
import { createTestSession } from "./kit.ts";

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };

async function openRepository() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-git-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const cwd = join(root, "work");
  const marks = join(cwd, "marks");
  await mkdir(marks, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], HOME: root, ...identity }, encoding: "utf8" });
  git("init", "--quiet");
  await writeFile(join(cwd, ".gitignore"), "marks\nrun\n");
  await writeFile(join(cwd, "file.bin"), "one\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  // From now on, whatever git starts leaves a mark.
  const mark = async (name: string) => {
    const path = join(cwd, "run", name);
    await writeFile(path, `#!/bin/sh\ntouch '${marks}/${name}'\ncat\n`);
    await chmod(path, 0o755);
    return path;
  };
  await mkdir(join(cwd, "run"));
  await writeFile(join(cwd, ".gitattributes"), "*.bin filter=evil diff=evil\n");
  for (const key of ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"]) {
    git("config", key, await mark(key));
  }
  for (const key of ["filter.evil.clean", "filter.evil.smudge"]) git("config", key, await mark(key));
  git("config", "filter.evil.required", "true");
  git("config", "commit.gpgSign", "true");
  git("config", "gpg.program", await mark("gpg"));
  git("config", "core.hooksPath", join(cwd, "run"));
  for (const hook of ["pre-commit", "post-commit", "post-checkout", "prepare-commit-msg", "post-index-change"]) {
    await mark(hook);
  }
  await writeFile(join(cwd, "file.bin"), "two\n");
  let api!: ExtensionAPI;
  const { dispose } = await createTestSession([], {
    cwd,
    clock: systemClock as never,
    extensions: { factories: [(tau) => void (api = tau)] },
  });
  onTestFinished(dispose);
  return { api, cwd, marks, git };
}

test("nothing that is configured is run, and the results are git's own", async () => {
  const { api, cwd, marks, git } = await openRepository();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runGit(api, args, { cwd, env: identity });
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) as string });
    return stdout.toString();
  };
  expect(await run("status", "--porcelain")).toContain(" M file.bin");
  expect(await run("diff")).toContain("+two");
  await run("add", ".");
  await run("commit", "-m", "Second");
  expect(await run("log", "-p", "-1")).toContain("+two");
  await run("checkout", "--quiet", "HEAD~1");
  expect(await run("show", "HEAD:file.bin")).toBe("one\n");
  expect(await readdir(marks)).toEqual([]);
  // The traps work: plain git steps into them.
  try {
    git("checkout", "--quiet", "-");
  } catch {
    // A filter that is required and fails ends the checkout.
  }
  expect(await readdir(marks)).not.toEqual([]);
});

test("its input is what it was given, and an abort ends it", async () => {
  const { api, cwd } = await openRepository();
  const hash = await runGit(api, ["hash-object", "--stdin"], { cwd, input: "one\n" });
  expect(hash.stdout.toString().trim()).toBe("5626abf0f72e58d7a153368ba57db4c673c0e171");
  const ended = await runGit(api, ["hash-object", "--stdin"], { cwd, signal: AbortSignal.abort() });
  expect(ended.code).not.toBe(0);
});

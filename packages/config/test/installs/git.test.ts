import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readLock } from "../../src/installs/lock-file.ts";
import { type GitSource, parseSource, type PackageSource } from "../../src/installs/package-source.ts";
import { removePackage } from "../../src/installs/remove-package.ts";
import { resolvePackages } from "../../src/installs/resolve-packages.ts";
import { createNpmWorkspace, createRepository, createWorkspace, fetch, install, listAll, writeFiles } from "./kit.ts";

test("one commit is installed without its history, and an update takes the next", async () => {
  const workspace = await createWorkspace();
  const { url, commit } = await createRepository(workspace);
  const first = await commit({ "prompts/a.md": "one" });
  const root = await install(workspace, url);
  expect(root.startsWith(join(workspace.agentDir, "git", "file"))).toBe(true);
  expect(root.endsWith(`pack@${first.slice(0, 12)}`)).toBe(true);
  expect(await listAll(root)).toEqual(["prompts/a.md"]);
  const id = (parseSource(url, "/") as PackageSource).id;
  expect((await readLock(workspace.agentDir)).get(id)).toMatchObject({ source: url, resolved: first });
  const second = await commit({ "prompts/a.md": "two", "themes/t.json": "{}" });
  await install(workspace, url);
  const { packages, problems } = await resolvePackages({ ...workspace, entries: { user: [url], project: [] } });
  expect(problems).toEqual([]);
  expect(packages[0]!.root.endsWith(second.slice(0, 12))).toBe(true);
  expect(packages[0]!.themes).toHaveLength(1);
  expect(existsSync(root)).toBe(false);
  await removePackage(parseSource(url, "/") as PackageSource, { ...workspace, scope: "user" });
  expect(existsSync(join(workspace.agentDir, "git"))).toBe(false);
});

test("a tag, a branch, a whole commit and the beginning of one can be named", async () => {
  const workspace = await createWorkspace();
  const { url, commit, git } = await createRepository(workspace);
  const first = await commit({ "prompts/a.md": "one" });
  git("tag", "v1");
  git("push", "--quiet", "origin", "v1", "HEAD:refs/heads/feature/x");
  await commit({ "prompts/a.md": "two" });
  for (const ref of ["v1", "feature/x", first, first.slice(0, 10)]) {
    const fetched = await fetch(workspace, `${url}@${ref}`);
    expect(fetched.locked?.resolved, ref).toBe(first);
    await fetched.discard();
  }
  await expect(fetch(workspace, `${url}@nope`)).rejects.toThrow(/git failed for .* at nope/);
  await expect(fetch(workspace, `${url}@${"0".repeat(40)}`)).rejects.toMatchObject({ code: "install_failed" });
  expect(await listAll(workspace.agentDir)).toEqual([]);
});

test("what the lock has is fetched again, also when the branch has moved", async () => {
  const workspace = await createWorkspace();
  const { url, commit } = await createRepository(workspace);
  const first = await commit({ "prompts/a.md": "one" });
  await install(workspace, url);
  await commit({ "prompts/a.md": "two" });
  expect((await fetch(workspace, url, { asLocked: true })).locked?.resolved).toBe(first);
});

test("an install that fails at its end leaves what is installed", async () => {
  const workspace = await createWorkspace();
  const { url, commit } = await createRepository(workspace);
  await commit({ "prompts/a.md": "one" });
  const root = await install(workspace, url);
  const again = await fetch(workspace, url);
  await rm(again.root, { recursive: true });
  await expect(again.enable()).rejects.toThrow(/ENOENT|could not be written/);
  await again.discard();
  expect(await listAll(root)).toEqual(["prompts/a.md"]);
});

test("dependencies are installed, without the repository's own npm configuration and scripts", async () => {
  const workspace = await createNpmWorkspace();
  const { url, commit } = await createRepository(workspace);
  const mark = join(workspace.root, "ran");
  workspace.registry.publish("part", "1.0.0", { files: { "index.js": "module.exports = 1;" } });
  const program = join(workspace.root, "work", "evil.sh");
  await commit({
    "package.json": JSON.stringify({
      name: "pack",
      dependencies: { part: "^1.0.0" },
      scripts: { prepare: `touch ${mark}`, postinstall: `touch ${mark}` },
    }),
    ".npmrc": `registry=http://127.0.0.1:9/\ngit=${program}\nignore-scripts=false\n`,
    "extensions/a.js": "",
  });
  const root = await install(workspace, url);
  expect(existsSync(mark)).toBe(false);
  expect(await readFile(join(root, "node_modules", "part", "index.js"), "utf8")).toContain("1");
});

test("hooks, filters, submodules and templates of git run nothing and bring nothing", async () => {
  const workspace = await createWorkspace();
  const { url, commit, git } = await createRepository(workspace);
  const mark = join(workspace.root, "ran");
  const hooks = join(workspace.root, "hooks");
  await mkdir(hooks);
  for (const name of ["post-checkout", "reference-transaction"]) {
    await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(join(hooks, name), 0o755);
  }
  await writeFile(
    join(workspace.root, ".gitconfig"),
    `[core]\n\thooksPath = ${hooks}\n[init]\n\ttemplateDir = ${hooks}\n[filter "loud"]\n\tsmudge = touch ${mark}; cat; echo more\n`,
  );
  await commit({
    "prompts/a.md": "text",
    ".gitattributes": "* filter=loud\n",
    ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ../pack.git\n\tupdate = !touch ran\n',
  });
  git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "HEAD")},x`);
  git("commit", "--quiet", "--message", "submodule");
  git("push", "--quiet", "origin", "HEAD:main");
  // The user's own git runs the hook, so it would run here too.
  expect(existsSync(mark)).toBe(true);
  await rm(mark);
  const root = await install(workspace, url);
  expect(existsSync(mark)).toBe(false);
  expect(await listAll(root)).toEqual([".gitattributes", ".gitmodules", "prompts/a.md"]);
  expect(await readFile(join(root, "prompts", "a.md"), "utf8")).toBe("text");
});

test.each([
  ["a link out of it", "../../../../../etc/passwd"],
  ["an absolute link", "/etc/passwd"],
  ["a link that leads nowhere", "missing.md"],
])("a repository with %s is refused", async (_what, target) => {
  const workspace = await createWorkspace();
  const { url, commit, directory } = await createRepository(workspace);
  await mkdir(join(directory, "prompts"));
  await symlink(target, join(directory, "prompts", "a.md"));
  await commit({ "prompts/b.md": "" });
  await expect(fetch(workspace, url)).rejects.toThrow(/The package is refused: "prompts\/a.md" is a link that leads/);
  expect(await listAll(workspace.agentDir)).toEqual([]);
});

test("a link that the project puts in place during an install is not followed", async () => {
  const workspace = await createWorkspace();
  const { url, commit } = await createRepository(workspace);
  await commit({ "prompts/a.md": "" });
  const fetched = await fetch(workspace, url, { scope: "project" });
  const outside = join(workspace.root, "outside");
  await writeFiles(outside, { "pack@old/mine.txt": "" });
  const parent = dirname(join(workspace.cwd, ".tau", "git", ...(parseSource(url, "/") as GitSource).directory));
  await mkdir(dirname(parent), { recursive: true });
  await symlink(outside, parent);
  await expect(fetched.enable()).rejects.toThrow(/is not a directory/);
  expect(await listAll(outside)).toEqual(["pack@old/mine.txt"]);
});

test("a file of the user's to which the project's .gitignore is a link stays as it is", async () => {
  const workspace = await createWorkspace();
  const { url, commit } = await createRepository(workspace);
  await commit({ "prompts/a.md": "" });
  await writeFiles(workspace.root, { profile: "mine", "project/.tau/git/other": "" });
  const ignored = join(workspace.cwd, ".tau", "git", ".gitignore");
  await symlink(join(workspace.root, "profile"), ignored);
  await install(workspace, url, { scope: "project" });
  expect(await readFile(join(workspace.root, "profile"), "utf8")).toBe("mine");
  expect(await readFile(ignored, "utf8")).toBe("*\n");
});

test("a link inside the package is kept", async () => {
  const workspace = await createWorkspace();
  const { url, commit, directory } = await createRepository(workspace);
  await mkdir(join(directory, "prompts"));
  await symlink("b.md", join(directory, "prompts", "a.md"));
  await commit({ "prompts/b.md": "" });
  expect((await fetch(workspace, url)).names.prompts).toEqual(["prompts/a.md", "prompts/b.md"]);
});

test.each([
  ["the setting core.sshCommand", (program: string) => ({ file: `[core]\n\tsshCommand = ${program}\n`, env: {} })],
  ["GIT_SSH", (program: string) => ({ file: "", env: { GIT_SSH: program } })],
  ["GIT_SSH_COMMAND", (program: string) => ({ file: "", env: { GIT_SSH_COMMAND: program } })],
])("a server is reached as the user says: by %s", async (_what, configure) => {
  const workspace = await createWorkspace();
  const [program, mark] = [join(workspace.root, "ssh.sh"), join(workspace.root, "ran")];
  await writeFile(program, `#!/bin/sh\ntouch ${mark}\nexit 1\n`);
  await chmod(program, 0o755);
  const { file, env } = configure(program);
  await writeFile(join(workspace.root, ".gitconfig"), file);
  const configured = { ...workspace, env: { ...workspace.env, ...env } };
  await expect(fetch(configured, "git:git@example.org:me/pack")).rejects.toMatchObject({ code: "install_failed" });
  expect(existsSync(mark)).toBe(true);
});

test("a transport that the user's configuration adds is not used", async () => {
  const workspace = await createWorkspace();
  const mark = join(workspace.root, "ran");
  await writeFile(
    join(workspace.root, ".gitconfig"),
    `[url "ext::touch ${mark} "]\n\tinsteadOf = https://example.org/\n[protocol "ext"]\n\tallow = always\n`,
  );
  await expect(fetch(workspace, "git:example.org/me/pack")).rejects.toMatchObject({ code: "install_failed" });
  expect(existsSync(mark)).toBe(false);
});

test("what the system does not let us read is named and skipped, and the other packages count", async () => {
  const workspace = await createWorkspace();
  const { root, agentDir } = workspace;
  const { url, commit } = await createRepository(workspace);
  await commit({ "prompts/a.md": "" });
  const installed = await install(workspace, url);
  await writeFiles(root, { "good/prompts/b.md": "" });
  const resolve = () =>
    resolvePackages({ ...workspace, entries: { user: [join(root, "loop"), url, join(root, "good")], project: [] } });
  // A link to itself fails for every user; permissions do not for root.
  await rm(installed, { recursive: true });
  for (const path of [installed, join(root, "loop")]) await symlink(path, path);
  const { packages, problems } = await resolve();
  expect(packages.map(({ source }) => source)).toEqual([join(root, "good")]);
  expect(problems).toMatchObject([
    { kind: "invalid", message: expect.stringMatching(/^The package .*loop cannot be read, so it is skipped: ELOOP/) },
    { kind: "invalid", message: expect.stringMatching(/^The package git:.* cannot be read, so it is skipped: ELOOP/) },
  ]);
  await rm(join(agentDir, "packages-lock.json"));
  await mkdir(join(agentDir, "packages-lock.json"));
  expect((await resolve()).problems[1]!.message).toMatch(
    /^The package git:.* cannot be read, so it is skipped: EISDIR/,
  );
});

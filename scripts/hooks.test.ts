/** The check before a commit that is offered: git itself runs it in a small repository. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");

function createRepository() {
  const directory = mkdtempSync(join(tmpdir(), "tau-hooks-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, content: unknown) =>
    writeFileSync(
      join(directory, name),
      typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`,
    );
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args], {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, HOME: directory, GIT_CONFIG_NOSYSTEM: "1" },
    });
  mkdirSync(join(directory, "scripts"));
  for (const name of ["scripts/hooks", "scripts/check-lock.mjs", ".oxfmtrc.json"])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  const manifest = { name: "sample", version: "1.0.0", dependencies: { leaf: "1.0.0" } };
  write(".gitignore", "node_modules\n");
  write("package.json", manifest);
  const leaf = { version: "1.0.0", resolved: "https://example.com/leaf.tgz", integrity: "sha512-AAAA" };
  const lock = { ...manifest, lockfileVersion: 3, packages: { "": manifest, "node_modules/leaf": leaf } };
  write("package-lock.json", lock);
  git("init", "-q");
  const commit = () => {
    const { status, stdout, stderr } = git("commit", "-q", "-m", "Change something");
    return { status, told: stdout + stderr };
  };
  return { write, git, commit, manifest, lock, leaf };
}

test("nothing runs the check before a commit unless somebody asked for it", () => {
  const { write, git, commit } = createRepository();
  write("bad.ts", "const   a = 1\n");
  git("add", "-A");
  expect(commit().status).toBe(0);
  expect(readFileSync(join(root, "package.json"), "utf8")).not.toMatch(/hooksPath|"prepare"|"postinstall"/);
});

test("a commit with another lock file than its manifest is refused, also for a package without a checksum", () => {
  const { write, git, commit, manifest, lock, leaf } = createRepository();
  git("config", "core.hooksPath", "scripts/hooks");
  git("add", "-A");
  expect(commit().status).toBe(0);
  write("package.json", { ...manifest, dependencies: { leaf: "2.0.0" } });
  git("add", "-A");
  const other = commit();
  expect(other.status).not.toBe(0);
  expect(other.told).toContain("dependencies of package.json is not that of the lock file.");
  write("package.json", manifest);
  const { integrity: _integrity, ...unchecked } = leaf;
  write("package-lock.json", { ...lock, packages: { ...lock.packages, "node_modules/leaf": unchecked } });
  git("add", "-A");
  expect(commit().told).toContain("node_modules/leaf has no version or no checksum.");
});

test("what is staged is checked for its format, and what is only in the working directory is not", () => {
  const { write, git, commit } = createRepository();
  git("config", "core.hooksPath", "scripts/hooks");
  write("a.ts", "const   a = 1\n");
  git("add", "-A");
  const refused = commit();
  expect(refused.status).not.toBe(0);
  expect(refused.told).toContain("Run npx oxfmt");
  write("a.ts", "const a = 1;\n");
  git("add", "-A");
  write("a.ts", "const   a = 2\n");
  expect(commit().status).toBe(0);
});

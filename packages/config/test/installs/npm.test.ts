import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { getScopeDirectory } from "../../src/installs/install-location.ts";
import { readLock } from "../../src/installs/lock-file.ts";
import { parseSource, type PackageSource } from "../../src/installs/package-source.ts";
import { removePackage } from "../../src/installs/remove-package.ts";
import { resolvePackages } from "../../src/installs/resolve-packages.ts";
import { createNpmWorkspace, fetch, install, listAll, type Workspace, writeFiles } from "./kit.ts";

const resolve = (workspace: Workspace, user: string[], project: string[] = []) =>
  resolvePackages({ ...workspace, entries: { user, project } });

test("a package is installed with its dependencies, pinned, and none of its scripts is run", async () => {
  const workspace = await createNpmWorkspace();
  const { registry, agentDir, root } = workspace;
  const mark = join(root, "script-ran");
  const manifest = {
    dependencies: { "left-part": "^1.0.0" },
    peerDependencies: { "@example/host": "*" },
    scripts: { postinstall: `touch ${mark}` },
  };
  registry.publish("left-part", "1.0.0", { manifest: { scripts: { install: `touch ${mark}` } } });
  registry.publish("left-part", "1.4.0", { files: { "index.js": "module.exports = 4;" } });
  registry.publish("@me/pack", "1.2.3", { manifest, files: { "extensions/a.ts": "", "skills/s/SKILL.md": "" } });
  const fetched = await fetch(workspace, "npm:@me/pack");
  expect(existsSync(join(agentDir, "packages-lock.json"))).toBe(false);
  expect(fetched.names).toEqual({
    extensions: ["extensions/a.ts"],
    skills: ["skills/s/SKILL.md"],
    agents: [],
    prompts: [],
    themes: [],
  });
  expect(fetched.manifest?.hasInstallScripts).toBe(true);
  const directory = await fetched.enable();
  expect(directory).toBe(join(agentDir, "npm", "@me", "pack@1.2.3", "node_modules", "@me", "pack"));
  expect(existsSync(mark)).toBe(false);
  expect(registry.requests.some((path) => path.includes("@example/host"))).toBe(false);
  const locked = (await readLock(agentDir)).get("npm:@me/pack")!;
  expect(locked).toMatchObject({ source: "npm:@me/pack", resolved: "1.2.3" });
  expect(locked.integrity).toMatch(/^sha512-/);
  expect(locked.dependencies?.["node_modules/left-part"]).toMatchObject({ version: "1.4.0" });
  const { packages, problems } = await resolve(workspace, ["npm:@me/pack"]);
  expect(problems).toEqual([]);
  expect(packages).toMatchObject([
    { id: "npm:@me/pack", scope: "user", root: directory, extensions: [join(directory, "extensions/a.ts")] },
  ]);
});

test("an update replaces the version, and removal leaves nothing", async () => {
  const workspace = await createNpmWorkspace();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "one" } });
  await install(workspace, "npm:pack@^1");
  registry.publish("pack", "1.1.0", { files: { "prompts/a.md": "two" } });
  registry.publish("pack", "2.0.0", { files: { "prompts/a.md": "three" } });
  const next = await fetch(workspace, "npm:pack@^1");
  expect([next.previous?.resolved, next.locked?.resolved]).toEqual(["1.0.0", "1.1.0"]);
  expect((await resolve(workspace, ["npm:pack@^1"])).packages[0]!.root).toContain("pack@1.0.0");
  await next.enable();
  const { packages } = await resolve(workspace, ["npm:pack@^1"]);
  expect(await readFile(packages[0]!.prompts[0]!, "utf8")).toBe("two");
  expect((await listAll(agentDir)).filter((name) => name.includes("1.0.0"))).toEqual([]);
  await removePackage(parseSource("npm:pack", "/") as PackageSource, { ...workspace, scope: "user" });
  expect(existsSync(join(agentDir, "npm"))).toBe(false);
  expect(await listAll(agentDir)).toEqual([]);
});

test("one version is left when several are installed at once, and none after a removal", async () => {
  const workspace = await createNpmWorkspace();
  const { registry, agentDir } = workspace;
  const versions = ["1.0.0", "2.0.0"];
  for (const version of versions) registry.publish("pack", version, { files: { "prompts/a.md": version } });
  const fetched = await Promise.all(versions.map((version) => fetch(workspace, `npm:pack@${version}`)));
  const directories = await Promise.all(fetched.map((each) => each.enable()));
  const { resolved } = (await readLock(agentDir)).get("npm:pack")!;
  expect(directories.filter((directory) => existsSync(directory))).toEqual([directories[versions.indexOf(resolved)]]);
  // An install that was killed before it wrote the lock.
  await mkdir(join(agentDir, "npm", "pack@0.9.0"));
  await mkdir(join(agentDir, "npm", "packer@1.0.0"));
  await removePackage(parseSource("npm:pack", "/") as PackageSource, { ...workspace, scope: "user" });
  expect(await readdir(join(agentDir, "npm"))).toEqual(["packer@1.0.0"]);
});

const misleading = ["package-lock=false", "save=false", "dry-run=true", "package-lock-only=true", "lockfile-version=1"];

// Each by itself in a long run; otherwise all of them at once, because each installation takes a second.
test.each(process.env["TAU_LONG"] ? misleading : [misleading.join("\n")])(
  "a package is installed and pinned also where the user's .npmrc says %s",
  async (setting) => {
    const workspace = await createNpmWorkspace();
    workspace.registry.publish("pack", "1.0.0", { files: { "prompts/p.md": "" } });
    await writeFiles(workspace.root, { npmrc: setting });
    await install(workspace, "npm:pack");
    const locked = (await readLock(workspace.agentDir)).get("npm:pack");
    expect(locked).toMatchObject({ resolved: "1.0.0", dependencies: { "node_modules/pack": { version: "1.0.0" } } });
  },
);

test("a lock whose dependencies were edited is refused with what is wrong in it", async () => {
  const workspace = await createNpmWorkspace();
  const { registry, agentDir } = workspace;
  registry.publish("dep", "1.0.0");
  registry.publish("pack", "1.0.0", { files: { "prompts/p.md": "" }, manifest: { dependencies: { dep: "^1.0.0" } } });
  await install(workspace, "npm:pack");
  const path = join(agentDir, "packages-lock.json");
  const lock = JSON.parse(await readFile(path, "utf8")) as { packages: Record<string, { dependencies: object }> };
  delete (lock.packages["npm:pack"]!.dependencies as Record<string, unknown>)["node_modules/dep"];
  await writeFile(path, JSON.stringify(lock));
  await expect(fetch(workspace, "npm:pack", { asLocked: true })).rejects.toThrow(
    "npm:pack: The dependencies in packages-lock.json do not fit it (Missing: dep@1.0.0 from lock file). Install it again by its name.",
  );
});

test("what is fetched and not wanted leaves nothing", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  await (await fetch(workspace, "npm:pack")).discard();
  expect(await listAll(workspace.agentDir)).toEqual([]);
  expect(existsSync(join(workspace.agentDir, "npm"))).toBe(false);
});

test("releases that are too young do not count, also as dependencies", async () => {
  const workspace = await createNpmWorkspace();
  const { registry } = workspace;
  const before = new Date("2024-01-01");
  const files = { "prompts/a.md": "" };
  registry.publish("pack", "1.0.0", { files, manifest: { dependencies: { part: "^1.0.0" } } });
  registry.publish("pack", "1.1.0", { files, time: "2024-06-01T00:00:00.000Z" });
  registry.publish("part", "1.0.0");
  registry.publish("part", "1.0.1", { time: "2024-06-01T00:00:00.000Z" });
  const old = await fetch(workspace, "npm:pack", { before });
  expect(old.locked?.resolved).toBe("1.0.0");
  expect(old.locked?.dependencies?.["node_modules/part"]).toMatchObject({ version: "1.0.0" });
  await old.discard();
  await expect(fetch(workspace, "npm:pack@1.1.0", { before })).rejects.toThrow(/packageMinAgeDays.*--any-age/s);
  const young = await fetch(workspace, "npm:pack");
  expect(young.locked?.resolved).toBe("1.1.0");
});

test("an archive that is not what the lock says is refused, and nothing changes", async () => {
  const workspace = await createNpmWorkspace();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "good" } });
  await install(workspace, "npm:pack");
  const before = await listAll(agentDir);
  registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "evil" } });
  const again = { ...workspace, env: { ...workspace.env, npm_config_cache: join(workspace.root, "cache-2") } };
  await expect(fetch(again, "npm:pack", { asLocked: true })).rejects.toMatchObject({ code: "install_failed" });
  expect(await listAll(agentDir)).toEqual(before);
});

test("an archive that is not what the registry announced is refused", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  workspace.registry.tamper("pack", "1.0.0");
  await expect(fetch(workspace, "npm:pack")).rejects.toThrow(/npm failed: .*integrity/i);
});

test("a lock with another content hash refuses what the registry has", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  await install(workspace, "npm:pack");
  const file = join(workspace.agentDir, "packages-lock.json");
  await writeFile(file, (await readFile(file, "utf8")).replace(/"sha256-[^"]*"/, '"sha256-x"'));
  await expect(fetch(workspace, "npm:pack", { asLocked: true })).rejects.toThrow(
    /is not the one in packages-lock.json/,
  );
});

test("a lock with another integrity hash or version is refused, and the age of releases is not blamed", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/p.md": "" } });
  await install(workspace, "npm:pack");
  const path = join(workspace.agentDir, "packages-lock.json");
  const text = await readFile(path, "utf8");
  const fetchAsLocked = () => fetch(workspace, "npm:pack", { asLocked: true, before: new Date() });
  await writeFile(path, text.replace(/"integrity": "sha512-/, '"integrity": "sha512-A'));
  await expect(fetchAsLocked()).rejects.toThrow("is not the one in packages-lock.json, so it is refused.");
  await writeFile(path, text.replace('"resolved": "1.0.0"', '"resolved": "9.9.9"'));
  await expect(fetchAsLocked()).rejects.toThrow(/^(?!.*packageMinAgeDays).*pack@9\.9\.9/);
  // As some editors write it.
  await writeFile(path, `\uFEFF${text}`);
  await (await fetchAsLocked()).discard();
});

test.each([
  ["a name with dots", [{ name: "package/../../../evil.txt", content: "x" }]],
  ["an absolute name", [{ name: "/tmp/tau-evil-absolute.txt", content: "x" }]],
  ["a link out and a file behind it", [{ name: "package/out", link: "../../.." }, { name: "package/out/evil.txt" }]],
  ["a link to a file outside", [{ name: "package/prompts/passwd.md", link: "/etc/passwd" }]],
])("an archive with %s writes and reads nothing outside", async (_what, hostile) => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: [{ name: "package/prompts/a.md", content: "" }, ...hostile] });
  const outcome = await fetch(workspace, "npm:pack").catch((error: Error) => error);
  if (!(outcome instanceof Error)) {
    expect(outcome.names.prompts).toEqual(["prompts/a.md"]);
    await outcome.enable();
  }
  const all = await listAll(workspace.root);
  const inside = join("tau", "npm", "pack@1.0.0", "node_modules", "pack");
  expect(all.filter((name) => name.endsWith("evil.txt") && !name.startsWith(inside))).toEqual([]);
  expect(existsSync("/tmp/tau-evil-absolute.txt")).toBe(false);
});

test("a package that brings nothing is refused", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", { files: { "readme.md": "" } });
  await expect(fetch(workspace, "npm:pack")).rejects.toThrow(/^npm:pack: npm:pack is not a package for tau/);
  await expect(fetch(workspace, "npm:missing")).rejects.toThrow(/npm failed: .*404/);
  expect(await listAll(workspace.agentDir)).toEqual([]);
});

test("a project's packages count only as they were installed on this computer", async () => {
  const workspace = await createNpmWorkspace();
  workspace.registry.publish("pack", "1.0.0", {
    manifest: { dependencies: { part: "1.0.0" } },
    files: { "prompts/a.md": "" },
  });
  workspace.registry.publish("part", "1.0.0", { files: { "index.js": "" } });
  const root = await install(workspace, "npm:pack", { scope: "project" });
  expect(root.startsWith(join(workspace.cwd, ".tau", "npm"))).toBe(true);
  expect(await readFile(join(workspace.cwd, ".tau", "npm", ".gitignore"), "utf8")).toBe("*\n");
  expect((await resolve(workspace, [], ["npm:pack"])).problems).toEqual([]);
  const elsewhere = { ...workspace, agentDir: join(workspace.root, "other") };
  expect((await resolve(elsewhere, [], ["npm:pack"])).problems).toMatchObject([{ kind: "changed" }]);
  await writeFile(join(root, "..", "part", "index.js"), "evil();");
  const { packages, problems } = await resolve(workspace, [], ["npm:pack"]);
  expect(packages).toEqual([]);
  expect(problems).toMatchObject([
    { kind: "changed", scope: "project", message: expect.stringMatching(/tau install -l$/) },
  ]);
  await install(workspace, "npm:pack", { scope: "project", asLocked: true });
  expect((await resolve(workspace, [], ["npm:pack"])).problems).toEqual([]);
  await removePackage(parseSource("npm:pack", "/") as PackageSource, { ...workspace, scope: "project" });
  expect(await listAll(join(workspace.cwd, ".tau"))).toEqual([]);
  expect(await readFile(join(workspace.agentDir, "project-packages.json"), "utf8")).not.toContain("pack@");
});

test.each([
  ["the directory of tau", ".tau"],
  ["the directory of packages", ".tau/npm"],
  ["the directory of a scope", ".tau/npm/@me"],
])("nothing is installed or removed through a link of the project: %s", async (_what, link) => {
  const workspace = await createNpmWorkspace();
  const outside = join(workspace.root, "outside");
  const mine = join(outside, "pack@0.9.0", "mine.txt");
  await writeFiles(outside, { "pack@0.9.0/mine.txt": "" });
  await mkdir(dirname(join(workspace.cwd, link)), { recursive: true });
  await symlink(outside, join(workspace.cwd, link));
  workspace.registry.publish("@me/pack", "1.0.0", { files: { "prompts/a.md": "" } });
  const before = await listAll(workspace.root);
  await expect(fetch(workspace, "npm:@me/pack", { scope: "project" })).rejects.toThrow(/is not a directory/);
  const source = parseSource("npm:@me/pack", "/") as PackageSource;
  await expect(removePackage(source, { ...workspace, scope: "project" })).rejects.toThrow(/is not a directory/);
  expect(await listAll(workspace.root)).toEqual(before);
  expect(existsSync(mine)).toBe(true);
});

test("an interrupted install ends npm and leaves nothing", async () => {
  const workspace = await createNpmWorkspace();
  const abort = new AbortController();
  const { registry } = workspace;
  registry.isSilent = true;
  const installing = fetch(workspace, "npm:pack", { signal: abort.signal });
  const outcome = installing.catch((error: unknown) => error);
  await expect.poll(() => registry.requests.length).toBeGreaterThan(0);
  abort.abort();
  expect(await outcome).toMatchObject({ code: "aborted" });
  expect(await listAll(getScopeDirectory("user", workspace))).toEqual([]);
});

test("what an install left behind that was killed is removed by the next", async () => {
  const workspace = await createNpmWorkspace();
  const [old, young] = ["x", "y"].map((name) => join(workspace.agentDir, "npm", `.staging-999999999-${name}`));
  await writeFiles(workspace.agentDir, { "npm/.staging-999999999-x/half": "", "npm/.staging-999999999-y/half": "" });
  await utimes(old!, 0, Date.now() / 1_000 - 2 * 60 * 60);
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  await install(workspace, "npm:pack");
  expect(existsSync(old!)).toBe(false);
  // Its process may run in another container.
  expect(existsSync(young!)).toBe(true);
});

test("what a killed install left behind is removed at once where its process is known to be gone", async () => {
  const workspace = await createNpmWorkspace();
  const { agentDir, registry } = workspace;
  const gone = { pid: 999_999_999, startTime: "1", bootId: "another boot", pidNamespace: "", id: "x", generation: 1 };
  const leave = () => writeFiles(agentDir, { "npm/.staging-999999999-x/lease": JSON.stringify(gone) });
  await leave();
  registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  await install(workspace, "npm:pack");
  expect(await readdir(join(agentDir, "npm"))).toEqual(["pack@1.0.0"]);
  await leave();
  await removePackage(parseSource("npm:pack", "/") as PackageSource, { ...workspace, scope: "user" });
  expect(await readdir(agentDir)).toEqual([]);
});

test("packages that are missing or were never installed are named, and the others count", async () => {
  const workspace = await createNpmWorkspace();
  await writeFile(join(workspace.root, "one.ts"), "");
  const { packages, problems } = await resolve(workspace, ["npm:pack", join(workspace.root, "one.ts"), "/nowhere"]);
  expect(packages.map(({ extensions }) => extensions)).toEqual([[join(workspace.root, "one.ts")]]);
  expect(problems.map(({ message }) => message)).toEqual([
    "The package npm:pack is not installed, so it is skipped. To install it: tau install",
    "The package /nowhere does not exist, so it is skipped.",
  ]);
});

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, test } from "vitest";
import { getPathWithNpm } from "../../../config/test/installs/cached-npm.ts";
import { createNpmWorkspace, createRepository, fetch } from "../../../config/test/installs/kit.ts";
import { type Registry, startRegistry } from "../../../config/test/installs/registry.ts";
import { changeInList } from "../../src/commands/config-resources.ts";
import { describePackage } from "../../src/commands/enable-packages.ts";
import { openPackageContext } from "../../src/commands/package-context.ts";
import { listRows } from "../../src/commands/resource-rows.ts";
import { createIo, createWorkspace, run as runProgram, type RunOptions, type Workspace } from "../kit.ts";

interface PackageWorkspace extends Workspace {
  registry: Registry;
  env: Record<string, string>;
}

async function create(): Promise<PackageWorkspace> {
  const [workspace, registry] = await Promise.all([createWorkspace(), startRegistry()]);
  const home = dirname(workspace.directory);
  const env = {
    PATH: getPathWithNpm(),
    HOME: home,
    npm_config_cache: join(home, "cache"),
    npm_config_userconfig: join(home, "npmrc"),
    npm_config_registry: registry.url,
    npm_config_fetch_retries: "0",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  return { ...workspace, registry, env };
}

const run = (workspace: PackageWorkspace, line: string, options: RunOptions = {}) =>
  runProgram(workspace, line.split(" "), { ...options, env: workspace.env });

/** A person at a terminal, who types one answer. */
const typing = (answer: string): RunOptions => ({
  input: Readable.from([Buffer.from(`${answer}\n`)]),
  terminal: { input: true, err: true },
});

const readJson = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
const readLines = (text: string) =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));
const extension = { "extensions/a.ts": "export default () => {};", "skills/s/SKILL.md": "", "prompts/p.md": "" };

test("a package is shown before it is used, and a person decides how its extensions run", async () => {
  const workspace = await create();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  const refused = await run(workspace, "install npm:pack", typing("n"));
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toMatch(/npm:pack 1\.0\.0 brings:\n {2}extensions +extensions\/a\.ts\n {2}skills/);
  expect(refused.err).toContain("Nothing was installed.");
  expect(existsSync(join(agentDir, "npm"))).toBe(false);
  const isolated = await run(workspace, "install npm:pack", typing("y"));
  expect(isolated).toMatchObject({ code: 0, out: "Installed npm:pack 1.0.0 (acknowledged).\n" });
  expect(await readJson(join(agentDir, "settings.json"))).toEqual({ packages: ["npm:pack"] });
  const [row] = readLines((await run(workspace, "list --json")).out);
  expect(row).toMatchObject({ id: "npm:pack", version: "1.0.0", scope: "user", state: "acknowledged" });
  const trusted = await run(workspace, "install npm:pack", typing("t"));
  expect(trusted.out).toBe("Installed npm:pack 1.0.0 (trusted).\n");
  expect((await run(workspace, "extensions list")).out).toMatch(/npm:pack +trusted +package/);
});

test("the dependencies of a package are counted, from npm and from git", async () => {
  const workspace = await createNpmWorkspace();
  const { registry } = workspace;
  const dependencies = { dep: "1.0.0" };
  registry.publish("dep", "1.0.0");
  registry.publish("pack", "1.0.0", { files: extension, manifest: { dependencies } });
  const { url, commit } = await createRepository(workspace);
  await commit({ ...extension, "package.json": JSON.stringify({ name: "pack", dependencies }) });
  for (const source of ["npm:pack", url]) {
    const fetched = await fetch(workspace, source);
    expect(describePackage(fetched, source)).toContain("\n  dependencies 1\n");
  }
});

test("without a terminal nothing is fetched unless a flag agrees to it", async () => {
  const workspace = await create();
  workspace.registry.publish("pack", "1.0.0", { files: extension });
  const refused = await run(workspace, "install npm:pack");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/needs --yes .* or --trust/);
  expect(workspace.registry.requests).toEqual([]);
  expect(await run(workspace, "install npm:pack --yes")).toMatchObject({ code: 0 });
});

test("an update does not go back from a release that was installed with --any-age", async () => {
  const workspace = await create();
  const { registry } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  registry.publish("pack", "1.1.0", { files: extension, time: new Date().toISOString() });
  registry.publish("new", "1.0.0", { files: extension, time: new Date().toISOString() });
  expect((await run(workspace, "install npm:pack npm:new --yes --any-age")).code).toBe(0);
  const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString();
  registry.publish("pack", "1.2.0", { files: extension, time: tomorrow });
  expect(await run(workspace, "update --yes")).toMatchObject({ code: 0, err: "All packages are up to date.\n" });
  expect((await run(workspace, "install npm:pack --yes")).out).toBe("Installed npm:pack 1.1.0 (acknowledged).\n");
  expect((await run(workspace, "update --yes --any-age")).out).toBe("Installed npm:pack 1.2.0 (acknowledged).\n");
});

test("removal leaves nothing but the audit", async () => {
  const workspace = await create();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack --trust");
  const wrong = await run(workspace, "remove npm:pak");
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "npm:pack"?') });
  expect(await run(workspace, "uninstall pack")).toMatchObject({ code: 0, out: "Removed npm:pack.\n" });
  expect(await readJson(join(agentDir, "settings.json"))).toEqual({});
  for (const name of ["npm", "packages-lock.json"]) expect(existsSync(join(agentDir, name)), name).toBe(false);
  expect(await readJson(join(agentDir, "extension-trust.json"))).toMatchObject({ extensions: [] });
  expect(await readFile(join(agentDir, "audit.jsonl"), "utf8")).toContain('"new_state":"trusted"');
  expect((await run(workspace, "list")).out).toContain("No packages are installed.");
});

test("what cannot be written into the settings is not installed", async () => {
  const workspace = await create();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  await mkdir(agentDir, { recursive: true });
  await writeFile(join(agentDir, "settings.json"), "{ damaged");
  expect((await run(workspace, "install npm:pack --trust")).code).not.toBe(0);
  for (const name of ["npm", "packages-lock.json"]) expect(existsSync(join(agentDir, name)), name).toBe(false);
});

test("an update shows the new version, and a changed extension has to be agreed to again", async () => {
  const workspace = await create();
  const { registry } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  registry.publish("fixed", "1.0.0", { files: { "prompts/p.md": "" } });
  await run(workspace, "install npm:pack npm:fixed@1.0.0 --trust");
  expect(await run(workspace, "update --yes")).toMatchObject({ code: 0, err: "All packages are up to date.\n" });
  registry.publish("pack", "1.1.0", { files: { ...extension, "extensions/a.ts": "export default () => 2;" } });
  registry.publish("fixed", "1.1.0", { files: { "prompts/p.md": "" } });
  const updated = await run(workspace, "update --yes");
  expect(updated.err).toContain("npm:pack 1.1.0 (was 1.0.0) brings:");
  expect(updated.out).toBe("Installed npm:pack 1.1.0 (acknowledged).\n");
  for (const form of ["--self", "self", "pi"]) {
    expect(await run(workspace, `update ${form}`)).toMatchObject({
      out: expect.stringContaining("Install it again"),
      err: "",
    });
  }
  for (const form of ["--extensions", "--extension npm:pack", "npm:pack"]) {
    expect(await run(workspace, `update ${form} --yes`)).toMatchObject({
      out: "",
      err: "All packages are up to date.\n",
    });
  }
});

test("an update does not turn on what was turned off", async () => {
  const workspace = await create();
  workspace.registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack --trust");
  await run(workspace, "extensions kill npm:pack");
  workspace.registry.publish("pack", "1.1.0", { files: extension });
  expect((await run(workspace, "update --trust")).out).toBe("Installed npm:pack 1.1.0 (killed).\n");
});

test("changed content of an installed extension is pending again", async () => {
  const workspace = await create();
  workspace.registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack --trust");
  const [row] = readLines((await run(workspace, "extensions list --json")).out) as { state: string; path: string }[];
  expect(row!.state).toBe("trusted");
  await writeFile(row!.path, "export default () => evil();");
  expect((await run(workspace, "extensions list")).out).toMatch(/npm:pack +pending/);
  const trusted = await run(workspace, "extensions trust npm:pack");
  expect(trusted.out).toBe("npm:pack is trusted: it runs in process and can do whatever you can.\n");
});

test("an extension is turned off until it is revived, wherever it comes from", async () => {
  const workspace = await create();
  const directory = join(workspace.agentDir, "extensions");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "own.ts"), "export default () => {};");
  expect((await run(workspace, "extensions list")).out).toMatch(/own +trusted +user/);
  expect((await run(workspace, "extensions kill own")).out).toMatch(/^own is killed: it does not run until/);
  expect(await run(workspace, "extensions trust own")).toMatchObject({ code: 2 });
  await writeFile(join(directory, "own.ts"), "export default () => 2;");
  expect((await run(workspace, "extensions list")).out).toMatch(/own +killed/);
  expect((await run(workspace, "extensions revive own")).out).toMatch(/^own is trusted/);
  const unknown = await run(workspace, "extensions kill owm");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "own"?') });
});

test("an extension of a project waits for the trust in the project", async () => {
  const workspace = await create();
  const file = join(workspace.directory, ".tau", "extensions", "theirs.ts");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "export default () => {};");
  expect((await run(workspace, "extensions list")).out).toMatch(/theirs +pending +project/);
  expect(await run(workspace, "extensions trust theirs")).toMatchObject({ code: 2 });
  await run(workspace, "trust");
  expect((await run(workspace, "extensions list")).out).toMatch(/theirs +acknowledged/);
  await writeFile(file, "export default () => 2;");
  expect((await run(workspace, "extensions list")).out).toMatch(/theirs +pending/);
});

test("a project has packages of its own, and keeps the trust that it had", async () => {
  const workspace = await create();
  const { registry, directory } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  registry.publish("other", "1.0.0", { files: { "prompts/p.md": "" } });
  await writeFile(join(directory, "local.ts"), "export default () => {};");
  expect(await run(workspace, "install npm:pack -l --yes")).toMatchObject({ code: 0 });
  expect(await run(workspace, "install npm:other ./local.ts --local --yes")).toMatchObject({ code: 0 });
  const settings = await readJson(join(directory, ".tau", "settings.json"));
  expect(settings).toEqual({ packages: ["npm:pack", "npm:other", "../local.ts"] });
  const rows = readLines((await run(workspace, "list --json")).out);
  expect(rows).toMatchObject([
    { id: "npm:pack", scope: "project", state: "acknowledged" },
    { id: "npm:other", scope: "project" },
    { id: join(directory, "local.ts"), state: "acknowledged" },
  ]);
  const removed = await run(workspace, "remove npm:pack npm:other ./local.ts -l");
  expect(removed.code).toBe(0);
  expect(existsSync(join(directory, ".tau", "npm"))).toBe(false);
});

test("commands that change a project at the same time keep the trust in it", async () => {
  const workspace = await create();
  const { registry, directory } = workspace;
  const names = ["a", "b", "c", "d"];
  for (const name of names) registry.publish(name, "1.0.0", { files: { "prompts/p.md": "" } });
  const runAll = (verb: string) => Promise.all(names.map((name) => run(workspace, `${verb} npm:${name} -l`)));
  expect(await runAll("install --yes")).toMatchObject(names.map(() => ({ code: 0 })));
  expect((await run(workspace, "trust")).out).toContain("is trusted");
  expect(await runAll("remove")).toMatchObject(names.map((name) => ({ code: 0, out: `Removed npm:${name}.\n` })));
  expect(await readJson(join(directory, ".tau", "settings.json"))).toEqual({});
  expect(existsSync(join(directory, ".tau", "npm"))).toBe(false);
});

test("another computer installs what the lock of the project has, and nothing else", async () => {
  const workspace = await create();
  const { registry, agentDir } = workspace;
  registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack -l --yes");
  registry.publish("pack", "1.1.0", { files: extension });
  const other = { ...workspace, agentDir: `${agentDir}-2` };
  const refused = await run(other, "install -l --yes");
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("tau trust") });
  await run(other, "trust");
  expect((await run(other, "list")).err).toContain("are not those that tau installed here");
  expect(await run(other, "install -l --yes")).toMatchObject({
    code: 0,
    out: "Installed npm:pack 1.0.0 (acknowledged).\n",
  });
  expect(await run(other, "install -l --yes")).toMatchObject({ code: 0, err: "All is installed.\n" });
});

test("packages of pi are named in the list, and asked for together", async () => {
  const workspace = await create();
  const pi = join(workspace.env["HOME"]!, ".pi", "agent");
  workspace.registry.publish("one", "1.0.0", { files: extension });
  workspace.registry.publish("two", "1.0.0", { files: { "prompts/p.md": "", "skills/s/SKILL.md": "" } });
  await mkdir(pi, { recursive: true });
  await writeFile(
    join(pi, "settings.json"),
    JSON.stringify({ packages: ["npm:one", { source: "npm:two", skills: [] }, 3] }),
  );
  expect((await run(workspace, "list")).err).toContain("pi has 2 packages that tau does not use.");
  const installed = await run(workspace, "install --from-pi", typing("y"));
  expect(installed.err.match(/Use these 2 packages\?/g)).toHaveLength(1);
  expect(installed.out).toBe("Installed npm:one 1.0.0 (acknowledged).\nInstalled npm:two 1.0.0.\n");
  expect((await readJson(join(workspace.agentDir, "settings.json")))["packages"]).toEqual([
    "npm:one",
    { source: "npm:two", skills: [] },
  ]);
  expect((await run(workspace, "list")).err).toBe("");
});

test("a package that cannot be fetched is named, and the others are installed", async () => {
  const workspace = await create();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/p.md": "" } });
  const { code, out, err } = await run(workspace, "install npm:missing npm:pack --yes");
  expect({ code, out }).toEqual({ code: 1, out: "Installed npm:pack 1.0.0.\n" });
  expect(err).toMatch(/tau: npm:missing: npm failed: .*404/);
  expect(await run(workspace, "install npm:missing --yes")).toMatchObject({ code: 1 });
  expect(await run(workspace, "install nonsense --yes")).toMatchObject({ code: 2 });
});

test("a release that is too young is refused, and a flag takes it all the same", async () => {
  const workspace = await create();
  const time = new Date().toISOString();
  workspace.registry.publish("pack", "1.0.0", { files: { "prompts/p.md": "" }, time });
  const refused = await run(workspace, "install npm:pack --yes");
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("packageMinAgeDays") });
  expect(await run(workspace, "install npm:pack --yes --any-age")).toMatchObject({ code: 0 });
});

test("tau config lists resources, and its list turns single ones on and off", async () => {
  const workspace = await create();
  workspace.registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack --yes");
  await mkdir(join(workspace.agentDir, "prompts"));
  await writeFile(join(workspace.agentDir, "prompts", "own.md"), "");
  const list = async () =>
    (readLines((await run(workspace, "config --json")).out) as { name: string; isOn: boolean }[]).map(
      ({ name, isOn }) => `${name} ${isOn}`,
    );
  expect(await list()).toEqual([
    "prompts/own.md true",
    "extensions/a.ts true",
    "skills/s/SKILL.md true",
    "prompts/p.md true",
  ]);
  expect((await run(workspace, "config")).out).toMatch(/^KIND +NAME +STATE +FROM\nprompts +prompts\/own\.md +on/);
  const { io } = createIo(workspace, { env: workspace.env });
  const args = { subcommand: "", positionals: [], has: () => false, value: () => undefined, values: () => [] };
  const context = await openPackageContext(args, io);
  const press = async (...keys: string[]) => {
    const terminal = await VirtualTerminal.create(100, 30);
    const done = changeInList(terminal, (await listRows(context)).rows, context);
    await expect.poll(() => terminal.writes.join("")).toContain("prompts/own.md");
    for (const key of keys) terminal.sendInput(key);
    await done;
  };
  const [down, escape] = ["\x1b[B", "\x1b"];
  await press(" ", down, down, " ", escape);
  expect(await list()).toEqual([
    "prompts/own.md false",
    "extensions/a.ts true",
    "skills/s/SKILL.md false",
    "prompts/p.md true",
  ]);
  expect(await readJson(join(workspace.agentDir, "settings.json"))).toEqual({
    packages: [{ source: "npm:pack", skills: ["-skills/s/SKILL.md"] }],
    prompts: ["-prompts/own.md"],
  });
  await press(" ", down, down, " ", escape);
  expect(await readJson(join(workspace.agentDir, "settings.json"))).toEqual({ packages: ["npm:pack"] });
});

test("a project leaves out a resource of the user's package with an entry of its own", async () => {
  const workspace = await create();
  const { directory, env } = workspace;
  workspace.registry.publish("pack", "1.0.0", { files: extension });
  await run(workspace, "install npm:pack --yes");
  const { io } = createIo(workspace, { env });
  const args = {
    subcommand: "",
    positionals: [],
    has: (name: string) => name === "local",
    value: () => undefined,
    values: () => [],
  };
  const context = await openPackageContext(args, io);
  const terminal = await VirtualTerminal.create(100, 30);
  const done = changeInList(terminal, (await listRows(context)).rows, context);
  await expect.poll(() => terminal.writes.join("")).toContain("extensions/a.ts");
  for (const key of [" ", "\x1b"]) terminal.sendInput(key);
  await done;
  expect(await readJson(join(directory, ".tau", "settings.json"))).toEqual({
    packages: [{ source: "npm:pack", autoload: false, extensions: ["-extensions/a.ts"] }],
  });
  expect((await run(workspace, "extensions list")).out).toBe("There are no extensions.\n");
  expect((await run({ ...workspace, directory: dirname(directory) }, "extensions list")).out).toContain("npm:pack");
});

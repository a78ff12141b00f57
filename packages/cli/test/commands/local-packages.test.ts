import { readdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createRepository, writeFiles } from "../../../config/test/installs/kit.ts";
import { createWorkspace, run as runProgram, type RunOptions, type Workspace } from "../kit.ts";

const run = (workspace: Workspace, line: string, options: RunOptions = {}) =>
  runProgram(workspace, line.split(" "), { ...options, env: getEnv(workspace) });

const getEnv = ({ directory }: Workspace) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: dirname(directory),
  GIT_CONFIG_NOSYSTEM: "1",
});

const readJson = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
const readPackages = async ({ agentDir }: Workspace) => (await readJson(join(agentDir, "settings.json")))["packages"];
const readTrust = async ({ agentDir }: Workspace) =>
  (await readJson(join(agentDir, "extension-trust.json")))["extensions"];

/** Directories with one extension each, in the project. */
async function create(...names: string[]): Promise<Workspace & { paths: string[] }> {
  const workspace = await createWorkspace();
  const files = names.map((name) => [`${name}/extensions/${name}.ts`, "export default () => {};"]);
  await writeFiles(workspace.directory, Object.fromEntries(files) as Record<string, string>);
  return { ...workspace, paths: names.map((name) => join(workspace.directory, name)) };
}

test("what was trusted runs isolated after a person said so", async () => {
  const workspace = await create("pack");
  const [path] = workspace.paths;
  expect((await run(workspace, "install ./pack --trust")).out).toBe(`Installed ${path} (trusted).\n`);
  expect((await run(workspace, "install ./pack --yes")).out).toBe(`Installed ${path} (acknowledged).\n`);
  expect((await run(workspace, "extensions list")).out).toMatch(/pack +acknowledged +package/);
});

test("a directory behind a link is one package, whichever way it is named", async () => {
  const workspace = await create("pack");
  const { directory, paths } = workspace;
  await symlink(paths[0]!, join(directory, "link"));
  expect((await run(workspace, "install ./link --trust")).out).toBe(`Installed ${paths[0]} (trusted).\n`);
  expect(await readPackages(workspace)).toEqual([join(directory, "link")]);
  expect((await run(workspace, "extensions list")).out).toMatch(/pack +trusted/);
  await run(workspace, "install ./pack --yes");
  expect(await readPackages(workspace)).toEqual([paths[0]]);
  expect((await run(workspace, "remove ./link")).code).toBe(0);
  expect(await readTrust(workspace)).toEqual([]);
  const files = await readdir(workspace.agentDir);
  expect(files.filter((name) => name.endsWith(".lease"))).toEqual([]);
});

test("installing again changes neither the order of packages nor what was chosen of them", async () => {
  const workspace = await create("one", "two");
  const [one, two] = workspace.paths;
  await writeFiles(workspace.agentDir, {
    "settings.json": JSON.stringify({ packages: [{ source: one, skills: [] }, two] }),
  });
  await run(workspace, "install ./one --yes");
  expect(await readPackages(workspace)).toEqual([{ source: one, skills: [] }, two]);
});

test("the answer for a package of a project and that for one's own do not change each other", async () => {
  const workspace = await create("pack");
  const [path] = workspace.paths;
  await run(workspace, "install ./pack --trust");
  expect((await run(workspace, "install ./pack -l --yes")).out).toBe(`Installed ${path} (acknowledged).\n`);
  const elsewhere = { ...workspace, directory: dirname(workspace.directory) };
  expect((await run(workspace, "extensions list")).out).toMatch(/pack +acknowledged/);
  expect((await run(elsewhere, "extensions list")).out).toMatch(/pack +trusted/);
  // Here the project's entry is the one that counts, and the answer is about the user's.
  expect((await run(workspace, "install ./pack --yes")).out).toBe(`Installed ${path} (acknowledged).\n`);
  expect((await run(elsewhere, "extensions list")).out).toMatch(/pack +acknowledged/);
  expect((await run(workspace, "remove ./pack -l")).code).toBe(0);
  expect((await run(workspace, "extensions list")).out).toMatch(/pack +acknowledged/);
  await run(workspace, "remove ./pack");
  expect(await readTrust(workspace)).toEqual([]);
});

test("a package whose content cannot be compared later is refused before anyone is asked", async () => {
  const workspace = await create("pack");
  await symlink(workspace.directory, join(workspace.directory, "pack", "out"));
  const { code, err } = await run(workspace, "install ./pack --yes");
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("is a link that leads out of the extension") });
});

test("an update brings back files that are missing, and takes what the settings say now", async () => {
  const workspace = await createWorkspace();
  const { directory, agentDir } = workspace;
  const root = dirname(directory);
  const { url, commit } = await createRepository({ root, cwd: directory, agentDir, env: getEnv(workspace) });
  const id = `git:file${root}/remote/pack`;
  const installed = `Installed ${id} ${await commit({ "prompts/p.md": "" })}.\n`;
  expect((await run(workspace, `install ${url} --yes`)).out).toBe(installed);
  await rm(join(agentDir, "git"), { recursive: true });
  expect((await run(workspace, "update --yes")).out).toBe(installed);
  await writeFiles(agentDir, { "settings.json": JSON.stringify({ packages: [`${url}@main`] }) });
  expect((await run(workspace, "update --yes")).out).toBe(installed);
  expect(await run(workspace, "update --yes")).toMatchObject({ out: "", err: "All packages are up to date.\n" });
  expect((await run(workspace, "list")).err).toBe("");
  // An entry that filters the user's package names none of the project's own.
  const filter = { source: url, autoload: false, prompts: ["-prompts/p.md"] };
  await writeFiles(directory, { ".tau/settings.json": JSON.stringify({ packages: [filter] }) });
  await run(workspace, "trust");
  expect(await run(workspace, "install -l --yes")).toMatchObject({ out: "", err: "All is installed.\n" });
  expect(await run(workspace, "update -l --yes")).toMatchObject({ out: "", err: "There is nothing to update.\n" });
  expect((await run(workspace, `update -l ${url} --yes`)).err).toMatch(/only filters .*There is nothing to update/s);
  // Installing it in the project makes it the project's own, and keeps the choice.
  expect((await run(workspace, `install -l ${url} --yes`)).code).toBe(0);
  const { autoload: _autoload, ...own } = filter;
  expect(await readJson(join(directory, ".tau", "settings.json"))).toEqual({ packages: [own] });
  expect((await run(workspace, "list")).out).toMatch(/remote\/pack\S* +\w+ +project/);
});

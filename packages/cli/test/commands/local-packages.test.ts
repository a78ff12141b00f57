import { readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeFiles } from "../../../harness/test/packages/kit.ts";
import { createWorkspace, run as runProgram, type RunOptions, type Workspace } from "../kit.ts";

const run = (workspace: Workspace, line: string, options: RunOptions = {}) =>
  runProgram(workspace, line.split(" "), { ...options, env: { HOME: dirname(workspace.directory) } });

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

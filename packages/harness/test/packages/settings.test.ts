import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { expect, test } from "vitest";
import { findExtensions } from "@tau/extensions";
import { changePackageEntries, getPackageEntries, findPiPackages, takePiPackagesNotice } from "@tau/config/installs";
import { readTrust, writeTrust } from "@tau/config/trust";
import { SettingsManager } from "@tau/config/settings";
import { createWorkspace, type Workspace, writeFiles } from "../../../config/test/installs/kit.ts";

const open = ({ cwd, agentDir }: Workspace, projectTrusted = true) =>
  SettingsManager.create(cwd, agentDir, { projectTrusted, watch: false });

test("a project's own paths are stored relative to its settings, and entries of pi's file are kept", async () => {
  const workspace = await createWorkspace();
  const { cwd } = workspace;
  await writeFiles(cwd, { ".pi/settings.json": JSON.stringify({ packages: ["./old", "npm:a"] }) });
  const settings = await open(workspace);
  const ports = { ...workspace, settings, ids: systemIds };
  await changePackageEntries(ports, "project", (entries) => [...entries, { source: join(cwd, "new"), skills: [] }]);
  const read = async () => JSON.parse(await readFile(join(cwd, ".tau", "settings.json"), "utf8")) as object;
  expect(await read()).toEqual({ packages: ["../.pi/old", "npm:a", { source: "../new", skills: [] }] });
  expect(getPackageEntries(settings).project[0]).toBe(join(cwd, ".pi", "old"));
  await changePackageEntries(ports, "project", () => []);
  expect(await read()).toEqual({ packages: [] });
  expect(getPackageEntries(settings).project).toEqual([]);
});

test("entries that other processes have added meanwhile are kept", async () => {
  const workspace = await createWorkspace();
  const names = ["npm:a", "npm:b", "npm:c", "npm:d"];
  for (const scope of ["user", "project"] as const) {
    const managers = await Promise.all(names.map(() => open(workspace)));
    const add = (settings: SettingsManager, name: string) =>
      changePackageEntries({ ...workspace, settings, ids: systemIds }, scope, (entries) => [...entries, name]);
    await Promise.all(managers.map((settings, index) => add(settings, names[index]!)));
    expect(getPackageEntries(await open(workspace))[scope].toSorted()).toEqual(names);
  }
});

test("trust in a project covers its lock and the local packages that it names, and not what is installed", async () => {
  const workspace = await createWorkspace();
  const { cwd } = workspace;
  await writeFiles(cwd, {
    ".tau/settings.json": JSON.stringify({ packages: ["npm:a", { source: "../lib" }], extensions: ["../one.ts"] }),
    ".tau/packages-lock.json": "{}",
    ".tau/npm/a@1/node_modules/a/index.js": "",
    ".tau/git/example.org/b/index.js": "",
    ".pi/npm/node_modules/c/index.js": "",
    "lib/extensions/x.ts": "",
    "one.ts": "",
  });
  const options = { ...workspace, ids: systemIds };
  const { files } = await writeTrust(options, true);
  expect(files).toEqual([".tau/packages-lock.json", ".tau/settings.json", "lib/extensions/x.ts", "one.ts"]);
  await writeFile(join(cwd, ".tau/npm/a@1/node_modules/a/index.js"), "2");
  expect((await readTrust(options)).trusted).toBe(true);
  await writeFile(join(cwd, "lib/extensions/x.ts"), "2");
  expect((await readTrust(options)).trusted).toBe(false);
});

test("a link in the place of installed packages is one of the files that are trusted", async () => {
  const workspace = await createWorkspace();
  await mkdir(join(workspace.cwd, ".tau"));
  await symlink(workspace.root, join(workspace.cwd, ".tau", "npm"));
  const { files } = await readTrust(workspace);
  expect(files[0]).toBe(".tau/npm");
});

test("packages of pi that tau does not have are named once", async () => {
  const workspace = await createWorkspace();
  const { root: home, agentDir } = workspace;
  await writeFiles(home, {
    ".pi/agent/settings.json": JSON.stringify({
      packages: ["npm:a@1", "./local", { source: "npm:b", skills: [] }, {}],
    }),
  });
  const options = { home, agentDir, entries: ["npm:a"], ids: systemIds };
  expect(await findPiPackages(options)).toEqual([join(home, ".pi/agent/local"), { source: "npm:b", skills: [] }]);
  expect(await takePiPackagesNotice(options)).toMatch(/local, npm:b\. To look .* tau install --from-pi$/);
  expect(await takePiPackagesNotice(options)).toBe(undefined);
  expect(await takePiPackagesNotice({ ...options, entries: [] })).toContain(": npm:a@1. To look");
  expect(await findPiPackages({ ...options, agentDir: join(home, ".pi", "agent") })).toEqual([]);
});

test("packages of pi are named once by programs that start together", async () => {
  const { root: home, agentDir } = await createWorkspace();
  await writeFiles(home, { ".pi/agent/settings.json": JSON.stringify({ packages: ["npm:a"] }) });
  const options = { home, agentDir, entries: [], ids: systemIds };
  const notices = await Promise.all([takePiPackagesNotice(options), takePiPackagesNotice(options)]);
  expect(notices.filter((notice) => notice !== undefined)).toHaveLength(1);
});

test("extensions of packages are found with the others, and what is missing is a problem", async () => {
  const workspace = await createWorkspace();
  const { agentDir, cwd, root } = workspace;
  await writeFiles(root, {
    "tau/extensions/own.ts": "",
    "pack/extensions/one.ts": "",
    "pack/extensions/two.ts": "",
    "single.ts": "",
    "project/.tau/extensions/theirs.ts": "",
    "tau/settings.json": JSON.stringify({ packages: ["../pack", "../single.ts", "npm:gone"] }),
  });
  const find = async (isTrusted: boolean, includesUntrusted = false) => {
    const settings = await open(workspace, isTrusted);
    const { extensions, problems } = await findExtensions({ cwd, agentDir, settings, includesUntrusted });
    return [
      ...extensions.map(({ source, state }) => `${source.name} ${state}`),
      ...problems.map(({ extension }) => extension),
    ];
  };
  const mine = ["own trusted", `${root}/pack/one pending`, `${root}/pack/two pending`, `${root}/single.ts pending`];
  expect(await find(false)).toEqual([...mine, "npm:gone"]);
  expect(await find(false, true)).toEqual([...mine, "theirs pending", "npm:gone"]);
  expect(await find(true)).toEqual([...mine, "theirs acknowledged", "npm:gone"]);
});

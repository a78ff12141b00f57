/** Extensions that npm installed for the user, in a directory of npm's that this test makes. */
import { mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openSettings } from "@tau/config/trust";
import { askGlobalPackages } from "../src/hosting/ask-global-packages.ts";
import { createIo, createModelWorkspace, run, textReply, type Workspace } from "./kit.ts";

afterEach(() => void vi.unstubAllEnvs());

/** An extension that says that it runs. */
const source = (name: string) =>
  `export default function (pi) { pi.registerCommand("${name}", { handler: async () => {} }); }\n`;

async function writePackage(directory: string, name: string, manifest: object): Promise<string> {
  const root = join(directory, name);
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "package.json"), JSON.stringify({ name, version: "1.0.0", ...manifest }));
  await writeFile(join(root, "index.ts"), source(name));
  return root;
}

async function start() {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok"), textReply("ok")]);
  const prefix = join(workspace.directory, "prefix");
  const modules = join(prefix, "lib", "node_modules");
  vi.stubEnv("npm_config_prefix", prefix);
  vi.stubEnv("NODE_PATH", "");
  const pi = { pi: { extensions: ["index.ts"] } };
  await writePackage(modules, "global-pi", pi);
  await writePackage(modules, "@acme/global-tau", { tau: { extensions: ["index.ts"] } });
  await writePackage(modules, "plain", {});
  const linked = await writePackage(join(workspace.directory, "work"), "linked", { ...pi, keywords: ["pi-package"] });
  await symlink(linked, join(modules, "linked"));
  return { ...workspace, modules };
}

const list = async (workspace: Workspace) => {
  const { out } = await run(workspace, ["extensions", "list", "--json"]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { name: string; state: string })
    .filter(({ name }) => name.startsWith("npm-global:"))
    .map(({ name, state }) => `${name} ${state}`);
};

test("print mode names them, and does not load them before the user has answered", async () => {
  const workspace = await start();
  expect((await list(workspace)).sort()).toEqual([
    "npm-global:@acme/global-tau pending",
    "npm-global:global-pi pending",
    "npm-global:linked pending",
  ]);
  const { code, out, err } = await run(workspace, ["-p", "Go"]);
  expect([code, out]).toEqual([0, "ok\n"]);
  for (const name of ["@acme/global-tau", "global-pi", "linked"])
    expect(err).toContain(`tau extensions trust npm-global:${name}`);
  expect(err).not.toContain("plain");
  expect((await run(workspace, ["extensions", "trust", "npm-global:global-pi"])).code).toBe(0);
  expect(await list(workspace)).toContain("npm-global:global-pi trusted");
  expect((await run(workspace, ["-p", "Go"])).err).not.toContain("npm-global:global-pi");
  expect((await run(workspace, ["-ne", "-p", "Go"])).err).toBe("");
});

test("what was found is remembered until npm changes its directory", async () => {
  const workspace = await start();
  await list(workspace);
  const cache = join(workspace.agentDir, "cache", "global-packages.json");
  const before = await readFile(cache, "utf8");
  // The directory of npm is as it was, so no package is read again.
  await writeFile(join(workspace.modules, "plain", "package.json"), JSON.stringify({ name: "plain", pi: {} }));
  expect(await list(workspace)).toHaveLength(3);
  expect(await readFile(cache, "utf8")).toBe(before);
  await writePackage(workspace.modules, "later", { pi: { extensions: ["index.ts"] } });
  await utimes(workspace.modules, 1, 1);
  expect(await list(workspace)).toContain("npm-global:later pending");
  await writeFile(cache, "damaged");
  expect(await list(workspace)).toContain("npm-global:later pending");
});

const terminal = { input: true, err: true };

test.each([
  ["y\n", "acknowledged"],
  ["\n", "killed"],
])("the answer %j at a terminal is asked for once, and makes them %s", async (input, state) => {
  const workspace = await start();
  const { agentDir, directory: cwd } = workspace;
  const settings = await openSettings({ cwd, agentDir, watch: false });
  const ask = async () => {
    const { io, written } = createIo(workspace, { input, terminal });
    await askGlobalPackages(io, { cwd, agentDir, settings });
    return written.err;
  };
  expect(await ask()).toContain('"npm-global:global-pi"');
  expect(await list(workspace)).toContain(`npm-global:global-pi ${state}`);
  expect(await list(workspace)).toContain(`npm-global:linked ${state}`);
  expect(await ask()).toBe("");
  await settings.close();
});

/** Packages that are named on the command line for one run. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { getPathWithNpm } from "../../config/test/installs/cached-npm.ts";
import { createRepository } from "../../config/test/installs/kit.ts";
import { type PublishOptions, type Registry, startRegistry } from "../../config/test/installs/registry.ts";
import { createModelWorkspace, type ModelWorkspace, run, type RunOptions, textReply } from "./kit.ts";

interface PackageWorkspace extends ModelWorkspace {
  registry: Registry;
  env: Record<string, string>;
}

async function create(): Promise<PackageWorkspace> {
  const [workspace, registry] = await Promise.all([createModelWorkspace([textReply("ok")]), startRegistry()]);
  const home = workspace.directory;
  const env = {
    PATH: getPathWithNpm(),
    npm_config_cache: join(home, "cache"),
    npm_config_userconfig: join(home, "npmrc"),
    npm_config_registry: registry.url,
    npm_config_fetch_retries: "0",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  return { ...workspace, registry, env };
}

const files = {
  "extensions/a.ts": `export default (tau) => {
    globalThis.namedPackageRan = true;
    tau.registerFlag("shout", { type: "boolean" });
    tau.on("input", ({ text }) => ({ action: "transform", text: text + " by the package " + tau.getFlag("shout") }));
  };`,
  "skills/knot/SKILL.md": "---\nname: knot\ndescription: Ties knots\n---\nTie it.",
};
const hasRun = (): boolean => "namedPackageRan" in globalThis;
afterEach(() => void Reflect.deleteProperty(globalThis, "namedPackageRan"));

/** A person at a terminal, who types one answer. */
const typing = (answer: string): RunOptions => ({
  input: Readable.from([Buffer.from(`${answer}\n`)]),
  terminal: { input: true, err: true },
});

const runIn = (workspace: PackageWorkspace, args: string[], options: RunOptions = {}) =>
  run(workspace, args, { ...options, env: workspace.env });

const getRequest = ({ server }: PackageWorkspace): string => JSON.stringify(server.requests.at(-1)?.body ?? null);

async function expectNothingKept(workspace: PackageWorkspace): Promise<void> {
  for (const name of ["npm", "git", "packages-lock.json"])
    expect(existsSync(join(workspace.agentDir, name))).toBe(false);
  const settings = await readFile(join(workspace.agentDir, "settings.json"), "utf8");
  expect(JSON.parse(settings)).toEqual({ defaultModel: "acme/small" });
}

describe("-e with the source of a package", () => {
  test("shows what it brings and asks; the answer counts for this run, and nothing is installed", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files });
    const { code, err } = await runIn(workspace, ["-e", "npm:pack", "--shout", "-p", "Go"], typing("t"));
    expect(err).toMatch(/npm:pack 1\.0\.0 brings:\n {2}extensions +extensions\/a\.ts\n {2}skills +skills\/knot/);
    expect(code).toBe(0);
    expect(getRequest(workspace)).toContain("Go by the package true");
    expect(getRequest(workspace)).toContain("Ties knots");
    await expectNothingKept(workspace);
    expect((await runIn(workspace, ["extensions", "list"])).out).toBe("There are no extensions.\n");
  });

  test("runs nothing of it if the user does not agree", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files });
    expect(await runIn(workspace, ["-e", "npm:pack", "-p", "Go"], typing("n"))).toMatchObject({ code: 1, out: "" });
    expect(workspace.server.requests).toHaveLength(0);
    expect(hasRun()).toBe(false);
  });

  test("does not run it in this process where nobody can be asked", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files });
    const { code, err } = await runIn(workspace, ["-e", "npm:pack", "-p", "Go"], { input: "" });
    expect(code).toBe(0);
    expect(err).toContain("npm:pack: It would run in a process of its own");
    expect(hasRun()).toBe(false);
    expect(getRequest(workspace)).not.toContain("by the package");
  });

  test("a repository is fetched in the same way", async () => {
    const workspace = await create();
    const place = { root: workspace.directory, cwd: workspace.directory, agentDir: workspace.agentDir };
    const repository = await createRepository({ ...place, env: { ...workspace.env, HOME: workspace.directory } });
    await repository.commit({
      "extensions/a.ts": `export default (tau) => tau.on("input", () => ({ action: "transform", text: "From git." }));`,
    });
    const { code } = await runIn(workspace, ["-e", repository.url, "-p", "Go"], typing("t"));
    expect(code).toBe(0);
    expect(getRequest(workspace)).toContain("From git.");
    await expectNothingKept(workspace);
  });

  test("what was turned off stays so", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files });
    await runIn(workspace, ["install", "npm:pack", "--trust"]);
    await runIn(workspace, ["extensions", "kill", "npm:pack"]);
    await runIn(workspace, ["-e", "npm:pack", "-ne", "-p", "Go"], typing("t"));
    expect(hasRun()).toBe(false);
  });

  test.each<[string, string, PublishOptions, RegExp]>([
    ["is too young", "npm:pack", { files, time: new Date().toISOString() }, /packageMinAgeDays/],
    ["does not exist", "npm:nothing", { files }, /npm:nothing: npm failed/],
    ["brings nothing", "npm:pack", { files: { "readme.md": "" } }, /is not a package for tau/],
    ["is not a name", "npm:../pack", { files }, /not the name of an npm package/],
  ])("one that %s is refused, and the run does not begin", async (_why, source, options, message) => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", options);
    const { code, err } = await runIn(workspace, ["-e", source, "-p", "Go"], typing("t"));
    expect(code).not.toBe(0);
    expect(err).toMatch(message);
    expect(workspace.server.requests).toHaveLength(0);
    expect(hasRun()).toBe(false);
  });

  test("a project does not decide how young a release may be", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files, time: new Date().toISOString() });
    await mkdir(join(workspace.directory, ".tau"), { recursive: true });
    await writeFile(join(workspace.directory, ".tau", "settings.json"), JSON.stringify({ packageMinAgeDays: 0 }));
    const { code, err } = await runIn(workspace, ["-a", "-e", "npm:pack", "-p", "Go"], typing("t"));
    expect(code).not.toBe(0);
    expect(err).toContain("packageMinAgeDays");
  });

  test("bytes that are not those that the registry announced are refused", async () => {
    const workspace = await create();
    workspace.registry.publish("pack", "1.0.0", { files });
    workspace.registry.tamper("pack", "1.0.0");
    const { code, err } = await runIn(workspace, ["-e", "npm:pack", "-p", "Go"], typing("t"));
    expect(code).not.toBe(0);
    expect(err).toMatch(/integrity|EINTEGRITY/i);
  });
});

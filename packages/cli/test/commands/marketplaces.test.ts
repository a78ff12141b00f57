/** `tau install`, `update`, `list` and `remove` of marketplaces in Claude Code's form, and of the plugins that they list. */
import { existsSync, readFileSync } from "node:fs";
import { rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createRepository, writeFiles } from "../../../config/test/installs/kit.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run as runProgram, type RunOptions, type Workspace } from "../kit.ts";

const getEnv = ({ directory }: Workspace) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: dirname(directory),
  GIT_CONFIG_NOSYSTEM: "1",
});

const attended: RunOptions = { terminal: { input: true, err: true } };

async function open() {
  const workspace = await createWorkspace();
  const { directory, agentDir } = workspace;
  const env = getEnv(workspace);
  const run = (line: string, options: RunOptions = {}) => runProgram(workspace, line.split(" "), { env, ...options });
  const mustRun = async (line: string, options?: RunOptions) => {
    const outcome = await run(line, options);
    expect(outcome, outcome.err).toMatchObject({ code: exitCodes.done });
    return outcome;
  };
  const createRemote = (name: string) =>
    createRepository({ root: join(dirname(directory), name), cwd: directory, agentDir, env });
  const readJson = (name: string) =>
    JSON.parse(readFileSync(join(agentDir, name), "utf8")) as { packages: Record<string, Record<string, unknown>> };
  return { ...workspace, run, mustRun, createRemote, readJson };
}

const toMarketplace = (plugins: readonly unknown[], name = "tools") => ({
  ".claude-plugin/marketplace.json": JSON.stringify({ name, owner: { name: "Owner" }, plugins }),
});

const review = { name: "review", source: "./plugins/review", description: "Reviews" };
const reviewFiles = {
  "plugins/review/.claude-plugin/plugin.json": JSON.stringify({ name: "review", version: "1.0.0" }),
  "plugins/review/commands/review.md": "Review it.",
  "plugins/review/.mcp.json": JSON.stringify({ docs: { command: "docs" } }),
  "plugins/review/hooks/hooks.json": JSON.stringify({ hooks: { Stop: [{ hooks: [] }] } }),
};

test("a marketplace is stored at its commit and content, and only lists: nothing that it names is fetched", async () => {
  const { mustRun, createRemote, readJson, directory } = await open();
  const { url, commit } = await createRemote("market");
  const plugins = [
    review,
    { name: "hub", source: { source: "github", repo: "example/hub", ref: "v2" } },
    {
      name: "sub",
      source: { source: "git-subdir", url: "https://example.org/mono.git", path: "tools/sub", sha: "1".repeat(40) },
    },
    { name: "npm", source: { source: "npm", package: "@example/plugin", version: "1.0.0" } },
    { name: "escape", source: "./../../etc" },
    { name: "\u001b[2Jodd", source: "./odd" },
    { name: "odd", source: { source: "github", repo: "--upload-pack=x" }, description: "\u001b[2Jcleared" },
    "nonsense",
  ];
  // The directories of a marketplace belong to its plugins.
  const resolved = await commit({ ...toMarketplace(plugins), ...reviewFiles, "skills/s/SKILL.md": "---\n---\n" });
  const { err, out } = await mustRun(`install ${url} --yes`);
  expect(err).toContain(`${url} ${resolved} is the marketplace tools, which only lists plugins:\n`);
  expect(err).toContain("  review (Reviews): its directory plugins/review\n");
  expect(err).toContain("  hub: git:github.com/example/hub@v2\n");
  expect(err).toContain(`  sub: git:https://example.org/mono.git@${"1".repeat(40)}, directory tools/sub\n`);
  expect(err).toContain("  npm: npm:@example/plugin@1.0.0\n");
  expect(err).toContain("  escape: tau cannot fetch its source\n");
  expect(err).toContain("  odd (\\u001b[2Jcleared): tau cannot fetch its source\n");
  expect(err).not.toContain("\u001b");
  expect(err).not.toContain("skills");
  expect(out).toContain("To install a plugin that it lists: tau install NAME@tools\n");
  const [[, locked] = []] = Object.entries(readJson("packages-lock.json").packages);
  expect(locked).toMatchObject({ source: url, resolved, digest: expect.stringMatching(/^sha256-/) as string });
  const listed = await mustRun("list");
  expect(listed.err).toBe("");
  expect(listed.out).toContain("lists 6 plugins as @tools");
  const [row] = (await mustRun("list --json")).out.trim().split("\n");
  expect(JSON.parse(row!)).toMatchObject({
    skills: [],
    marketplace: "tools",
    plugins: [{ name: "review" }, {}, {}, {}, {}, {}],
  });
  expect(existsSync(join(directory, "plugin"))).toBe(false);
});

test("a plugin of a marketplace is fetched at the commit that is stored, without what is beside it", async () => {
  const { mustRun, run, createRemote, readJson, agentDir } = await open();
  const { url, commit } = await createRemote("market");
  const resolved = await commit({ ...toMarketplace([review]), ...reviewFiles });
  await mustRun(`install ${url} --yes`);
  await commit({ "plugins/review/commands/review.md": "Changed since." });
  const unanswered = await run("install review@tools");
  expect(unanswered.code).toBe(exitCodes.usage);
  const { err, out } = await mustRun("install review@tools", { ...attended, input: "y\n" });
  expect(err).toContain("  prompts      commands/review.md\n");
  expect(err).toContain("  servers      docs (you are asked before the first start)\n");
  expect(out).toContain(`Installed plugin:review@tools ${resolved}.`);
  const { "plugin:review@tools": locked } = readJson("packages-lock.json").packages;
  expect(locked).toMatchObject({ source: "review@tools", resolved, plugin: { path: "plugins/review" } });
  const root = join(agentDir, "plugin", "tools", `review@${resolved.slice(0, 12)}`);
  expect(readFileSync(join(root, "commands", "review.md"), "utf8")).toBe("Review it.");
  expect(existsSync(join(root, "plugins"))).toBe(false);
  // Without the marketplace, and exactly as the lock has it.
  await mustRun(`remove ${url}`);
  await rm(root, { recursive: true });
  expect((await run("list")).err).toContain("The files of the package review@tools are missing");
  await mustRun("install --yes");
  expect(readFileSync(join(root, "commands", "review.md"), "utf8")).toBe("Review it.");
  await mustRun("remove review@tools");
  expect(existsSync(join(agentDir, "plugin"))).toBe(false);
  expect(existsSync(join(agentDir, "packages-lock.json"))).toBe(false);
});

test("tau update shows what a marketplace and its plugins change before it asks", async () => {
  const { mustRun, run, createRemote, readJson } = await open();
  const { url, commit, git, directory } = await createRemote("market");
  const gone = { name: "gone", source: { source: "github", repo: "example/gone" } };
  const still = { name: "still", source: "./plugins/still" };
  const stillFiles = { "plugins/still/commands/still.md": "Still." };
  await commit({ ...toMarketplace([review, gone, still]), ...reviewFiles, ...stillFiles });
  await mustRun(`install ${url} --yes`);
  await mustRun("install review@tools still@tools --yes");
  expect((await mustRun("update --yes")).err).toContain("All packages are up to date.");
  const before = readJson("packages-lock.json");
  git("rm", "--quiet", "plugins/review/commands/review.md");
  const added = { name: "added", source: { source: "npm", package: "added" } };
  const resolved = await commit({
    ...toMarketplace([review, added, still]),
    "plugins/review/commands/audit.md": "Audit it.",
    "plugins/review/.mcp.json": JSON.stringify({ docs: { command: "other" } }),
    "plugins/review/hooks/hooks.json": JSON.stringify({ hooks: { Stop: [{ hooks: [1] }], PreToolUse: [{}] } }),
  });
  expect(existsSync(directory)).toBe(true);
  const declined = await run("update", { ...attended, input: "n\n" });
  expect(declined.err).toContain("  plugins      added added; changed review; removed gone\n");
  expect(readJson("packages-lock.json")).toEqual(before);
  // One question for the list, and one for what follows from it.
  const { err } = await mustRun("update", { ...attended, input: "y\ny\n" });
  const [, ofPlugin] = err.split("review@tools ");
  expect(ofPlugin).toContain("What changes:\n");
  expect(ofPlugin).toContain("  hooks        added PreToolUse; changed Stop\n");
  expect(ofPlugin).toContain("  servers      changed docs\n");
  expect(ofPlugin).toContain(
    "  files        added commands/audit.md; changed .mcp.json, hooks/hooks.json; removed commands/review.md\n",
  );
  const { packages } = readJson("packages-lock.json");
  expect(packages["plugin:review@tools"]).toMatchObject({ resolved });
  // Nothing of it changed.
  expect(packages["plugin:still@tools"]).toEqual(before.packages["plugin:still@tools"]);
  expect(err).not.toContain("still@tools");
});

test("a plugin that its marketplace does not list any more stays, and is named", async () => {
  const { mustRun, run, createRemote, readJson } = await open();
  const { url, commit } = await createRemote("market");
  await commit({ ...toMarketplace([review]), ...reviewFiles });
  await mustRun(`install ${url} --yes`);
  await mustRun("install review@tools --yes");
  await commit(toMarketplace([]));
  const { code, err } = await run("update --yes");
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain('The marketplace tools lists no plugin "review".');
  expect(Object.keys(readJson("packages-lock.json").packages)).toContain("plugin:review@tools");
  const removed = await mustRun(`remove ${url}`);
  expect(removed.err).toContain("Its plugins stay installed, and are not updated any more: review@tools\n");
  const missing = await run("install review@tools --yes");
  expect(missing.err).toContain('There is no marketplace "tools".');
});

test("a plugin in another repository, and one that the marketplace describes itself", async () => {
  const { mustRun, createRemote, readJson, agentDir } = await open();
  const other = await createRemote("other");
  const commit = await other.commit({ "tools/x/skills/x/SKILL.md": "---\nname: x\ndescription: d\n---\n" });
  const market = await createRemote("market");
  const address = other.url.slice("git:".length);
  const plugins = [
    { name: "x", source: { source: "git-subdir", url: address, path: "tools/x" } },
    { name: "parts", source: "./", strict: false, skills: ["./skills/a"], mcpServers: { a: { command: "a" } } },
  ];
  const skill = (name: string) => ({ [`skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: d\n---\n` });
  await market.commit({ ...toMarketplace(plugins), ...skill("a"), ...skill("b") });
  await mustRun(`install ${market.url} --yes`);
  const { err } = await mustRun("install x@tools parts@tools --yes");
  expect(err).toContain("  skills       skills/x/SKILL.md\n");
  expect(err).toContain("  skills       skills/a/SKILL.md\n");
  expect(err).toContain("  servers      a (you are asked before the first start)\n");
  expect(readJson("packages-lock.json").packages).toMatchObject({
    "plugin:x@tools": { resolved: commit, plugin: { path: "tools/x", manifest: { name: "x" } } },
    "plugin:parts@tools": { plugin: { path: "", manifest: { strict: false } } },
  });
  await rm(join(agentDir, "plugin"), { recursive: true });
  await mustRun("install --yes");
  const rows = (await mustRun("list --json")).out
    .trim()
    .split("\n")
    .map((row) => JSON.parse(row) as { id: string });
  const parts = rows.find(({ id }) => id === "plugin:parts@tools");
  // Its repository is a marketplace, and it is none.
  expect(parts).toMatchObject({ skills: [expect.stringContaining("skills/a")], servers: ["a"] });
  expect(parts).not.toHaveProperty("marketplace");
});

test("a plugin that is a marketplace too is both", async () => {
  const { mustRun, createRemote } = await open();
  const { url, commit } = await createRemote("market");
  const manifest = JSON.stringify({ name: "own" });
  const plugins = [{ name: "own", source: "./" }, review];
  const own = { ".claude-plugin/plugin.json": manifest, "commands/own.md": "Own." };
  const resolved = await commit({ ...toMarketplace(plugins), ...reviewFiles, ...own });
  const { err } = await mustRun(`install ${url} --yes`);
  expect(err).toContain(`${url} ${resolved} brings:\n  prompts      commands/own.md\nIt is the marketplace tools, `);
  await mustRun("install review@tools --yes");
  expect((await mustRun("list")).out).toContain("1 prompts, lists 2 plugins as @tools");
});

test("the plugins of a directory on this machine are used where they are", async () => {
  const { mustRun, run, directory, agentDir } = await open();
  const plugins = [review, { name: "out", source: "./plugins/out" }];
  const files = { ...toMarketplace(plugins), ...reviewFiles };
  for (const [name, content] of Object.entries(files)) await writeFiles(join(directory, "market"), { [name]: content });
  await writeFiles(directory, { "outside/commands/out.md": "Out." });
  await symlink(join(directory, "outside"), join(directory, "market", "plugins", "out"));
  await mustRun("install ./market --yes");
  const { out } = await mustRun("install review@tools --yes");
  expect(out).toContain(`Installed ${join(directory, "market", "plugins", "review")}.`);
  const escaped = await run("install out@tools --yes");
  expect(escaped.err).toContain("The plugin out of the marketplace tools is not in the directory of the marketplace.");
  expect(existsSync(join(agentDir, "packages-lock.json"))).toBe(false);
});

test("a second marketplace of the same name is refused, and a name that nothing has", async () => {
  const { mustRun, run, createRemote, readJson } = await open();
  const [first, second] = [await createRemote("market"), await createRemote("shadow")];
  await first.commit({ ...toMarketplace([review]), ...reviewFiles });
  await second.commit({ ...toMarketplace([review]), ...reviewFiles });
  await mustRun(`install ${first.url} --yes`);
  const { code, err } = await run(`install ${second.url} --yes`);
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain("There is a marketplace tools already, from git:file/");
  expect(Object.keys(readJson("packages-lock.json").packages)).toHaveLength(1);
  expect((await run("install revew@tools --yes")).err).toContain("review");
  expect((await run("install review@tool --yes")).err).toContain('There is no marketplace "tool".');
});

test.each<[name: string, prepare: (directory: string) => Promise<void>, message: string]>([
  [
    "is a link out of its repository",
    async (directory) => symlink("/etc", join(directory, "plugins")),
    "The repository has no directory",
  ],
  [
    "has a link to what is beside it",
    async (directory) => {
      await writeFiles(directory, { "secret.md": "s", "plugins/review/commands/a.md": "a" });
      await symlink("../../../secret.md", join(directory, "plugins", "review", "commands", "linked.md"));
    },
    "is a link that leads",
  ],
  [
    "has a link where its manifest would be written",
    async (directory) => {
      await writeFiles(directory, { "plugins/review/commands/a.md": "a" });
      await symlink("/tmp", join(directory, "plugins", "review", ".claude-plugin"));
    },
    "is a link that leads out of it",
  ],
  [
    "has a file where its manifest would be written",
    async (directory) => writeFiles(directory, { "plugins/review/.claude-plugin": "x" }),
    "its .claude-plugin is not a directory",
  ],
  ["is not there", async () => {}, "The repository has no directory"],
  [
    "brings nothing but another marketplace",
    async (directory) =>
      writeFiles(join(directory, "plugins", "review"), toMarketplace([{ name: "again", source: "./" }], "again")),
    "is not a package for tau",
  ],
])("a plugin that %s is refused", async (_name, prepare, message) => {
  const { mustRun, run, createRemote, readJson } = await open();
  const [market, hostile] = [await createRemote("market"), await createRemote("hostile")];
  await prepare(hostile.directory);
  await hostile.commit({ "README.md": "Hostile." });
  const source = { source: "git-subdir", url: hostile.url.slice("git:".length), path: "plugins/review" };
  await market.commit(toMarketplace([{ ...review, source }]));
  await mustRun(`install ${market.url} --yes`);
  const { code, err } = await run("install review@tools --yes");
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain(message);
  expect(Object.keys(readJson("packages-lock.json").packages)).toHaveLength(1);
});

/** `tau install` of plugins and marketplaces in Claude Code's form. */
import { existsSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { expect, test } from "vitest";
import { createRepository, writeFiles } from "../../../config/test/installs/kit.ts";
import { loadPromptTemplates } from "../../../config/src/resources/prompt-templates.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run as runProgram, type RunOptions, type Workspace } from "../kit.ts";

const require = createRequire(import.meta.url);
const memory = join(dirname(require.resolve("@modelcontextprotocol/server-memory/package.json")), "dist", "index.js");

const getEnv = ({ directory }: Workspace) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: dirname(directory),
  GIT_CONFIG_NOSYSTEM: "1",
});
const run = (workspace: Workspace, line: string) => runProgram(workspace, line.split(" "), { env: getEnv(workspace) });

const command =
  "---\ndescription: Deploys\nallowed-tools: Bash(*)\nmodel: opus\n---\nDeploy $1. State: !`git status`\n";

const plugin = {
  ".claude-plugin/plugin.json": JSON.stringify({
    name: "shipping",
    version: "1.2.0",
    commands: ["./extra/release.md", "../outside.md"],
    mcpServers: "./servers.json",
    hooks: { hooks: { Stop: [] } },
  }),
  "commands/deploy.md": command,
  "extra/release.md": "Release",
  "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes\n---\n",
  "agents/reviewer.md": "Review",
  "hooks/hooks.json": JSON.stringify({ hooks: { PreToolUse: [] } }),
  "servers.json": JSON.stringify({ mcpServers: { docs: { command: "npx" } } }),
  "index.js": "throw new Error('a script of a hook is no extension');",
};

const withPrefix = (prefix: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${prefix}/${path}`, text]));

test("a plugin brings its skills, commands, agents and servers; hooks are listed; nothing of it leads out", async () => {
  const workspace = await createWorkspace();
  await writeFiles(workspace.directory, { ...withPrefix("ship", plugin), "outside.md": "secret" });
  await symlink(join(workspace.directory, "outside.md"), join(workspace.directory, "ship", "commands", "linked.md"));
  const { code, err, out } = await run(workspace, "install ./ship --yes");
  expect(code).toBe(exitCodes.done);
  expect(err).toContain("  skills       skills/notes/SKILL.md\n");
  expect(err).toContain("  prompts      commands/deploy.md, extra/release.md\n");
  expect(err).toContain("  agents       agents/reviewer.md\n");
  expect(err).toContain("  hooks        PreToolUse, Stop (not used: tau cannot run them yet)\n");
  expect(err).toContain("  servers      docs (you are asked before the first start)\n");
  expect(err).not.toMatch(/outside|linked|index\.js/);
  expect(out).toMatch(/^Installed .*ship\.\n$/);
  // Its servers stay where they are.
  expect(existsSync(join(workspace.agentDir, "mcp.json"))).toBe(false);
  const listed = await run(workspace, "list --json");
  expect(JSON.parse(listed.out)).toMatchObject({
    extensions: [],
    skills: [expect.stringContaining("notes")],
    agents: [expect.stringMatching(/agents\/reviewer\.md$/)],
  });
  expect((await run(workspace, "extensions list --json")).out).not.toContain("ship");
});

test("the front matter of a command grants nothing, and its commands do not run", async () => {
  const workspace = await createWorkspace();
  await writeFiles(workspace.directory, withPrefix("ship", plugin));
  const { value, problems } = await loadPromptTemplates({
    fileSystem: nodeFileSystem,
    roots: [join(workspace.directory, "ship", "commands")],
  });
  expect(problems).toEqual([]);
  // The text of the inline command stays text.
  expect(value).toMatchObject([{ name: "deploy", description: "Deploys", content: "Deploy $1. State: !`git status`" }]);
  expect(value[0]).not.toHaveProperty("allowedTools");
});

test("a plugin of a repository is pinned to its commit and content, and tau update shows what changed", async () => {
  const workspace = await createWorkspace();
  const { directory, agentDir } = workspace;
  const root = dirname(directory);
  const { url, commit } = await createRepository({ root, cwd: directory, agentDir, env: getEnv(workspace) });
  const first = await commit(plugin);
  expect((await run(workspace, `install ${url} --yes`)).code).toBe(exitCodes.done);
  const readLock = () => readFileSync(join(agentDir, "packages-lock.json"), "utf8");
  expect(readLock()).toContain(first);
  expect(readLock()).toMatch(/"digest"/);
  const second = await commit({ "commands/later.md": "Later" });
  const updated = await run(workspace, "update --yes");
  expect(updated.err).toContain(`${second} (was ${first}) brings:`);
  expect(updated.err).toContain("commands/later.md");
});

test("a plugin of a repository with nothing but a server is installed, and its server runs after an answer", async () => {
  const workspace = await createWorkspace();
  const { directory, agentDir } = workspace;
  const root = dirname(directory);
  const { url, commit } = await createRepository({ root, cwd: directory, agentDir, env: getEnv(workspace) });
  const server = { command: process.execPath, args: ["${CLAUDE_PLUGIN_ROOT}/server.mjs"] };
  await commit({
    ".claude-plugin/plugin.json": JSON.stringify({ name: "notes" }),
    ".mcp.json": JSON.stringify({ notes: server }),
    "server.mjs": `await import(${JSON.stringify(memory)});`,
  });
  const installed = await run(workspace, `install ${url} --yes`);
  expect(installed.err).toContain("  servers      notes (you are asked before the first start)\n");
  expect(installed.code).toBe(exitCodes.done);
  const runMcp = (options: RunOptions) =>
    runProgram(workspace, ["mcp", "list"], { env: getEnv(workspace), ...options });
  const unattended = await runMcp({ input: "" });
  expect(unattended.code).toBe(exitCodes.failed);
  expect(unattended.out).toContain("notes: failed");
  expect(unattended.out).toContain("nobody has allowed it yet");
  const attended = await runMcp({ input: "y\n", terminal: { input: true, err: true } });
  expect(attended.err).toContain("Start the MCP server notes?");
  expect(attended.out).toMatch(/^notes: connected\n.*\/server\.mjs, from the package .*\n {2}tools: create_entities, /);
  expect(attended.code).toBe(exitCodes.done);
  // The answer was for this content.
  expect((await runMcp({ input: "" })).code).toBe(exitCodes.done);
  await commit({ "server.mjs": "process.exit(1);" });
  await run(workspace, "update --yes");
  expect((await runMcp({ input: "" })).out).toContain("nobody has allowed it yet");
});

test("damaged manifests are as if they were not there", async () => {
  const workspace = await createWorkspace();
  const files = {
    ".claude-plugin/plugin.json": "{",
    ".claude-plugin/marketplace.json": "[]",
    "skills/s/SKILL.md": "s",
  };
  await writeFiles(workspace.directory, withPrefix("odd", files));
  const { code, err } = await run(workspace, "install ./odd --yes");
  expect(code).toBe(exitCodes.done);
  expect(err).toContain("skills/s/SKILL.md");
});

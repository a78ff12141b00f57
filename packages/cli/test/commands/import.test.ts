/** `tau import`: shows what it found, asks about each kind, and brings it over once. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createRepository } from "../../../config/test/installs/kit.ts";
import { createWorkspace, run, type RunOptions } from "../kit.ts";

const samples = join(import.meta.dirname, "..", "..", "..", "harness", "test", "imports", "samples");

async function createHome() {
  const workspace = await createWorkspace();
  const home = join(workspace.directory, "home");
  const write = (path: string, content: string | object) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  cpSync(join(samples, "claude-code"), join(home, ".claude"), { recursive: true });
  cpSync(join(samples, "codex"), join(home, ".codex"), { recursive: true });
  write(".codex/config.toml", 'model = "gpt-5"\nsandbox_mode = "read-only"\n[mcp_servers.docs]\ncommand = "npx"\n');
  write(".codex/auth.json", { OPENAI_API_KEY: "sk-test" });
  write(".claude/CLAUDE.md", "Be kind.");
  write(".claude/settings.json", { hooks: { Stop: [] } });
  write(".pi/agent/extensions/hello.ts", "export default () => {};\n");
  const tau = (args: readonly string[], options: RunOptions = {}) =>
    run(workspace, ["import", ...args], { ...options, env: { HOME: home } });
  const list = () => (existsSync(workspace.agentDir) ? readdirSync(workspace.agentDir).toSorted() : []);
  const readJson = (name: string) => JSON.parse(readFileSync(join(workspace.agentDir, name), "utf8")) as unknown;
  return { ...workspace, home, write, tau, list, readJson };
}

/** Answers each question as it appears; undefined closes the input. */
function answering(answers: readonly (string | undefined)[]): RunOptions {
  const input = new Readable({ read() {} });
  let asked = 0;
  return {
    input,
    terminal: { input: true, err: true },
    onErr(err) {
      const count = err.split("[y/N] ").length - 1 + err.split("[N] no ").length - 1;
      while (asked < count) {
        const answer = answers[asked++];
        // Later, since this is called while the question is written.
        setImmediate(() => input.push(answer === undefined ? null : `${answer}\n`));
      }
    },
  };
}

test("--dry-run shows what would come, what would not and why, and changes nothing", async () => {
  const home = await createHome();
  const { code, out, err } = await home.tau(["--dry-run"]);
  expect([code, err]).toEqual([exitCodes.done, ""]);
  expect(out).toMatch(/^An import would bring:\n/);
  expect(out).toMatch(/ sessions +1 of Claude Code .*; 1 of codex /);
  expect(out).toMatch(/ settings +model \(codex\)\n/);
  expect(out).toMatch(/ packages and extensions +hello\.ts \(pi\)\n/);
  expect(out).toMatch(/ MCP servers +docs \(codex\)\n/);
  expect(out).toContain('Claude Code, hooks: Stop stays where it is: the setting claudeHooks "all" reads it there.\n');
  expect(out).toContain("codex, keys and logins: openai is brought only if you name it: --keys codex/openai.\n");
  expect(out).not.toContain("sk-test");
  expect(home.list()).toEqual([]);
});

test("--yes brings everything but keys, under our lock, and a second time nothing", async () => {
  const home = await createHome();
  const { code, out } = await home.tau(["--yes"]);
  expect(code).toBe(exitCodes.done);
  expect(out).toContain("Sessions: 2 imported.\n");
  expect(home.readJson("settings.json")).toMatchObject({
    defaultProvider: "openai",
    defaultModel: "gpt-5",
    packages: [expect.stringContaining("hello.ts")],
  });
  expect(home.readJson("mcp.json")).toEqual({ mcpServers: { docs: { command: "npx" } } });
  expect(readFileSync(join(home.agentDir, "AGENTS.md"), "utf8")).toBe("Be kind.");
  expect(existsSync(join(home.agentDir, "auth.json"))).toBe(false);
  const listed = await run(home, ["sessions", "list", "--all", "--json"], { env: { HOME: home.home } });
  for (const id of ["8588677f-52e7", "01a1ec68-3829"]) expect(listed.out).toContain(id);
  const extensions = await run(home, ["extensions", "list", "--json"], { env: { HOME: home.home } });
  // Installed, but not trusted to run as the user.
  expect(extensions.out).toContain('"acknowledged"');
  const again = await home.tau(["--yes"]);
  expect(again.code).toBe(exitCodes.done);
  expect(again.err).toContain("There is nothing new to import.\n");
  expect(again.out).not.toContain("imported");
});

test("plugins of Claude Code come from their marketplaces, under our lock, once", async () => {
  const home = await createHome();
  const env = { PATH: process.env["PATH"] ?? "", HOME: home.home, GIT_CONFIG_NOSYSTEM: "1" };
  const { url, commit } = await createRepository({
    root: join(home.directory, "remote"),
    cwd: home.directory,
    agentDir: home.agentDir,
    env,
  });
  await commit({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "tools",
      plugins: [{ name: "review", source: "./review" }],
    }),
    "review/commands/review.md": "Review it.",
  });
  home.write(".claude/settings.json", { enabledPlugins: { "review@tools": true } });
  home.write(".claude/plugins/known_marketplaces.json", {
    tools: { source: { source: "git", url: url.slice("git:".length) } },
  });
  const bring = () => run(home, ["import", "--from", "claude-code", "--yes"], { env });
  const { code, err } = await bring();
  expect(code, err).toBe(exitCodes.done);
  expect(err).toContain("  prompts      commands/review.md\n");
  expect(home.readJson("settings.json")).toMatchObject({ packages: [url, "review@tools"] });
  expect(home.readJson("packages-lock.json")).toMatchObject({
    packages: { "plugin:review@tools": { digest: expect.any(String) as string } },
  });
  expect((await bring()).err).toContain("There is nothing new to import.\n");
});

test("plugins of a marketplace that is a directory are installed from there, once", async () => {
  const home = await createHome();
  const market = join(home.home, "market");
  home.write("market/.claude-plugin/marketplace.json", {
    name: "mine",
    plugins: [{ name: "review", source: "./review" }],
  });
  home.write("market/review/.claude-plugin/plugin.json", { name: "review" });
  home.write("market/review/commands/review.md", "Review it.");
  home.write(".claude/settings.json", { enabledPlugins: { "review@mine": true } });
  home.write(".claude/plugins/known_marketplaces.json", { mine: { source: { source: "directory", path: market } } });
  const bring = () => home.tau(["--from", "claude-code", "--yes"]);
  const { code, err } = await bring();
  expect(code, err).toBe(exitCodes.done);
  expect(home.readJson("settings.json")).toMatchObject({ packages: [market, join(market, "review")] });
  expect((await bring()).err).toContain("There is nothing new to import.\n");
});

test("names of other programs do not look like lines of ours", async () => {
  const home = await createHome();
  home.write(".codex/skills/a\n  all is well\u001b[2J/SKILL.md", "---\nname: a\n---\n");
  home.write(".claude/settings.json", { "x\nBrought:\n  y": 1 });
  const { out } = await home.tau(["--dry-run"]);
  expect(out).toContain("a\\n  all is well\\u001b[2J");
  expect(out).toContain("x\\nBrought:\\n  y has no counterpart here");
});

test("each kind is a question, and what was declined stays away", async () => {
  const home = await createHome();
  // Sessions, settings, instructions, packages, servers.
  const { code, out, err } = await home.tau([], answering(["y", "n", "", "n", "yes"]));
  expect(code).toBe(exitCodes.done);
  expect(err.match(/Bring .*?\? /g)).toEqual([
    "Bring sessions (2) of Claude Code and codex? ",
    "Bring settings (1) of codex? ",
    "Bring instructions (1) of Claude Code? ",
    "Bring packages and extensions (1) of pi? ",
    "Bring MCP servers (1) of codex? ",
  ]);
  expect(out).toContain("Sessions: 2 imported.\n");
  expect(home.list()).toEqual(["imports.json", "mcp.json", "sessions"]);
});

test("somebody who leaves at a question has changed nothing", async () => {
  const home = await createHome();
  const { code, err } = await home.tau([], answering(["y", undefined]));
  expect(code).toBe(exitCodes.interrupted);
  expect(err).toContain("Nothing was imported.");
  expect(home.list()).toEqual([]);
});

test("keys come by name, into our store, and are never printed", async () => {
  const home = await createHome();
  const { code, out, err } = await home.tau(["--yes", "--from", "codex", "--keys", "codex/openai"]);
  expect(code).toBe(exitCodes.done);
  expect(out + err).not.toContain("sk-test");
  expect(home.readJson("auth.json")).toEqual({ openai: { type: "api_key", key: "sk-test" } });
  expect(out).toMatch(/keys and logins +openai \(codex\)/);
  // Only that program.
  expect(existsSync(join(home.agentDir, "AGENTS.md"))).toBe(false);
});

test("--json has a line for each session and each thing, with its state", async () => {
  const home = await createHome();
  const parse = (out: string) =>
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const planned = parse((await home.tau(["--dry-run", "--json", "--from", "codex", "--from", "claude-code"])).out);
  expect(
    planned
      .filter(({ type }) => type === "session")
      .map(({ tool, state }) => `${String(tool)} ${String(state)}`)
      .toSorted(),
  ).toEqual(["claude-code planned", "codex planned"]);
  expect(planned).toContainEqual(
    expect.objectContaining({ type: "item", kind: "mcp", name: "docs", state: "planned" }),
  );
  expect(planned).toContainEqual(
    expect.objectContaining({ kind: "hooks", name: "Stop", state: "left", reason: expect.any(String) }),
  );
  const { out, err } = await home.tau(["--yes", "--json"]);
  expect(err).not.toContain("Found");
  const lines = parse(out);
  const session = lines.find(({ tool, type }) => type === "session" && tool === "codex")!;
  expect(session).toMatchObject({ state: "imported", entries: 8, notes: [] });
  expect(existsSync(String(session["session"]))).toBe(true);
  expect(lines).toContainEqual(expect.objectContaining({ kind: "packages", name: "hello.ts", state: "brought" }));
  expect(parse((await home.tau(["--yes", "--json"])).out)).toContainEqual(
    expect.objectContaining({ kind: "mcp", name: "docs", state: "present" }),
  );
});

test.each([
  [[], {}, /Without a terminal, an import needs --yes, or --dry-run/],
  [["--dry-run", "--from", "codx"], {}, /tau cannot import from "codx"\. Did you mean "codex"\?/],
  [["--dry-run", "--keys", "cursor/openai"], {}, /tau cannot import from "cursor"\. There are pi, claude-code/],
] as const)("%j is refused", async (args, options, message) => {
  const home = await createHome();
  const { code, err } = await home.tau(args, options);
  expect(code).toBe(exitCodes.usage);
  expect(err).toMatch(message);
});

test("where no other program was used, that is all there is to say", async () => {
  const workspace = await createWorkspace();
  const { code, err } = await run(workspace, ["import", "--dry-run"]);
  expect([code, err]).toEqual([
    exitCodes.done,
    "There is nothing to import: pi, Claude Code, codex, opencode and oh-my-pi have no files here.\n",
  ]);
});

test("what fails is named, the rest comes, and the exit code says so", async () => {
  const home = await createHome();
  mkdirSync(home.agentDir);
  writeFileSync(join(home.agentDir, "mcp.json"), "{ damaged");
  const { code, err } = await home.tau(["--yes"]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(/MCP servers, docs of codex: .*mcp\.json is damaged, and was not changed/);
  expect(readFileSync(join(home.agentDir, "mcp.json"), "utf8")).toBe("{ damaged");
  expect(existsSync(join(home.agentDir, "AGENTS.md"))).toBe(true);
});

test("an interrupt ends it, and the next import does the rest", async () => {
  const home = await createHome();
  const abort = new AbortController();
  abort.abort("SIGINT");
  const { code } = await home.tau(["--yes"], { signal: abort.signal });
  expect(code).toBe(exitCodes.interrupted);
  expect((await home.tau(["--yes"])).out).toContain("Sessions: 2 imported.\n");
});

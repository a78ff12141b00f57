/** Brings over the configuration of other programs. The forms are those that these programs write, or document. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "../../src/auth/index.ts";
import {
  applySteps,
  findItems,
  findUsedTools,
  type ImportTool,
  importTools,
  locateTools,
  planImport,
  readExisting,
} from "../../src/imports/index.ts";
import { SettingsManager } from "../../src/settings/index.ts";

function createHome(files: Readonly<Record<string, string | object>> = {}) {
  const home = mkdtempSync(join(tmpdir(), "tau-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const agentDir = join(home, ".tau");
  mkdirSync(agentDir);
  const write = (path: string, content: string | object) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const readJson = (name: string) => JSON.parse(readFileSync(join(agentDir, name), "utf8")) as unknown;
  const plan = async (keys: readonly string[] = []) => {
    const found = await findItems(findUsedTools(locateTools({}, home), agentDir));
    const settings = await SettingsManager.create(home, agentDir, { watch: false });
    const auth = AuthStorage.create(agentDir, { env: () => undefined });
    const credentials = new Set((await auth.list()).map(({ provider }) => provider));
    const keybindings = new Set(["app.interrupt", "app.clear"]);
    const existing = await readExisting({ agentDir, settings, items: found.items, credentials, keybindings });
    return { ...planImport(found.items, existing, { keys }), problems: found.problems, settings, auth };
  };
  const run = async (keys: readonly string[] = []) => {
    const planned = await plan(keys);
    return { ...planned, applied: await applySteps(planned.steps, { agentDir, ...planned }) };
  };
  return { home, agentDir, write, readJson, plan, run };
}

/** `tool kind name: reason` of what is left. */
const describeLeft = (left: Awaited<ReturnType<ReturnType<typeof createHome>["plan"]>>["left"]) =>
  left.map(({ tool, kind, name, reason }) => `${tool} ${kind} ${name}: ${reason}`);

const codexConfig = `
model = "gpt-5"
model_provider = "acme"
model_reasoning_effort = "high"
approval_policy = "on-request"
hide_agent_reasoning = true
notify = ["x"]

[model_providers.acme]
name = "Acme"
base_url = "https://acme.example/v1"
env_key = "ACME_KEY"
wire_api = "responses"
http_headers = { "X-Team" = "a", "Authorization" = "Bearer secret" }
env_http_headers = { "X-Org" = "ACME_ORG" }

[mcp_servers.demo]
command = "npx"
args = ["-y", "thing"]
tool_timeout_sec = 30

[mcp_servers.demo.env]
A = "b"

[mcp_servers.rem]
url = "https://example.com/mcp"
bearer_token_env_var = "TOK"
enabled = false

[projects."/p"]
trust_level = "trusted"
`;

describe("codex", () => {
  const files = {
    ".codex/config.toml": codexConfig,
    ".codex/AGENTS.md": "Be brief.",
    ".codex/prompts/review.md": "Review $1",
    ".codex/skills/.system/own/SKILL.md": "of codex",
    ".codex/skills/mine/SKILL.md": "---\nname: mine\ndescription: d\n---\n",
    ".codex/skills/mine/scripts/run.sh": "#!/bin/sh\n",
    ".codex/auth.json": { auth_mode: "apikey", OPENAI_API_KEY: "sk-$test" },
  };

  test("settings, a provider, servers, instructions, prompts and skills come over, a key only when it is named", async () => {
    const desk = createHome(files);
    const { left, applied, problems } = await desk.run();
    expect(problems).toEqual([]);
    expect(applied.filter(({ failure }) => failure)).toEqual([]);
    expect(desk.readJson("settings.json")).toEqual({
      defaultProvider: "acme",
      defaultModel: "gpt-5",
      defaultThinkingLevel: "high",
      hideThinkingBlock: true,
    });
    expect(desk.readJson("models.json")).toEqual({
      providers: {
        acme: {
          name: "Acme",
          baseUrl: "https://acme.example/v1",
          api: "openai-responses",
          apiKey: "$ACME_KEY",
          headers: { "X-Team": "a", "X-Org": "$ACME_ORG" },
          models: [{ id: "gpt-5" }],
        },
      },
    });
    expect(desk.readJson("mcp.json")).toEqual({
      mcpServers: {
        demo: { command: "npx", args: ["-y", "thing"], env: { A: "b" }, timeout: 30 },
        rem: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${TOK}" }, enabled: false },
      },
    });
    expect(readFileSync(join(desk.agentDir, "AGENTS.md"), "utf8")).toBe("Be brief.");
    expect(readFileSync(join(desk.agentDir, "prompts", "review.md"), "utf8")).toBe("Review $1");
    expect(existsSync(join(desk.agentDir, "skills", "mine", "scripts", "run.sh"))).toBe(true);
    expect(existsSync(join(desk.agentDir, "skills", ".system"))).toBe(false);
    expect(existsSync(join(desk.agentDir, "auth.json"))).toBe(false);
    expect(describeLeft(left)).toEqual([
      "codex settings approval_policy: is a mode that you choose yourself: see tau help permissions",
      "codex settings notify: is a program of codex: see the setting terminal.notifications",
      "codex settings projects: is about trust, which you give here yourself: tau trust",
      "codex keys openai: is brought only if you name it: --keys codex/openai",
    ]);
    // Servers hold keys, so nobody else may read them.
    expect(statSync(join(desk.agentDir, "mcp.json")).mode & 0o077).toBe(0);
  });

  test("a second import has nothing to do", async () => {
    const desk = createHome(files);
    await desk.run();
    const { steps, left } = await desk.plan();
    expect(steps).toEqual([]);
    expect(left.filter(({ why }) => why === "present").length).toBe(10);
  });

  test.each([["codex"], ["codex/openai"]])("--keys %s stores the key, as it is written", async (name) => {
    const desk = createHome(files);
    const { auth } = await desk.run([name]);
    expect(await auth.getApiKey("openai")).toMatchObject({ kind: "found", key: "sk-$test" });
  });
});

test("Claude Code: what has a counterpart comes over, and every other thing is named with the reason", async () => {
  const desk = createHome({
    ".claude/settings.json": {
      model: "claude-opus-4-8",
      effortLevel: "high",
      env: { SECRET: "x" },
      permissions: { allow: ["Bash(ls:*)"], defaultMode: "bypassPermissions", additionalDirectories: ["/data"] },
      hooks: { PreToolUse: [] },
      enabledPlugins: { "x@market": true },
      statusLine: { type: "command" },
    },
    ".claude/CLAUDE.md": "Be kind.",
    ".claude/commands/fix.md": "Fix",
    ".claude/agents/tester.md": "Test",
    ".claude/agents/free.md": "---\npolicy: permissive\n---\nDo anything",
    ".claude/skills/pdf/SKILL.md": "PDF",
    ".claude/keybindings.json": {},
    ".claude/.credentials.json": { claudeAiOauth: { accessToken: "a", refreshToken: "r", expiresAt: 5 } },
    ".claude.json": {
      userID: "x",
      mcpServers: {
        demo: { type: "stdio", command: "npx", args: ["-y", "thing"], env: { A: "b" } },
        remote: { type: "http", url: "https://example.com/mcp", headers: { X: "y" } },
        broken: { type: "stdio" },
      },
      projects: { "/p": { mcpServers: { local: { command: "foo" } } } },
    },
  });
  const { left, auth } = await desk.run(["claude-code/anthropic"]);
  expect(desk.readJson("settings.json")).toEqual({
    defaultProvider: "anthropic",
    defaultModel: "claude-opus-4-8",
    defaultThinkingLevel: "high",
    additionalDirectories: ["/data"],
  });
  expect(desk.readJson("mcp.json")).toEqual({
    mcpServers: {
      demo: { type: "stdio", command: "npx", args: ["-y", "thing"], env: { A: "b" } },
      remote: { type: "http", url: "https://example.com/mcp", headers: { X: "y" } },
    },
  });
  expect(readFileSync(join(desk.agentDir, "AGENTS.md"), "utf8")).toBe("Be kind.");
  expect(await auth.get("anthropic")).toMatchObject({ type: "oauth", access: "a", refresh: "r" });
  for (const name of ["skills", "prompts"]) expect(existsSync(join(desk.agentDir, name))).toBe(false);
  expect(readFileSync(join(desk.agentDir, "agents/tester.md"), "utf8")).toBe("Test");
  expect(existsSync(join(desk.agentDir, "agents/free.md"))).toBe(false);
  expect(left.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "settings env",
    "settings permissions.allow",
    "settings permissions.defaultMode",
    "settings statusLine",
    "skills pdf",
    "prompts fix",
    "agents free",
    "hooks PreToolUse",
    "packages x@market",
    "mcp broken",
    "mcp local",
    "keybindings keybindings.json",
  ]);
  expect(left.every(({ reason }) => reason.length > 10)).toBe(true);
});

test("Claude Code: plugins that are turned on are installed again, after their marketplaces", async () => {
  const github = { source: { source: "github", repo: "o/market" }, installLocation: "/x" };
  const desk = createHome({
    ".claude/settings.json": {
      enabledPlugins: {
        "a@market": true,
        "b@market": true,
        "off@market": false,
        "c@own": true,
        "d@none": true,
        "../e": true,
      },
      extraKnownMarketplaces: { own: { source: { source: "git", url: "https://h/own.git", ref: "v1" } } },
    },
    ".claude/plugins/known_marketplaces.json": {
      market: github,
      none: { source: { source: "github", repo: "--upload-pack=x" } },
    },
  });
  const { steps, left } = await desk.plan();
  expect(steps.map(({ kind, action }) => [kind, action])).toEqual(
    ["git:github.com/o/market", "git:https://h/own.git@v1", "a@market", "b@market", "c@own"].map((entry) => [
      "packages",
      { kind: "install", entry },
    ]),
  );
  expect(left.map(({ name }) => name)).toEqual(["off@market", "d@none", "../e"]);
});

test("Claude Code: plugins of a directory are installed from there, and stay there", async () => {
  const plugins = [
    { name: "in", source: "./in" },
    { name: "far", source: { source: "github", repo: "o/far" } },
    { name: "npm", source: { source: "npm", package: "npm-plugin" } },
    { name: "out", source: "./link" },
  ];
  const desk = createHome({
    "market/.claude-plugin/marketplace.json": { name: "mine", plugins },
    "market/in/commands/a.md": "A",
    "single/.claude-plugin/marketplace.json": { name: "single", plugins: [{ name: "one", source: "./" }] },
    "outside/commands/b.md": "B",
  });
  symlinkSync(join(desk.home, "outside"), join(desk.home, "market", "link"));
  const enabled = [
    "in@mine",
    "far@mine",
    "npm@mine",
    "out@mine",
    "unlisted@mine",
    "one@single",
    "x@gone",
    "y@relative",
  ];
  desk.write(".claude/settings.json", { enabledPlugins: Object.fromEntries(enabled.map((name) => [name, true])) });
  desk.write(".claude/plugins/known_marketplaces.json", {
    mine: { source: { source: "directory", path: join(desk.home, "market") } },
    single: { source: { source: "file", path: join(desk.home, "single", ".claude-plugin", "marketplace.json") } },
    gone: { source: { source: "directory", path: join(desk.home, "nothing") } },
    relative: { source: { source: "directory", path: "market" } },
  });
  const { steps, left } = await desk.plan();
  const entries = steps.flatMap(({ action }) => (action.kind === "install" ? [action.entry] : []));
  const [market, single] = [join(desk.home, "market"), join(desk.home, "single")];
  expect(entries).toEqual([market, single, join(market, "in"), "far@mine", "npm:npm-plugin"]);
  expect(describeLeft(left)).toEqual([
    "claude-code packages out@mine: cannot be installed: The plugin out of the marketplace mine is not in the directory of the marketplace",
    'claude-code packages unlisted@mine: cannot be installed: The marketplace mine lists no plugin "unlisted". It lists: in, far, npm, out',
    "claude-code packages one@single: comes from Claude Code already",
    "claude-code packages x@gone: is of a marketplace that is not here: see tau help packages",
    "claude-code packages y@relative: is of a marketplace that is not here: see tau help packages",
  ]);
});

test("Claude Code is found by its file alone", async () => {
  const desk = createHome({ ".claude.json": { mcpServers: { docs: { command: "npx", args: ["docs"] } } } });
  const { applied } = await desk.run();
  expect(applied.map(({ step }) => `${step.tool} ${step.kind} ${step.name}`)).toEqual(["claude-code mcp docs"]);
  expect(desk.readJson("mcp.json")).toEqual({ mcpServers: { docs: { command: "npx", args: ["docs"] } } });
});

test("a text of another program does not become a command here", async () => {
  const server = { command: "npx", env: { A: "!touch /tmp/x" } };
  const desk = createHome({
    ".claude.json": { mcpServers: { a: server, b: { url: "https://h", headers: { X: "!id" } } } },
    ".claude/settings.json": {},
    ".codex/config.toml": `[mcp_servers.c]
command = "!id"
[model_providers.acme]
base_url = "https://acme.example/v1"
http_headers = { "X-A" = "!id", "X-B" = "a$HOME" }
`,
    // pi has run it.
    ".pi/agent/mcp.json": { mcpServers: { d: server } },
  });
  const { left } = await desk.run();
  expect(desk.readJson("mcp.json")).toEqual({ mcpServers: { d: server } });
  expect(left.filter(({ reason }) => reason.includes("would be a command")).map(({ name }) => name)).toEqual([
    "a",
    "b",
    "c",
  ]);
  const { providers } = desk.readJson("models.json") as { providers: Record<string, unknown> };
  expect(providers["acme"]).toMatchObject({ headers: { "X-A": "$!id", "X-B": "a$$HOME" } });
});

test("opencode: providers, servers, commands and keys in its own forms", async () => {
  const desk = createHome({
    ".config/opencode/opencode.jsonc": `{
      // a comment
      "model": "acme/m1",
      "theme": "x",
      "plugin": ["p"],
      "agent": { "reviewer": {} },
      "provider": {
        "acme": {
          "npm": "@ai-sdk/openai-compatible", "name": "Acme",
          "options": { "baseURL": "http://127.0.0.1:1/v1", "apiKey": "literal-key" },
          "models": { "m1": { "name": "M1", "reasoning": true, "limit": { "context": 100000, "output": 4000 } } },
        },
        "other": { "npm": "some-module", "options": { "baseURL": "http://127.0.0.1:1" } },
        "openai": { "models": {} },
      },
      "mcp": {
        "local": { "type": "local", "command": ["npx", "-y", "thing"], "environment": { "K": "{env:KEY}" }, "timeout": 5000 },
        "remote": { "type": "remote", "url": "https://example.com/mcp", "enabled": false },
      },
      "command": { "test": { "template": "Run the tests\\n", "description": "Runs \\"tests\\"" }, "../x": { "template": "y" } },
    }`,
    ".config/opencode/command/review.md": "Review",
    ".config/opencode/themes/mine.json": {},
    ".local/share/opencode/auth.json": {
      anthropic: { type: "oauth", access: "a", refresh: "r", expires: 5 },
      groq: { type: "api", key: "gsk" },
      odd: { type: "wellknown" },
    },
  });
  const { left, auth } = await desk.run(["opencode"]);
  expect(desk.readJson("settings.json")).toEqual({ defaultProvider: "acme", defaultModel: "m1" });
  expect(desk.readJson("models.json")).toEqual({
    providers: {
      acme: {
        name: "Acme",
        baseUrl: "http://127.0.0.1:1/v1",
        api: "openai-completions",
        models: [{ id: "m1", name: "M1", reasoning: true, contextWindow: 100000, maxTokens: 4000 }],
      },
    },
  });
  expect(desk.readJson("mcp.json")).toEqual({
    mcpServers: {
      local: { command: "npx", args: ["-y", "thing"], env: { K: "${KEY}" }, timeout: 5 },
      remote: { url: "https://example.com/mcp", enabled: false },
    },
  });
  expect(readFileSync(join(desk.agentDir, "prompts", "test.md"), "utf8")).toBe(
    '---\ndescription: "Runs \\"tests\\""\n---\nRun the tests\n',
  );
  expect(existsSync(join(desk.agentDir, "prompts", "review.md"))).toBe(true);
  expect(await auth.getApiKey("groq")).toMatchObject({ key: "gsk" });
  expect(await auth.get("acme")).toMatchObject({ key: "literal-key" });
  expect(await auth.get("anthropic")).toMatchObject({ type: "oauth" });
  expect(left.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "settings theme",
    "packages p",
    "agents reviewer",
    "models other",
    "models openai",
    "prompts ../x",
    "themes mine",
    "keys odd",
  ]);
});

test("pi and oh-my-pi: our own forms, each name once", async () => {
  const theme = { name: "mine", colors: {} };
  const desk = createHome({
    ".pi/agent/settings.json": {
      theme: "mine",
      hideThinkingBlock: true,
      compaction: { enabled: false, reserveTokens: "many" },
      codemode: true,
      packages: ["npm:pi-thing", { source: "./local", skills: ["a"] }],
      skills: ["./more"],
      unknownThing: 1,
    },
    ".pi/agent/models.json": {
      providers: {
        acme: { baseUrl: "https://acme.example", api: "openai-completions", apiKey: "literal", models: [{ id: "m" }] },
        bad: { baseUrl: 5 },
      },
    },
    ".pi/agent/mcp.json": { mcpServers: { one: { command: "a" } } },
    ".pi/agent/keybindings.json": { "app.interrupt": "ctrl+x", "app.unheard": "ctrl+y" },
    ".pi/agent/themes/mine.json": theme,
    ".pi/agent/prompts/p.md": "P",
    ".pi/agent/extensions/e.ts": "export default () => {};",
    ".pi/agent/SYSTEM.md": "You are.",
    ".pi/agent/auth.json": { anthropic: { type: "api_key", key: "$KEY" } },
    ".omp/agent/config.yml":
      "modelRoles:\n  default: openai/gpt-5:high\n  smol: openai/gpt-5-mini\nhideThinkingBlock: true\nsteeringMode: all\n",
    ".omp/agent/models.yml":
      "providers:\n  local:\n    baseUrl: http://127.0.0.1:1/v1\n    api: openai-completions\n    models:\n      - id: q\n" +
      "  openai:\n    api_key: ${OPENAI_API_KEY}\n  xai:\n    api_key: plain-key-of-xai\n" +
      'roles:\n  slow:\n    model: claude-opus-4\n  plan: 5\nmodelRoles:\n  paths:\n    "**/*.py":\n      role: slow\n' +
      "retry:\n  fallbackChains:\n    - [claude-opus-4, gpt-4o]\napiKeys:\n  openai:\n    - ${KEY_1}\n    - plain-key-of-openai\n",
    ".omp/agent/mcp.json": { mcpServers: { one: { command: "b" }, two: { url: "https://two.example" } } },
    ".omp/agent/commands/p.md": "Q",
    ".omp/agent/AGENTS.md": "Go.",
    ".omp/agent/agent.db": "x",
  });
  const { steps, left } = await desk.run();
  expect(desk.readJson("settings.json")).toEqual({
    theme: "mine",
    hideThinkingBlock: true,
    compaction: { enabled: false },
    skills: [join(desk.home, ".pi", "agent", "more")],
    steeringMode: "all",
    defaultProvider: "openai",
    defaultModel: "gpt-5",
    defaultThinkingLevel: "high",
    roles: { smol: "openai/gpt-5-mini" },
  });
  expect(readFileSync(join(desk.agentDir, "models.yml"), "utf8")).toBe(
    [
      "providers:\n  openai:\n    api_key: ${OPENAI_API_KEY}",
      'roles:\n  slow:\n    model: claude-opus-4\nmodelRoles:\n  paths:\n    "**/*.py":\n      role: slow',
      "retry:\n  fallbackChains:\n    - - claude-opus-4\n      - gpt-4o\napiKeys:\n  openai:\n    - ${KEY_1}\n",
    ].join("\n"),
  );
  expect(desk.readJson("models.json")).toMatchObject({ providers: { acme: { api: "openai-completions" }, local: {} } });
  expect(JSON.stringify(desk.readJson("models.json"))).not.toContain("literal");
  expect(desk.readJson("mcp.json")).toEqual({
    mcpServers: { one: { command: "a" }, two: { url: "https://two.example" } },
  });
  expect(desk.readJson("keybindings.json")).toEqual({ "app.interrupt": "ctrl+x" });
  expect(readFileSync(join(desk.agentDir, "prompts", "p.md"), "utf8")).toBe("P");
  expect(readFileSync(join(desk.agentDir, "SYSTEM.md"), "utf8")).toBe("You are.");
  const packages = steps.flatMap(({ action }) => (action.kind === "install" ? [action.entry] : []));
  expect(packages).toEqual([
    "npm:pi-thing",
    { source: join(desk.home, ".pi", "agent", "local"), skills: ["a"] },
    join(desk.home, ".pi", "agent", "extensions", "e.ts"),
  ]);
  expect(describeLeft(left)).toEqual([
    "pi settings compaction.reserveTokens: has a value that tau does not know",
    "pi settings codemode: has no effect: tau does not have this feature",
    "pi settings unknownThing: has no counterpart here",
    "pi keys acme: is brought only if you name it: --keys pi/acme",
    expect.stringContaining("pi models bad: cannot be used: "),
    "pi keybindings app.unheard: is an action that tau does not have",
    "pi keys anthropic: is brought only if you name it: --keys pi/anthropic",
    "omp settings hideThinkingBlock: is the same in pi",
    "omp keys xai: is brought only if you name it: --keys omp/xai",
    "omp keys apiKeys.openai: has keys as text: write the names of variables into models.yml",
    'omp models roles.plan: cannot be used (line 14): "roles.plan" has to be an object, not this number.',
    "omp prompts p: comes from pi already",
    "omp mcp one: comes from pi already",
    "omp keys agent.db: is a database that only oh-my-pi reads: log in here with tau auth login",
  ]);
});

test("nothing that is here is overwritten, also where it appeared since the plan was made", async () => {
  const desk = createHome({
    ".codex/config.toml": codexConfig,
    ".codex/AGENTS.md": "theirs",
    ".codex/prompts/a.md": "theirs",
    ".codex/prompts/b.md": "theirs",
    ".codex/skills/s/SKILL.md": "theirs",
    ".tau/settings.json": '{\n  // mine\n  "defaultModel": "my-model"\n}\n',
    ".tau/mcp.json": { mcpServers: { demo: { command: "mine" } } },
    ".tau/CLAUDE.md": "mine",
    ".tau/prompts/a.md": "mine",
  });
  const { steps, left, settings, auth } = await desk.plan();
  // Somebody else writes while the person reads the question.
  desk.write(".tau/prompts/b.md", "mine");
  desk.write(".tau/skills/s/SKILL.md", "mine");
  desk.write(".tau/mcp.json", { mcpServers: { demo: { command: "mine" }, rem: { command: "mine" } } });
  const applied = await applySteps(steps, { agentDir: desk.agentDir, settings, auth });
  expect(applied.filter(({ failure }) => failure).map(({ step, failure }) => `${step.name}: ${failure}`)).toEqual([
    "s: It is here already, and was not replaced.",
    "b: It is here already, and was not replaced.",
    "rem: It is here already, and was not replaced.",
  ]);
  for (const path of ["CLAUDE.md", "prompts/a.md", "prompts/b.md", "skills/s/SKILL.md"]) {
    expect(readFileSync(join(desk.agentDir, path), "utf8")).toBe("mine");
  }
  expect(existsSync(join(desk.agentDir, "AGENTS.md"))).toBe(false);
  expect(desk.readJson("mcp.json")).toEqual({ mcpServers: { demo: { command: "mine" }, rem: { command: "mine" } } });
  const text = readFileSync(join(desk.agentDir, "settings.json"), "utf8");
  expect(text).toContain("// mine");
  expect(text).toContain('"defaultModel": "my-model"');
  // A provider without its model would choose another model.
  expect(text).not.toContain("defaultProvider");
  expect(left.filter(({ name }) => name === "model").map(({ reason }) => reason)).toEqual([
    "is set here already",
    "is set here already",
  ]);
});

test("damaged, huge, linked and foreign files are named, and the rest comes over", async () => {
  const desk = createHome({
    ".codex/config.toml": "model = ",
    ".codex/AGENTS.md": "Be brief.",
    ".claude/settings.json": "{ not json",
    ".claude/CLAUDE.md": "x".repeat(5_000_000),
    ".pi/agent/settings.json": "[]",
    ".pi/agent/models.json": { providers: [1, 2] },
    ".pi/agent/mcp.json": { mcpServers: { __proto__x: 5, odd: null } },
    ".omp/agent/config.yml": "a: [",
    ".config/opencode/opencode.json": { provider: 5, mcp: "x", command: [], model: {} },
    "secret.md": "secret",
  });
  symlinkSync(join(desk.home, "secret.md"), join(desk.home, ".codex", "prompts.md"));
  mkdirSync(join(desk.home, ".codex", "prompts"));
  symlinkSync(join(desk.home, "secret.md"), join(desk.home, ".codex", "prompts", "linked.md"));
  writeFileSync(join(desk.home, ".codex", "skills"), "not a directory");
  const { problems, applied } = await desk.run();
  expect(readFileSync(join(desk.agentDir, "AGENTS.md"), "utf8")).toBe("Be brief.");
  expect(existsSync(join(desk.agentDir, "prompts"))).toBe(false);
  expect(applied.map(({ failure }) => failure)).toEqual([undefined]);
  expect(problems.map(({ path, reason }) => `${path.slice(desk.home.length + 1)} ${reason.split(":")[0]}`)).toEqual([
    ".pi/agent/settings.json is damaged in line 1",
    ".claude/settings.json is damaged in line 1",
    ".claude/CLAUDE.md cannot be read",
    ".codex/config.toml is damaged in line 1",
    ".codex/skills cannot be read (ENOTDIR).",
    ".codex/prompts/linked.md is a link, which is not followed.",
    ".omp/agent/config.yml is not valid YAML.",
  ]);
});

test("a skill with links and too many files: the links stay behind, and a copy that fails leaves nothing", async () => {
  const desk = createHome({ ".codex/skills/good/SKILL.md": "s", ".codex/skills/big/SKILL.md": "s" });
  symlinkSync("/etc", join(desk.home, ".codex", "skills", "good", "etc"));
  for (let index = 0; index < 2_001; index++) desk.write(`.codex/skills/big/${index}`, "");
  const { applied } = await desk.run();
  expect(applied.map(({ failure }) => failure)).toEqual([expect.stringContaining("2000 files"), undefined]);
  expect(existsSync(join(desk.agentDir, "skills", "big"))).toBe(false);
  expect(existsSync(join(desk.agentDir, "skills", "good", "SKILL.md"))).toBe(true);
  expect(existsSync(join(desk.agentDir, "skills", "good", "etc"))).toBe(false);
});

test("a directory that may not be written costs the steps that need it, not the others", async () => {
  const desk = createHome({ ".codex/config.toml": codexConfig, ".codex/prompts/a.md": "x" });
  // A file in its place refuses root too.
  writeFileSync(join(desk.agentDir, "prompts"), "in the way");
  chmodSync(join(desk.agentDir, "prompts"), 0o600);
  const { applied } = await desk.run();
  expect(applied.filter(({ failure }) => failure).map(({ step }) => step.name)).toEqual(["a"]);
  expect(desk.readJson("mcp.json")).toMatchObject({ mcpServers: { demo: {} } });
});

test("a server that is turned off stays so", async () => {
  const off = { command: "a", disabled: true };
  const mcpServers = { off, on: { command: "b", disabled: false } };
  const desk = createHome({ ".claude/settings.json": {}, ".claude.json": { mcpServers } });
  await desk.run();
  expect(desk.readJson("mcp.json")).toEqual({
    mcpServers: { off: { command: "a", enabled: false }, on: { command: "b" } },
  });
});

describe("locations", () => {
  test("the programs' own variables are used", () => {
    const env = {
      CODEX_HOME: "/c",
      CLAUDE_CONFIG_DIR: "~/cl",
      XDG_CONFIG_HOME: "/x",
      XDG_DATA_HOME: "/d",
      PI_CODING_AGENT_DIR: "/pi",
    };
    const roots = Object.fromEntries(
      locateTools(env, "/h").map(({ tool, root, dataRoot, stateFile }) => [tool, { root, dataRoot, stateFile }]),
    );
    expect(roots).toEqual({
      pi: { root: "/pi" },
      "claude-code": { root: "/h/cl", stateFile: "/h/cl/.claude.json" },
      codex: { root: "/c" },
      opencode: { root: "/x/opencode", dataRoot: "/d/opencode" },
      omp: { root: "/h/.omp/agent" },
    });
  });

  test("only programs that were used here are named, and tau's own directory is none of them", () => {
    const desk = createHome({ ".codex/config.toml": "", ".pi/agent/settings.json": {} });
    const names = (agentDir: string): ImportTool[] =>
      findUsedTools(locateTools({}, desk.home), agentDir).map(({ tool }) => tool);
    expect(names(desk.agentDir)).toEqual(["pi", "codex"]);
    expect(names(join(desk.home, ".pi", "agent"))).toEqual(["codex"]);
    expect(importTools).toHaveLength(5);
  });
});

test("rules of oh-my-pi that have a pattern come over as rules of watch, and the others are listed", async () => {
  const desk = createHome({
    ".omp/agent/rules/style.md":
      '---\ncondition: "\\\\bvar\\\\b"\nscope: [text, "tool:edit", thinking]\n---\nUse const.\n',
    ".omp/agent/rules/old.mdc": "---\nttsrTrigger: TODO\n---\nDo it now.\n",
    ".omp/agent/rules/plain.md": "---\ndescription: x\n---\nBe kind.\n",
    ".omp/agent/rules/odd.md": '---\ncondition: x\nscope: "tool:edit(*.ts)"\n---\nNo.\n',
  });
  const { left } = await desk.run();
  expect(readFileSync(join(desk.agentDir, "watch", "style.md"), "utf8")).toBe(
    '---\nmatch: ["\\\\bvar\\\\b"]\nscope: ["text","arguments:edit","thinking"]\n---\nUse const.\n',
  );
  expect(readFileSync(join(desk.agentDir, "watch", "old.md"), "utf8")).toBe('---\nmatch: ["TODO"]\n---\nDo it now.\n');
  expect(left).toEqual([
    expect.objectContaining({ name: "odd", reason: expect.stringContaining("with a scope") }),
    expect.objectContaining({ name: "plain", reason: expect.stringContaining("without a pattern") }),
  ]);
});

/** Servers that packages and plugins bring, with a server of npm. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { discovery, mcp } from "../../src/index.ts";
import { toServerList } from "../../src/mcp/package-servers.ts";
import { parseEntries } from "../../src/mcp/parse-entries.ts";
import { createTestSession, SurfaceUi } from "../kit.ts";
import { getReferenceServer, makeDirectory } from "./kit.ts";

const memory = getReferenceServer("memory");

async function writeFiles(directory: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, value] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
  }
}

/** A session whose settings name a package, and a person who gives one answer to every question. */
async function open(turns: Parameters<typeof createTestSession>[0], files: Readonly<Record<string, unknown>>) {
  const root = await makeDirectory();
  const [agentDir, cwd, directory] = [join(root, "agent"), join(root, "work"), join(root, "notes")];
  await mkdir(cwd);
  await writeFiles(directory, files);
  await mkdir(agentDir);
  const questions: string[] = [];
  const notices: string[] = [];
  const surface = new SurfaceUi();
  Object.assign(surface.ui, {
    notify: (message: string) => void notices.push(message),
    confirm: async (title: string, message: string) => {
      questions.push(`${title}\n${message}`);
      return true;
    },
  });
  const opened = await createTestSession(turns, {
    agentDir,
    cwd,
    settings: { packages: [directory] },
    features: [discovery(), mcp()],
  });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  const results = () =>
    opened.session.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [message.content.map((block) => (block.type === "text" ? block.text : "")).join("")]
        : [],
    );
  return { ...opened, questions, notices, results, directory };
}

const parse = (servers: Record<string, unknown>, ...before: Parameters<typeof parseEntries>[0]) =>
  parseEntries([...before, toServerList({ root: "/plugins/a", directory: "/plugins", servers })]);

test("the directory of the plugin is filled in everywhere, and no other variable", () => {
  const { entries, problems } = parse({
    a: {
      command: "${CLAUDE_PLUGIN_ROOT}/run",
      args: ["${CLAUDE_PLUGIN_ROOT:-x}/a:${CLAUDE_PLUGIN_ROOT}/b", "${HOME}"],
      env: { DATA: "${CLAUDE_PLUGIN_ROOT}/$&" },
      cwd: "${CLAUDE_PLUGIN_ROOT}",
    },
  });
  expect(problems).toEqual([]);
  expect(entries).toMatchObject([
    {
      source: { scope: "package", path: "/plugins/a" },
      target: {
        command: "/plugins/a/run",
        args: ["/plugins/a/a:/plugins/a/b", "${HOME}"],
        env: { DATA: "/plugins/a/$&" },
        cwd: "/plugins/a",
      },
      variables: ["HOME"],
    },
  ]);
});

test.each<[name: string, entry: Record<string, unknown>, message: string]>([
  ["trusted", { command: "a", trusted: true }, '"trusted" is accepted only in your own mcp.json.'],
  ["sandbox", { command: "a", sandbox: false }, '"sandbox": false is accepted only in your own mcp.json.'],
  ["command", { command: "a", env: { K: "!cat key" } }, "A value that is a command (!…) is accepted only in"],
  ["nothing", { enabled: true }, 'It needs a "command" or a "url".'],
])("what only the user may write is refused: %s", (name, entry, message) => {
  expect(parse({ [name]: entry, other: { command: "b" } })).toMatchObject({
    entries: [{ name: "other" }],
    problems: [{ name, source: { scope: "package" }, message: expect.stringContaining(message) as string }],
  });
});

test("a file has precedence, and one without a target changes what is used of a package's server", () => {
  const user = (servers: object) => ({ source: { scope: "user" as const, path: "/mcp.json" }, servers });
  const project = (servers: object) => ({ source: { scope: "project" as const, path: "/p/mcp.json" }, servers });
  const servers = { docs: { command: "b" } };
  const [own] = parse(servers, user({ docs: { command: "mine" } })).entries;
  expect(own).toMatchObject({ source: { scope: "user" }, target: { command: "mine" } });
  const [changed] = parse(servers, user({ docs: { enabled: false, exposure: "direct" } })).entries;
  expect(changed).toMatchObject({ source: { scope: "package" }, isEnabled: false, exposure: "direct" });
  // The answer belongs to the hash.
  expect(changed!.hash).toBe(parse(servers).entries[0]!.hash);
  const [both] = parse(servers, project({ docs: { enabled: true } }), user({ docs: { enabled: false } })).entries;
  expect(both).toMatchObject({ isEnabled: true });
  const ofProject = parseEntries([project({ docs: { command: "p" } }), user({ docs: { enabled: false } })]);
  expect(ofProject).toMatchObject({ entries: [{ isEnabled: true, source: { scope: "project" } }], problems: [] });
});

const plugin = {
  ".claude-plugin/plugin.json": { name: "notes" },
  ".mcp.json": {
    mcpServers: {
      memory: {
        command: process.execPath,
        args: ["${CLAUDE_PLUGIN_ROOT}/server.mjs"],
        env: { MEMORY_FILE_PATH: "/dev/null" },
      },
      greedy: { command: "touch", args: ["/tmp/x"], trusted: true },
    },
  },
  "server.mjs": `await import(${JSON.stringify(memory)});`,
};

const turns = [
  [call("tool_search", { query: "read the graph" }, "1")],
  [call("call_tool", { name: "mcp__memory__read_graph", arguments: {} }, "2")],
  [text("Done.")],
];

test("a session finds and calls the tools of a plugin that has nothing but a server, after a question", async () => {
  const { prompt, questions, notices, results, directory } = await open(turns, plugin);
  expect(questions).toEqual([]);
  await prompt("go");
  const [found, called] = results();
  expect(found).toContain("mcp__memory__read_graph");
  expect(called).toContain("entities");
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain("Start the MCP server memory?");
  expect(questions[0]).toContain(`From the package ${directory}.`);
  expect(questions[0]).toContain(`Command: ${process.execPath} ${join(directory, "server.mjs")}`);
  expect(notices).toContainEqual(expect.stringContaining("greedy of the package"));
});

test("the manifest of a package names servers, or a file of it that has them", async () => {
  const servers = { memory: { command: process.execPath, args: [memory], env: { MEMORY_FILE_PATH: "/dev/null" } } };
  for (const mcpServers of [servers, "./config/servers.json"]) {
    const { prompt, questions, results } = await open(turns, {
      "package.json": { name: "notes", tau: { mcpServers } },
      "config/servers.json": servers,
      // What a package uses for its own development.
      ".mcp.json": { mcpServers: { development: { command: "touch" } } },
    });
    await prompt("go");
    expect(results()[1]).toContain("entities");
    expect(questions).toHaveLength(1);
  }
});

test("a package without servers changes nothing in requests", async () => {
  const { prompt, model } = await open([[text("Hi.")]], { "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n" });
  await prompt("hi");
  expect(model.asked[0]!.context.tools!.map(({ name }) => name)).not.toContain("tool_search");
});

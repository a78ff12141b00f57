/** `tau mcp` with a server of npm. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { mcp } from "@tau/features/mcp";
import { expect, test } from "vitest";
import { runFeatureCommand } from "../../src/commands/feature-command.ts";
import { parseCommandArgs, parseUsages } from "../../src/commands/usage.ts";
import { startOAuthServer } from "../../../features/test/mcp/oauth-server.ts";
import { createIo, createWorkspace, type RunOptions, type Workspace } from "../kit.ts";

const require = createRequire(import.meta.url);
const memory = join(dirname(require.resolve("@modelcontextprotocol/server-memory/package.json")), "dist", "index.js");

async function runMcp(workspace: Workspace, args: readonly string[], options: RunOptions = {}) {
  const command = mcp().programCommands![0]!;
  const { io, written } = createIo(workspace, { env: { PATH: process.env["PATH"]! }, ...options });
  const parsed = parseCommandArgs(parseUsages(command), args);
  if (parsed.kind !== "args") throw new Error(JSON.stringify(parsed));
  const code = await runFeatureCommand(command, parsed.args, io);
  return { code: code ?? 0, ...written };
}

const readServers = async (path: string): Promise<unknown> =>
  (JSON.parse(await readFile(path, "utf8")) as { mcpServers: unknown }).mcpServers;

const addMemory = ["add", "memory", "--yes", "--", process.execPath, memory];

test("a server that is added is connected by list and test, and gone after remove", async () => {
  const workspace = await createWorkspace();
  expect((await runMcp(workspace, ["list"])).out).toContain("There are no servers");
  const added = await runMcp(workspace, addMemory);
  expect(added.out).toContain(`Command: ${process.execPath} ${memory}`);
  expect(added.out).toContain("Runs in the sandbox");
  const file = join(workspace.agentDir, "mcp.json");
  expect(await readServers(file)).toEqual({ memory: { command: process.execPath, args: [memory] } });
  const listed = await runMcp(workspace, ["list"]);
  expect(listed).toMatchObject({ code: 0, err: "" });
  expect(listed.out).toMatch(/^memory: connected\n.*\n {2}tools: create_entities, /);
  const { servers } = JSON.parse((await runMcp(workspace, ["test", "memory", "--json"])).out) as {
    servers: { state: string; tools: { name: string }[] }[];
  };
  expect(servers).toMatchObject([{ name: "memory", state: "ready" }]);
  expect(servers[0]!.tools.map(({ name }) => name)).toContain("read_graph");
  expect((await runMcp(workspace, ["remove", "memory"])).out).toBe(`Removed memory from ${file}.\n`);
  expect(await readServers(file)).toEqual({});
  await expect(runMcp(workspace, ["remove", "memory"])).rejects.toThrow(`There is no server memory in ${file}.`);
});

test("one that fails is listed with what it printed, and the exit code is 1", async () => {
  const workspace = await createWorkspace();
  await runMcp(workspace, ["add", "broken", "--yes", "--", "sh", "-c", "echo first >&2; echo no database >&2; exit 3"]);
  const { code, out } = await runMcp(workspace, ["list"]);
  expect(code).toBe(1);
  expect(out).toContain("broken: failed");
  expect(out).toContain("Its last line: no database\n  | first\n  | no database\n");
});

test("without an answer nothing is started, and the line says what to do", async () => {
  const workspace = await createWorkspace();
  const mark = join(workspace.directory, "mark");
  const added = await runMcp(workspace, ["add", "marked", "--", "touch", mark], { input: "" });
  expect(added.err).toBe("It starts once you have allowed it in a terminal: tau mcp test marked\n");
  const { code, out } = await runMcp(workspace, ["list"], { input: "" });
  expect(code).toBe(1);
  expect(out).toContain("nobody has allowed it yet");
  await expect(readFile(mark)).rejects.toThrow(/ENOENT/);
});

test("a server with an address, headers and a token of the environment", async () => {
  const workspace = await createWorkspace();
  const args = "add docs --url https://docs.example/mcp --bearer-token-env-var DOCS_TOKEN".split(" ");
  await runMcp(workspace, [...args, "--header", "X-Team: blue"]);
  expect(await readServers(join(workspace.agentDir, "mcp.json"))).toEqual({
    docs: {
      url: "https://docs.example/mcp",
      headers: { "X-Team": "blue", Authorization: "Bearer ${DOCS_TOKEN}" },
    },
  });
});

test("comments and other keys of the file stay, and a damaged file is not written", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { recursive: true });
  const file = join(workspace.agentDir, "mcp.json");
  await writeFile(file, '{\n  // mine\n  "other": 1,\n  "mcpServers": { "a": { "command": "a" } }\n}\n');
  await runMcp(workspace, ["add", "b", "--yes", "--", "b"]);
  const text = await readFile(file, "utf8");
  expect(text).toContain("// mine");
  expect(text).toContain('"other": 1');
  expect(text).toContain('"a": { "command": "a" }');
  await expect(runMcp(workspace, ["add", "a", "--yes", "--", "c"])).rejects.toThrow("There is a server a");
  await writeFile(file, "{ damaged");
  await expect(runMcp(workspace, ["add", "c", "--yes", "--", "c"])).rejects.toThrow(/Correct the file first/);
  expect(await readFile(file, "utf8")).toBe("{ damaged");
});

test.each<[args: string[], message: RegExp]>([
  [["add", "x"], /A server has a command or an address/],
  [["add", "x", "--url", "https://a.example", "--", "b"], /A server has a command or an address/],
  [["add", "x", "--env", "A", "--", "b"], /"A" is not of the form --env NAME=VALUE/],
  [["add", "x", "--url", "https://a.example", "--env", "A=1"], /--env is for a server with a command/],
  [["add", "x", "--header", "A: 1", "--", "b"], /--header and --bearer-token-env-var are for a server with --url/],
  [["test", "nobody"], /There is no server nobody. Servers here: none/],
])("%j is refused", async (args, message) => {
  await expect(runMcp(await createWorkspace(), args)).rejects.toThrow(message);
});

test("login signs in after it showed the host, logout and remove forget the login", async () => {
  const workspace = await createWorkspace();
  const server = await startOAuthServer();
  await runMcp(workspace, ["add", "docs", "--url", server.url]);
  const before = await runMcp(workspace, ["test", "docs"]);
  expect([before.code, before.out]).toEqual([1, expect.stringContaining("tau mcp login docs")]);

  const command = mcp().programCommands![0]!;
  const logIn = async () => {
    const { io, written } = createIo(workspace, { env: { PATH: process.env["PATH"]! } });
    let isOpened = false;
    const write = io.err;
    io.err = (text) => {
      write(text);
      const address = /http:\S+\/authorize\S+/.exec(written.err)?.[0];
      if (address === undefined || isOpened) return;
      isOpened = true;
      void server.approve(address).then(fetch);
    };
    const parsed = parseCommandArgs(parseUsages(command), ["login", "docs"]);
    if (parsed.kind !== "args") throw new Error(JSON.stringify(parsed));
    return { code: (await runFeatureCommand(command, parsed.args, io)) ?? 0, ...written };
  };
  const login = await logIn();
  expect([login.code, login.out]).toEqual([0, "You are signed in to the MCP server docs.\n"]);
  const host = new URL(server.url).host;
  expect(login.err.indexOf(`You sign in at: ${host}`)).toBeLessThan(login.err.indexOf("Open this in a browser"));
  expect((await runMcp(workspace, ["test", "docs"])).out).toContain("whoami");
  const stored = async () => Object.keys(JSON.parse(await readFile(join(workspace.agentDir, "auth.json"), "utf8")));
  expect(await stored()).toEqual([expect.stringMatching(/^mcp:docs:[0-9a-f]{16}$/)]);

  expect((await runMcp(workspace, ["logout", "docs"])).out).toBe("You are signed out of the MCP server docs.\n");
  expect((await runMcp(workspace, ["logout", "docs"])).out).toContain("You were not signed in");
  expect((await runMcp(workspace, ["test", "docs"])).code).toBe(1);
  await logIn();
  await runMcp(workspace, ["remove", "docs"]);
  expect(await stored()).toEqual([]);
  await expect(runMcp(workspace, ["login", "docs"])).rejects.toThrow("There is no server docs.");
});

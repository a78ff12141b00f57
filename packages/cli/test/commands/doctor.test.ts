import { createServer } from "node:http";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkNode, checkTerminal } from "../../src/commands/doctor-checks.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, type RunOptions, textReply, type Workspace } from "../kit.ts";

interface Row {
  check: string;
  status: string;
  says: string;
  fix?: string;
}

async function runDoctor(workspace: Workspace, args: string[] = [], options: RunOptions = {}) {
  const { code, out } = await run(workspace, ["doctor", "--json", ...args], options);
  const rows = JSON.parse(out) as Row[];
  return { code, row: (check: string) => rows.find((row) => row.check === check)!, rows };
}

/** A server that records its requests, and closes with the test. */
async function startServer() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.statusCode = 404;
    response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { requests, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

const writeModels = async ({ agentDir }: Workspace, baseUrl: string) => {
  await mkdir(agentDir, { recursive: true, mode: 0o700 });
  const acme = {
    baseUrl: `${baseUrl}/v1`,
    api: "openai-completions",
    apiKey: "acme-key-0123456789",
    models: [{ id: "m" }],
  };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
};

test("every check has a row, and every problem has a fix", async () => {
  const workspace = await createWorkspace();
  const { code, rows, row } = await runDoctor(workspace);
  const names = [
    "node",
    "directory",
    "settings",
    "settings of pi",
    "models.json",
    "extensions",
    "keys",
    "shell",
    "search",
    "sandbox",
    "language servers",
    "debuggers",
    "kernels",
    "web search",
    "browser",
    "network",
    "disk",
    "terminal",
  ];
  expect(rows.map(({ check }) => check)).toEqual(names);
  for (const { status, fix } of rows) expect(fix !== undefined).toBe(status !== "ok");
  for (const name of ["node", "shell", "search"]) expect(row(name).status).toBe("ok");
  expect(row("keys")).toMatchObject({ status: "warn", says: "there is none" });
  expect(code).toBe(exitCodes.done);
  const { out } = await run(workspace, ["doctor"]);
  expect(out).toMatch(/^search +ok +ripgrep works$/m);
  expect(out).toMatch(/^What to do:\n {2}keys: there is none\n {6}Run tau auth login/m);
});

test("servers are contacted only with --network, and without a key", async () => {
  const workspace = await createWorkspace();
  const { requests, url } = await startServer();
  await writeModels(workspace, url);
  expect((await runDoctor(workspace)).row("network")).toMatchObject({
    status: "ok",
    says: expect.stringContaining(url),
  });
  expect(requests).toEqual([]);
  expect((await runDoctor(workspace, ["--network"])).row("network").status).toBe("ok");
  expect(requests).toEqual(["GET /"]);
});

test("servers are contacted through the proxy of the environment or of the settings", async () => {
  const workspace = await createWorkspace();
  const { requests, url: proxy } = await startServer();
  await writeModels(workspace, "http://models.example/v1");
  const environment = await runDoctor(workspace, ["--network"], { env: { http_proxy: proxy } });
  expect(environment.row("network")).toMatchObject({ status: "ok", says: expect.stringContaining("http_proxy set") });
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ httpProxy: proxy }));
  const settings = await runDoctor(workspace, ["--network"]);
  expect(settings.row("network")).toMatchObject({ status: "ok", says: expect.stringContaining("httpProxy") });
  expect(requests).toEqual(["GET http://models.example/", "GET http://models.example/"]);
});

test("a server that does not answer fails the check with --network", async () => {
  const workspace = await createWorkspace();
  await writeModels(workspace, "http://127.0.0.1:9");
  const { code, row } = await runDoctor(workspace, ["--network"], { env: { HTTPS_PROXY: "http://127.0.0.1:9" } });
  expect(row("network")).toMatchObject({ status: "fail", says: "no answer from http://127.0.0.1:9" });
  expect(row("network").fix).toContain("proxy");
  expect(code).toBe(exitCodes.failed);
});

test("damaged files, a directory that others can read and a file in its place are reported", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir);
  await chmod(workspace.agentDir, 0o755);
  expect((await runDoctor(workspace)).row("directory")).toMatchObject({
    status: "warn",
    says: expect.stringContaining("was accessible to other users"),
  });
  await chmod(workspace.agentDir, 0o700);
  await writeFile(join(workspace.agentDir, "settings.json"), '{"retry": {"maxRetries": "often"}}');
  await writeFile(join(workspace.agentDir, "models.json"), "{");
  await writeFile(join(workspace.agentDir, "auth.json"), '{"openai": {"type": "api_key", "key": 5}}', { mode: 0o600 });
  const { row } = await runDoctor(workspace);
  expect(row("settings")).toMatchObject({ status: "warn", says: expect.stringContaining("settings.json:1:") });
  expect(row("models.json").status).toBe("warn");
  expect(row("keys")).toMatchObject({ status: "warn", says: expect.stringContaining("auth.json") });
  await writeFile(join(workspace.agentDir, "sessions"), "");
  expect((await runDoctor(workspace)).row("directory")).toMatchObject({
    status: "fail",
    says: expect.stringContaining("sessions"),
    fix: expect.stringContaining("sudo chown -R"),
  });
  const agentDir = join(workspace.directory, "a-file");
  await writeFile(agentDir, "");
  const none = await runDoctor({ ...workspace, agentDir });
  expect(none.row("directory")).toMatchObject({ status: "fail", says: `${agentDir} is not a directory` });
  expect(none.code).toBe(exitCodes.failed);
});

test.each([
  ["20.18.3", "fail"],
  ["18.20.0", "fail"],
  ["20.19.0", "ok"],
  ["24.0.0", "ok"],
])("Node %s: %s", (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test.each([
  [{ TERM: "xterm-256color", LANG: "C.UTF-8" }, "ok"],
  [{ TERM: "xterm-256color", LANG: "C" }, "warn"],
  [{ TERM: "dumb", LANG: "C.UTF-8" }, "warn"],
  [{ LANG: "C.UTF-8" }, "warn"],
])("a terminal with %j: %s", (env, status) => {
  const terminal = { input: true, out: true, err: true };
  expect(checkTerminal({ terminal, env, colour: true }).status).toBe(status);
  expect(checkTerminal({ terminal: { ...terminal, out: false }, env, colour: false }).status).toBe("ok");
});

test("settings that start no session fail the check; other mistakes in them are warnings", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { recursive: true, mode: 0o700 });
  const check = async (text: string) => {
    await writeFile(join(workspace.agentDir, "settings.json"), text);
    const { code, row } = await runDoctor(workspace);
    return [row("settings").status, code === exitCodes.failed];
  };
  expect(await check('{ "tools": { "excluded": ["bash"] } "theme": "dark" }')).toEqual(["fail", true]);
  expect(await check('{ "theme": 5 }')).toEqual(["warn", false]);
});

test("a handler of an event that there is not is reported by doctor, and not by a session", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const directory = join(workspace.agentDir, "extensions");
  await mkdir(directory, { recursive: true });
  const text = `export default (pi) => { pi.on("agent_strat", () => {}); pi.on("of_pi_2", () => {}); };`;
  await writeFile(join(directory, "typo.ts"), text);
  expect(await run(workspace, ["-p", "Hi"])).toMatchObject({ code: 0, out: "Hello.\n", err: "" });
  const { row } = await runDoctor(workspace);
  expect(row("extensions")).toMatchObject({ status: "warn", says: "2 problems" });
  expect(row("extensions").fix).toContain('typo: there is no event agent_strat. Did you mean "agent_start"?');
  expect(row("extensions").fix).toContain("typo: there is no event of_pi_2.");
});

/** A directory and an environment that pi uses too. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createModelWorkspace, createWorkspace, run, textReply } from "./kit.ts";

/** Files in pi's format. */
const piFiles = {
  "auth.json": {
    openai: { type: "api_key", key: "fake-openai-key-0123" },
    anthropic: { type: "oauth", access: "sk-ant-oat-1", refresh: "r", expires: 4_102_444_800_000, extra: { a: 1 } },
  },
  "trust.json": { "/": false },
  "keybindings.json": { "app.exit": "ctrl+q" },
};

async function createPiDirectory() {
  const workspace = await createModelWorkspace([textReply("Hello."), textReply("Hello.")]);
  const { agentDir } = workspace;
  const settings = {
    defaultProvider: "acme",
    defaultModel: "small",
    defaultThinkingLevel: "off",
    lastChangelogVersion: "1.5.0",
    deviceId: "d",
    trackingId: "t",
    packages: ["npm:pi-skills"],
    theme: "dark",
    tuiMode: "fullscreen",
    quietStartup: true,
    terminal: { showImages: false, clearOnShrink: true },
    markdown: { mermaid: "off" },
    warnings: { anthropicExtraUsage: false },
    compaction: { enabled: true, modelOverrides: {} },
    retry: { enabled: true, provider: { timeoutMs: 1_000 } },
  };
  await writeFile(join(agentDir, "settings.json"), JSON.stringify(settings));
  for (const [name, content] of Object.entries(piFiles)) {
    await writeFile(join(agentDir, name), JSON.stringify(content, undefined, 2), { mode: 0o600 });
  }
  return { workspace, settings };
}

test("a directory of pi is quiet but for packages that tau has not installed, and tau doctor says which settings have no effect", async () => {
  const { workspace } = await createPiDirectory();
  // The directory is made private, which is said once.
  await run(workspace, ["auth", "status"]);
  const { code, out: answer, err } = await run(workspace, ["-p", "Hi"]);
  expect({ code, answer }).toEqual({ code: 0, answer: "Hello.\n" });
  expect(err.trimEnd().split("\n")).toEqual([expect.stringMatching(/npm:pi-skills is not installed.*tau install$/)]);
  const { out } = await run(workspace, ["doctor", "--json"]);
  const rows = JSON.parse(out) as { check: string; status: string; says: string }[];
  const row = rows.find(({ check }) => check === "settings of pi");
  expect(row?.status).toBe("ok");
  for (const name of ["terminal.clearOnShrink", "deviceId"]) {
    expect(row?.says).toContain(`${name} (`);
  }
});

test("pi's files are used or left alone, and keep what pi wrote when tau changes them", async () => {
  const { workspace, settings } = await createPiDirectory();
  const read = async (name: string) =>
    JSON.parse(await readFile(join(workspace.agentDir, name), "utf8")) as Record<string, unknown>;
  const { out } = await run(workspace, ["auth", "status"]);
  expect(out).toMatch(/openai +auth\.json, a key/);
  expect(out).toMatch(/anthropic +auth\.json, login/);
  await run(workspace, ["auth", "login", "groq"], { input: "fake-groq-key-0123\n" });
  await run(workspace, ["config", "set", "theme", "light"]);
  await run(workspace, ["trust"]);
  await run(workspace, ["-p", "Hi"]);
  const { groq, ...others } = await read("auth.json");
  expect(groq).toEqual({ type: "api_key", key: "fake-groq-key-0123" });
  expect(others).toEqual(piFiles["auth.json"]);
  expect(await read("settings.json")).toEqual({ ...settings, theme: "light" });
  for (const name of ["trust.json", "keybindings.json"] as const) expect(await read(name)).toEqual(piFiles[name]);
});

test("pi's directory is used if TAU_DIR is not set and there is no directory of tau yet", async () => {
  const { directory } = await createWorkspace();
  const pi = join(directory, "pi");
  const getDirectory = async (env: Record<string, string>) =>
    (await run({ directory, agentDir: "" }, ["config", "path"], { env })).out.trim();
  expect(await getDirectory({ PI_CODING_AGENT_DIR: pi })).toBe(join(pi, "settings.json"));
  expect(await getDirectory({ PI_CODING_AGENT_DIR: pi, TAU_DIR: "own" })).toBe(join(directory, "own/settings.json"));
  expect(await getDirectory({ PI_CODING_AGENT_DIR: "~/pi" })).toBe(join(pi, "settings.json"));
  expect(await getDirectory({ TAU_DIR: "~/own" })).toBe(join(directory, "own/settings.json"));
  expect(await getDirectory({ PI_CODING_AGENT_DIR: "" })).toBe(join(directory, ".tau/settings.json"));
  await mkdir(join(directory, ".tau"));
  expect(await getDirectory({ PI_CODING_AGENT_DIR: pi })).toBe(join(directory, ".tau/settings.json"));
});

test("PI_CODING_AGENT_SESSION_DIR wins over a setting, and a flag over it", async () => {
  const workspace = await createModelWorkspace([textReply("a"), textReply("b")]);
  const env = { PI_CODING_AGENT_SESSION_DIR: "~/from-pi", PI_UNKNOWN: "1" };
  await run(workspace, ["config", "set", "sessionDir", join(workspace.directory, "from-setting")]);
  await run(workspace, ["-p", "Hi"], { env });
  await run(workspace, ["--session-dir", "~/from-flag", "-p", "Hi"], { env });
  for (const name of ["from-pi", "from-flag"]) {
    expect(await readdir(join(workspace.directory, name))).toContainEqual(expect.stringMatching(/\.jsonl$/));
  }
  const list = JSON.parse((await run(workspace, ["sessions", "list", "--json"], { env })).out) as object[];
  expect(list).toHaveLength(1);
});

test("PI_OFFLINE keeps tau models from asking local servers", async () => {
  const workspace = await createWorkspace();
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end('{ "data": [] }');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
  await mkdir(workspace.agentDir, { mode: 0o700 });
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { vllm: { baseUrl } } }));
  await run(workspace, ["models", "--all"], { env: { PI_OFFLINE: "1" } });
  expect(requests).toBe(0);
  await run(workspace, ["models", "--all"], { env: { PI_OFFLINE: "0" } });
  expect(requests).toBeGreaterThan(0);
});

test("ANTHROPIC_AUTH_TOKEN is listed as a credential of anthropic", async () => {
  const workspace = await createWorkspace();
  const { out } = await run(workspace, ["auth", "status"], { env: { ANTHROPIC_AUTH_TOKEN: "fake-token-0123" } });
  expect(out).toMatch(/anthropic +\$ANTHROPIC_AUTH_TOKEN/);
  expect(out).not.toContain("fake-token");
});

test("print mode names the extensions of a project that is not trusted, and does not load them", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const directory = join(workspace.directory, ".pi", "extensions");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "a.ts"), `throw new Error("loaded");`);
  const { code, err } = await run(workspace, ["-p", "Hi"]);
  expect(code).toBe(0);
  expect(err).toMatch(/before it is trusted, so these are ignored: \.pi\/extensions\. To trust it: tau trust\n$/);
  expect(err).not.toContain("loaded");
});

test("--session-id names a session that is not saved, and a copy", async () => {
  const workspace = await createModelWorkspace([textReply("a"), textReply("b"), textReply("c")]);
  const header = async (args: string[]) =>
    JSON.parse((await run(workspace, [...args, "--mode", "json", "Hi"])).out.split("\n")[0]!) as { id: string };
  expect(await header(["--no-session", "--session-id", "kept-nowhere"])).toMatchObject({ id: "kept-nowhere" });
  expect(await header(["--session-id", "first"])).toMatchObject({ id: "first" });
  expect(await header(["--fork", "first", "--session-id", "second"])).toMatchObject({ id: "second" });
  const list = JSON.parse((await run(workspace, ["sessions", "list", "--json"])).out) as { id: string }[];
  expect(list.map(({ id }) => id).toSorted()).toEqual(["first", "second"]);
  expect(await run(workspace, ["--fork", "first", "--session-id", "second", "-p", "Hi"])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is already a session "second".'),
  });
});

/** The packed program, end to end, against servers that use real wire protocols. */
import { spawnSync } from "node:child_process";
import { chmod, chown, copyFile, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { helpText } from "../../src/start/help.ts";
import { version } from "../../src/start/version.ts";
import { toolReply, createModelWorkspace, textReply, temporaryDirectory } from "../kit.ts";
import { installed, runPacked } from "./kit.ts";

const apis = ["openai-completions", "anthropic-messages", "google-generative-ai"] as const;

/** Runs the program without the code cache that the tests share: it has one in its home, if any. */
const runAtHome: typeof runPacked = (workspace, args, options = {}) =>
  runPacked(workspace, args, { ...options, env: { XDG_CACHE_HOME: "", ...options.env } });

test("the version and the help match the tables, and load nothing else", async () => {
  const directory = await temporaryDirectory();
  const workspace = { directory, agentDir: join(directory, "none") };
  for (const flag of ["--version", "-v"]) {
    expect(await runAtHome(workspace, [flag])).toMatchObject({ code: 0, out: `${version}\n`, err: "" });
  }
  for (const flag of ["--help", "-h"]) {
    expect(await runAtHome(workspace, [flag])).toMatchObject({ code: 0, out: helpText(commands), err: "" });
  }
  // Neither a code cache nor a file of the agent directory.
  expect(await readdir(directory)).toEqual([]);
});

test.each(apis)("print mode over %s runs a tool call and prints only the answer", async (api) => {
  const workspace = await createModelWorkspace(
    [toolReply("read", { path: "a.txt" }), textReply("It says apples.")],
    api,
  );
  await writeFile(join(workspace.directory, "a.txt"), "apples");
  expect(await runPacked(workspace, ["-p", "What is in a.txt?"])).toMatchObject({
    code: exitCodes.done,
    out: "It says apples.\n",
    err: "",
  });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("apples");
});

test.each(apis)("JSON mode over %s writes an event per line, and the deltas form the answer", async (api) => {
  const workspace = await createModelWorkspace([toolReply("ls"), textReply("One\u2028two.")], api);
  const { code, out } = await runPacked(workspace, ["--mode", "json", "Look."]);
  expect(code).toBe(exitCodes.done);
  const records = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; delta?: string });
  expect(records[0]?.type).toBe("session");
  expect(records.slice(-2).map(({ type }) => type)).toEqual(["agent_end", "result"]);
  expect(records.some(({ type }) => type === "tool_execution_end")).toBe(true);
  expect(records.flatMap(({ type, delta }) => (type === "text_delta" ? delta : [])).join("")).toBe("One\u2028two.");
});

test("the packed ripgrep and model catalogue work", async () => {
  const workspace = await createModelWorkspace([toolReply("grep", { pattern: "needle" }), textReply("Found.")]);
  await writeFile(join(workspace.directory, "hay.txt"), "straw\nneedle\n");
  expect(await runPacked(workspace, ["-p", "Find it."])).toMatchObject({ code: 0, out: "Found.\n" });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("hay.txt");
  const result = await runPacked(
    workspace,
    ["--model", "anthropic/claude", "--api-key", "fake-key-0123", "--offline", "-p", "Hi"],
    {
      env: { ANTHROPIC_BASE_URL: workspace.server.url },
    },
  );
  expect(result.err).not.toContain("There is no model");
});

test("standard input is sent, and a long answer is complete even if it is read late", async () => {
  const long = "line of text\n".repeat(40_000);
  const workspace = await createModelWorkspace([textReply(long)]);
  const through = ["sh", "-c", '"$@" | (sleep 3; cat)', "sh"];
  const { code, out } = await runPacked(workspace, ["-p", "Say it."], { input: "from a pipe", through });
  expect(code).toBe(0);
  expect(out).toBe(long);
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("from a pipe");
});

test("-c continues a session, and a fork does not change the original", async () => {
  const workspace = await createModelWorkspace([
    textReply("Blue."),
    textReply("You asked for a colour."),
    textReply("Red."),
    textReply("Still blue."),
  ]);
  await runPacked(workspace, ["-p", "Name a colour."]);
  expect(await runPacked(workspace, ["-c", "-p", "What did I ask?"])).toMatchObject({
    out: "You asked for a colour.\n",
  });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("Name a colour.");
  const [first] = await sessionFiles(workspace.agentDir);
  const before = await readFile(first!, "utf8");
  expect(await runPacked(workspace, ["--fork", first!, "-p", "Another."])).toMatchObject({ code: 0, out: "Red.\n" });
  expect(JSON.stringify(workspace.server.requests[2]?.body)).toContain("Name a colour.");
  expect(await readFile(first!, "utf8")).toBe(before);
  expect(await sessionFiles(workspace.agentDir)).toHaveLength(2);
});

test("an empty HOME is ignored, and does not stand for the working directory", async () => {
  const workspace = await createModelWorkspace([textReply("Here.")]);
  expect(await runAtHome(workspace, ["-p", "Hi"], { env: { HOME: "" } })).toMatchObject({
    code: 0,
    out: "Here.\n",
    err: "",
  });
  expect((await readdir(workspace.directory)).filter((name) => name !== ".agent")).toEqual([]);
});

test.runIf(process.getuid?.() === 0)("a user whom the system does not know needs no HOME", async () => {
  const workspace = await createModelWorkspace([textReply("Here.")]);
  const through = ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null /etc/passwd && unset HOME && exec "$@"', "sh"];
  expect(await runAtHome(workspace, ["--help"], { through })).toMatchObject({ code: 0, err: "" });
  expect(await runAtHome(workspace, ["-p", "Hi"], { through })).toMatchObject({ code: 0, out: "Here.\n", err: "" });
});

test.each(["/nowhere", "relative", ""])("a TMPDIR that cannot be used (%j) stops no command", async (TMPDIR) => {
  const workspace = await createModelWorkspace([toolReply("bash", { command: "echo it works" }), textReply("Done.")]);
  expect(await runPacked(workspace, ["-p", "Hi"], { env: { TMPDIR } })).toMatchObject({ code: 0, out: "Done.\n" });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("it works");
});

test.runIf(process.platform === "linux")(
  "where the sandbox is required and missing, commands are said not to run",
  async () => {
    const workspace = await createModelWorkspace([toolReply("bash", { command: "touch made" }), textReply("No.")]);
    const args = ["--sandbox", "required", "-p", "Hi"];
    const { out, err } = await runPacked(workspace, args, { env: { PATH: "/nowhere" } });
    expect(out).toBe("No.\n");
    expect(err).toMatch(/Commands cannot be run: the sandbox is missing\. bubblewrap \(bwrap\) is not installed/);
    expect(err).not.toContain("without a sandbox.");
    expect(await readdir(workspace.directory)).not.toContain("made");
  },
);

test("the code cache is readable only by its owner, grows with use, and then stays unchanged", async () => {
  const workspace = await createModelWorkspace([
    textReply("1"),
    toolReply("ls"),
    textReply("2"),
    textReply("3"),
    textReply("4"),
  ]);
  await runAtHome(workspace, ["-p", "Hi"]);
  const directory = join(workspace.directory, ".cache", "tau", "code");
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const first = await filesIn(directory);
  expect(first.map(({ mode }) => mode & 0o777)).toEqual([0o600]);
  // A call loads the tools and the schema engine for its arguments, which are files of their own.
  await runAtHome(workspace, ["-p", "Use a tool"]);
  const second = await filesIn(directory);
  const getProgram = (files: typeof first) => files.filter(({ name }) => name.includes("-program-"));
  expect(sum(getProgram(second))).toBeGreaterThan(sum(getProgram(first)));
  expect(second.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  await runAtHome(workspace, ["--mode", "json", "Hi"]);
  const third = await filesIn(directory);
  expect(sum(third)).toBeGreaterThan(sum(second));
  await runAtHome(workspace, ["--mode", "json", "Hi"]);
  expect(await filesIn(directory)).toEqual(third);
  // Each command has its own cache, so it does not make that of others larger.
  await runAtHome(workspace, ["config", "path"]);
  const own = (await filesIn(directory)).filter(({ name }) => name.includes("-config-"));
  expect(own.map(({ name }) => /config-([a-z]+)-/.exec(name)?.[1])).toEqual(["commands", "program"]);
  expect((await filesIn(directory)).filter(({ name }) => !name.includes("-config-"))).toEqual(third);
});

const sum = (files: readonly { size: number }[]) => files.reduce((total, { size }) => total + size, 0);

async function filesIn(directory: string): Promise<{ name: string; mode: number; size: number; mtimeMs: number }[]> {
  const names = (await readdir(directory)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const { mode, size, mtimeMs } = await stat(join(directory, name));
      return { name, mode, size, mtimeMs };
    }),
  );
}

test("nothing is created in the home of another user, which sudo may leave in HOME", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("Only root can change the owner of a directory.");
  const workspace = await createModelWorkspace([textReply("1")]);
  await chown(workspace.directory, 12_345, 12_345);
  expect(await runAtHome(workspace, ["-p", "Hi"])).toMatchObject({ code: 0, out: "1\n" });
  expect(await readdir(workspace.directory)).not.toContain(".cache");
});

test("the program runs through a link that Node does not follow, and reports a missing file", async () => {
  const workspace = await createModelWorkspace([]);
  const link = join(workspace.directory, "tau");
  const program = await installed();
  await symlink(join(program, "dist", "tau.cjs"), link);
  const env = { HOME: workspace.directory, PATH: process.env["PATH"] };
  const args = ["--preserve-symlinks-main", link, "config", "path"];
  const { stdout } = spawnSync(process.execPath, args, { env, encoding: "utf8", cwd: workspace.directory });
  expect(stdout).toContain("settings.json");
  const alone = join(workspace.directory, "alone.cjs");
  await copyFile(join(program, "dist", "tau.cjs"), alone);
  const { status, stderr } = spawnSync(process.execPath, [alone, "-p", "Hi"], { env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^tau: .*program\.cjs cannot be run: .* Install tau again\.\n$/);
});

test("a code cache that is damaged, or that others can write, is not used", async () => {
  const workspace = await createModelWorkspace([textReply("1"), textReply("2"), textReply("3")]);
  const directory = join(workspace.directory, ".cache", "tau", "code");
  await runAtHome(workspace, ["-p", "Hi"]);
  const file = join(directory, (await readdir(directory))[0]!);
  const good = await stat(file);
  await writeFile(file, "damaged");
  expect(await runAtHome(workspace, ["-p", "Hi"])).toMatchObject({ code: 0, out: "2\n", err: "" });
  expect((await stat(file)).size).toBeGreaterThan(good.size / 2);
  await writeFile(file, "planted");
  await chmod(directory, 0o777);
  expect(await runAtHome(workspace, ["-p", "Hi"])).toMatchObject({ code: 0, out: "3\n", err: "" });
  expect(await readFile(file, "utf8")).toBe("planted");
});

test("the package contains no registry address and nothing of the workspace", async () => {
  const program = await installed();
  const shrinkwrap = await readFile(join(program, "npm-shrinkwrap.json"), "utf8");
  expect(shrinkwrap).not.toMatch(/https?:|"resolved"/);
  const manifest = JSON.parse(await readFile(join(program, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@tau/"))).toEqual([]);
  const { packages } = JSON.parse(shrinkwrap) as { packages: Record<string, { version?: string }> };
  for (const [name, wanted] of Object.entries(manifest.dependencies)) {
    expect(packages[`node_modules/${name}`]?.version).toBe(wanted);
  }
  for (const name of ["program", "tools", "commands"]) {
    expect(await readFile(join(program, "dist", `${name}.cjs`), "utf8")).not.toMatch(/require\("@tau\//);
  }
  expect(await readFile(join(program, "THIRD-PARTY.md"), "utf8")).toContain("## yaml ");
});

async function sessionFiles(agentDir: string): Promise<string[]> {
  const entries = await readdir(join(agentDir, "sessions"), { recursive: true, withFileTypes: true });
  const files = entries.filter((file) => file.isFile() && file.name.endsWith(".jsonl"));
  return files.map((file) => join(file.parentPath, file.name)).sort();
}

test("a code cache that is damaged, of another build or unreadable is not used", async () => {
  const { directory, agentDir } = await createModelWorkspace([]);
  const workspace = { directory, agentDir };
  const list = () => runAtHome(workspace, ["sessions", "list", "--json"]);
  expect((await list()).code).toBe(0);
  const cache = join(directory, ".cache", "tau", "code");
  const [file] = (await readdir(cache)).filter((name) => name.includes("-program-"));
  const bytes = await readFile(join(cache, file!));
  const step = Math.floor(bytes.length / 20);
  for (let index = 100; index < bytes.length; index += step) bytes[index]! ^= 0xff;
  await writeFile(join(cache, file!), bytes);
  expect((await list()).code).toBe(0);
  const home = await temporaryDirectory();
  await writeFile(join(home, ".cache"), "no directory");
  expect((await runAtHome(workspace, ["sessions", "list", "--json"], { env: { HOME: home } })).code).toBe(0);
});

test.each([
  ["removed", "mkdir gone && cd gone && rmdir ../gone", /is not there any more/],
  ["not named in UTF-8", "mkdir \"$(printf '\\377')\" && cd \"$(printf '\\377')\"", /is not UTF-8\. Rename it/],
])("a working directory that is %s fails in one line", async (_state, enter, problem) => {
  const workspace = await createModelWorkspace([]);
  const through = ["sh", "-c", `${enter} && exec "$@"`, "sh"];
  const result = await runPacked(workspace, ["-p", "Hi"], { through });
  expect(result).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(result.err.trim().split("\n")).toEqual([expect.stringMatching(problem)]);
});

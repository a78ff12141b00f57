/** The packed program, end to end, against servers that speak real wire protocols. */
import { spawnSync } from "node:child_process";
import { chmod, chown, copyFile, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { exitCodes } from "../../src/exit-codes.ts";
import { helpText } from "../../src/help.ts";
import { version } from "../../src/version.ts";
import { calls, ground, says, temporaryDirectory } from "../kit.ts";
import { installed, runPacked } from "./kit.ts";

const apis = ["openai-completions", "anthropic-messages", "google-generative-ai"] as const;

test("the version and the help are those of the tables, and load nothing else", async () => {
  const directory = await temporaryDirectory();
  const place = { directory, agentDir: join(directory, "none") };
  for (const flag of ["--version", "-v"]) {
    expect(await runPacked(place, [flag])).toMatchObject({ code: 0, out: `${version}\n`, err: "" });
  }
  for (const flag of ["--help", "-h"]) {
    expect(await runPacked(place, [flag])).toMatchObject({ code: 0, out: helpText(commands), err: "" });
  }
  // Neither a code cache nor anything of the agent's.
  expect(await readdir(directory)).toEqual([]);
});

test.each(apis)("print mode over %s: a tool call, then the answer alone", async (api) => {
  const place = await ground([calls("read", { path: "a.txt" }), says("It says apples.")], api);
  await writeFile(join(place.directory, "a.txt"), "apples");
  expect(await runPacked(place, ["-p", "What is in a.txt?"])).toMatchObject({
    code: exitCodes.done,
    out: "It says apples.\n",
    err: "",
  });
  expect(JSON.stringify(place.server.requests[1]?.body)).toContain("apples");
});

test.each(apis)("JSON mode over %s: every line is an event, and the deltas make the answer", async (api) => {
  const place = await ground([calls("ls"), says("One\u2028two.")], api);
  const { code, out } = await runPacked(place, ["--mode", "json", "Look."]);
  expect(code).toBe(exitCodes.done);
  const records = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; delta?: string });
  expect(records[0]?.type).toBe("session");
  expect(records.at(-1)?.type).toBe("agent_end");
  expect(records.some(({ type }) => type === "tool_execution_end")).toBe(true);
  expect(records.flatMap(({ type, delta }) => (type === "text_delta" ? delta : [])).join("")).toBe("One\u2028two.");
});

test("what the program brings along works: ripgrep finds, and a catalogue is read", async () => {
  const place = await ground([calls("grep", { pattern: "needle" }), says("Found.")]);
  await writeFile(join(place.directory, "hay.txt"), "straw\nneedle\n");
  expect(await runPacked(place, ["-p", "Find it."])).toMatchObject({ code: 0, out: "Found.\n" });
  expect(JSON.stringify(place.server.requests[1]?.body)).toContain("hay.txt");
  const ran = await runPacked(
    place,
    ["--model", "anthropic/claude", "--api-key", "fake-key-0123", "--offline", "-p", "Hi"],
    {
      env: { ANTHROPIC_BASE_URL: place.server.url },
    },
  );
  expect(ran.err).not.toContain("There is no model");
});

test("standard input goes along, and a long answer arrives whole, however late it is read", async () => {
  const long = "line of text\n".repeat(40_000);
  const place = await ground([says(long)]);
  const through = ["sh", "-c", '"$@" | (sleep 3; cat)', "sh"];
  const { code, out } = await runPacked(place, ["-p", "Say it."], { input: "from a pipe", through });
  expect(code).toBe(0);
  expect(out).toBe(long);
  expect(JSON.stringify(place.server.requests[0]?.body)).toContain("from a pipe");
});

test("a session goes on with -c, and a fork leaves the first one as it was", async () => {
  const place = await ground([says("Blue."), says("You asked for a colour."), says("Red."), says("Still blue.")]);
  await runPacked(place, ["-p", "Name a colour."]);
  expect(await runPacked(place, ["-c", "-p", "What did I ask?"])).toMatchObject({ out: "You asked for a colour.\n" });
  expect(JSON.stringify(place.server.requests[1]?.body)).toContain("Name a colour.");
  const [first] = await sessionFiles(place.agentDir);
  const before = await readFile(first!, "utf8");
  expect(await runPacked(place, ["--fork", first!, "-p", "Another."])).toMatchObject({ code: 0, out: "Red.\n" });
  expect(JSON.stringify(place.server.requests[2]?.body)).toContain("Name a colour.");
  expect(await readFile(first!, "utf8")).toBe(before);
  expect(await sessionFiles(place.agentDir)).toHaveLength(2);
});

test("an empty HOME is none, and no path of the working directory", async () => {
  const place = await ground([says("Here.")]);
  expect(await runPacked(place, ["-p", "Hi"], { env: { HOME: "" } })).toMatchObject({
    code: 0,
    out: "Here.\n",
    err: "",
  });
  expect((await readdir(place.directory)).filter((name) => name !== ".agent")).toEqual([]);
});

test("the code cache is the owner's alone, grows with what is used, and is left alone after that", async () => {
  const place = await ground([says("1"), calls("ls"), says("2"), says("3"), says("4")]);
  await runPacked(place, ["-p", "Hi"]);
  const directory = join(place.directory, ".cache", "tau", "code");
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const first = await filesIn(directory);
  expect(first.map(({ mode }) => mode & 0o777)).toEqual([0o600]);
  // A call loads the tool, and the schema engine for its arguments, which is a file of its own.
  await runPacked(place, ["-p", "Use a tool"]);
  const second = await filesIn(directory);
  const getProgram = (files: typeof first) => files.filter(({ name }) => name.includes("-program-"));
  expect(sum(getProgram(second))).toBeGreaterThan(sum(getProgram(first)));
  expect(second.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
  await runPacked(place, ["--mode", "json", "Hi"]);
  const third = await filesIn(directory);
  expect(sum(third)).toBeGreaterThan(sum(second));
  await runPacked(place, ["--mode", "json", "Hi"]);
  expect(await filesIn(directory)).toEqual(third);
  // A command has its own, and does not make that of others larger.
  await runPacked(place, ["config", "path"]);
  const own = (await filesIn(directory)).filter(({ name }) => name.includes("-config-"));
  expect(own).toHaveLength(1);
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

test("nothing is made in a home that is somebody else's, as sudo may leave it", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("Only root can give a directory to somebody else.");
  const place = await ground([says("1")]);
  await chown(place.directory, 12_345, 12_345);
  expect(await runPacked(place, ["-p", "Hi"])).toMatchObject({ code: 0, out: "1\n" });
  expect(await readdir(place.directory)).not.toContain(".cache");
});

test("it runs through a link that Node does not follow, and says what is missing where something is", async () => {
  const place = await ground([]);
  const link = join(place.directory, "tau");
  const program = await installed();
  await symlink(join(program, "dist", "tau.cjs"), link);
  const env = { HOME: place.directory, PATH: process.env["PATH"] };
  const args = ["--preserve-symlinks-main", link, "config", "path"];
  const { stdout } = spawnSync(process.execPath, args, { env, encoding: "utf8", cwd: place.directory });
  expect(stdout).toContain("settings.json");
  const alone = join(place.directory, "alone.cjs");
  await copyFile(join(program, "dist", "tau.cjs"), alone);
  const { status, stderr } = spawnSync(process.execPath, [alone, "-p", "Hi"], { env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^tau: .*program\.cjs cannot be run: .* Install tau again\.\n$/);
});

test("a cache that is damaged, or that others can write to, is not used", async () => {
  const place = await ground([says("1"), says("2"), says("3")]);
  const directory = join(place.directory, ".cache", "tau", "code");
  await runPacked(place, ["-p", "Hi"]);
  const file = join(directory, (await readdir(directory))[0]!);
  const good = await stat(file);
  await writeFile(file, "damaged");
  expect(await runPacked(place, ["-p", "Hi"])).toMatchObject({ code: 0, out: "2\n", err: "" });
  expect((await stat(file)).size).toBeGreaterThan(good.size / 2);
  await writeFile(file, "planted");
  await chmod(directory, 0o777);
  expect(await runPacked(place, ["-p", "Hi"])).toMatchObject({ code: 0, out: "3\n", err: "" });
  expect(await readFile(file, "utf8")).toBe("planted");
});

test("the package names no registry and nothing of the workspace", async () => {
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
  expect(await readFile(join(program, "dist", "program.cjs"), "utf8")).not.toMatch(/require\("@tau\//);
  expect(await readFile(join(program, "THIRD-PARTY.md"), "utf8")).toContain("## yaml ");
});

async function sessionFiles(agentDir: string): Promise<string[]> {
  const found = await readdir(join(agentDir, "sessions"), { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile() && one.name.endsWith(".jsonl"));
  return files.map((one) => join(one.parentPath, one.name)).sort();
}

test("a code cache that is damaged, of another build or out of reach is not used", async () => {
  const { directory, agentDir } = await ground([]);
  const place = { directory, agentDir };
  const list = () => runPacked(place, ["sessions", "list", "--json"]);
  expect((await list()).code).toBe(0);
  const cache = join(directory, ".cache", "tau", "code");
  const [file] = (await readdir(cache)).filter((name) => name.includes("-program-"));
  const bytes = await readFile(join(cache, file!));
  for (let at = 100; at < bytes.length; at += Math.floor(bytes.length / 20)) bytes[at]! ^= 0xff;
  await writeFile(join(cache, file!), bytes);
  expect((await list()).code).toBe(0);
  const home = await temporaryDirectory();
  await writeFile(join(home, ".cache"), "no directory");
  expect((await runPacked(place, ["sessions", "list", "--json"], { env: { HOME: home } })).code).toBe(0);
});

test("output that cannot be written is said, and is a failure", async () => {
  const place = await ground([says("Lost.")]);
  for (const args of [["-p", "Hi"], ["--help"]]) {
    const ran = await runPacked(place, args, { through: ["sh", "-c", 'exec "$@" >/dev/full', "sh"] });
    expect(ran.code).toBe(exitCodes.failed);
    expect(ran.err).toContain("cannot be written");
    expect(ran.err).not.toContain("    at ");
  }
});

test("a working directory that is gone is one line", async () => {
  const place = await ground([]);
  const through = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"];
  const ran = await runPacked(place, ["-p", "Hi"], { through });
  expect(ran).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(ran.err.trim().split("\n")).toHaveLength(1);
});

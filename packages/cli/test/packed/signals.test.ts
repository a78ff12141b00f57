/** How the packed program ends: signals, closed pipes, crashes, full disks. */
import { execFileSync } from "node:child_process";
import { openSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { toolReply, createModelWorkspace, textReply, temporaryDirectory } from "../kit.ts";
import { endWith, processesWith, runPacked, sleeping, start, type Started } from "./kit.ts";

const isRunning = (command: string) => processesWith(command).length > 0;

/** Resolves when the tool call has started: its event was sent, and its process runs. */
async function waitForCommand(run: Started, command: string): Promise<void> {
  await run.until((out) => out.includes("tool_execution_start"));
  await expect.poll(() => isRunning(command)).toBe(true);
}

/** The processes that hold a lock of a session. A released lock is removed. */
async function listLockHolders(agentDir: string): Promise<number[]> {
  const directory = join(agentDir, "sessions");
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith(".lock"));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return texts.map((text) => (JSON.parse(text) as { pid: number }).pid);
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s ends the run, its commands and its lock with the exit code %i, and the session can be continued",
  async (signal, exitCode) => {
    const command = sleeping();
    const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("Here again.")]);
    const run = await start(workspace, ["--mode", "json", "Wait."]);
    await waitForCommand(run, command);
    expect(await listLockHolders(workspace.agentDir)).toEqual([run.child.pid]);
    const end = await endWith(run, signal);
    // As a shell reports it: on a busy machine a thread may hold the program, which the signal itself ends then.
    expect(end.code ?? 128 + constants.signals[end.signal!]).toBe(exitCode);
    expect(isRunning(command)).toBe(false);
    expect(await listLockHolders(workspace.agentDir)).toEqual([]);
    expect(await runPacked(workspace, ["-c", "-p", "Still there?"])).toMatchObject({ code: 0, out: "Here again.\n" });
  },
);

test("a program that a thread holds is ended by the signal that it was sent", async () => {
  const directory = await temporaryDirectory();
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const writer = new Socket({ fd: openSync(pipe, "r+"), readable: false, writable: true });
  onTestFinished(() => void writer.destroy());
  const run = await start({ directory, agentDir: join(directory, "agent") }, ["sessions", "import", pipe]);
  // More than the pipe holds: once it is written, the program is reading, and waits for an end that never comes.
  await new Promise((resolve) => void writer.write("x".repeat(300_000), resolve));
  expect(await endWith(run, "SIGTERM")).toMatchObject({ code: null, signal: "SIGTERM", err: "" });
});

test("SIGINT while the model answers ends the run with one line", async () => {
  const workspace = await createModelWorkspace([{ kind: "raw", chunks: [": waiting\n\n"], ending: "hang" }]);
  const run = await start(workspace, ["-p", "Wait."]);
  await expect.poll(() => workspace.server.requests.length).toBe(1);
  const { code, err, out } = await endWith(run, "SIGINT");
  expect({ code, out, err }).toEqual({ code: exitCodes.interrupted, out: "", err: "tau: interrupted.\n" });
});

test("a reader that closes the pipe early ends the run without an error", async () => {
  const command = sleeping();
  const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("never read")]);
  const through = ["sh", "-c", '"$@" | head -1; echo "pipe: $?"', "sh"];
  const run = await start(workspace, ["--mode", "json", "Go."], { through });
  const { out, err } = await run.ended;
  expect(out.split("\n")).toHaveLength(3);
  expect(err).toBe("");
  await expect.poll(() => isRunning(command)).toBe(false);
});

test("after a crash during a tool call the session can be continued, and the model is informed", async () => {
  const command = sleeping();
  const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("I will look first.")]);
  const run = await start(workspace, ["--mode", "json", "Do it."]);
  await waitForCommand(run, command);
  expect((await endWith(run, "SIGKILL")).signal).toBe("SIGKILL");
  expect(await runPacked(workspace, ["-c", "-p", "Go on."])).toMatchObject({ code: 0, out: "I will look first.\n" });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("outcome of this call is unknown");
  await expect.poll(() => isRunning(command)).toBe(false);
});

test("an agent directory that cannot be written fails in one line", async () => {
  const workspace = await createModelWorkspace([textReply("never")]);
  const file = join(workspace.directory, "file");
  await writeFile(file, "");
  const { code, out, err } = await runPacked({ ...workspace, agentDir: join(file, "agent") }, ["-p", "Hi"]);
  expect(code).toBe(exitCodes.failed);
  expect(out).toBe("");
  expect(err).toMatch(/^tau: .+\n/);
  expect(err).not.toMatch(/^\s+at /m);
});

test("a full disk fails in one line, and the session stays intact", async () => {
  const workspace = await createModelWorkspace([
    textReply("First."),
    textReply("x".repeat(20_000)),
    textReply("Last."),
  ]);
  await runPacked(workspace, ["-p", "Hi"]);
  // No file may grow beyond 8 KB: as far as the program can tell, the disk is full.
  const through = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh"];
  const full = await runPacked(workspace, ["-c", "-p", "Say much."], { through });
  expect(full.code).toBe(exitCodes.failed);
  expect(full.err).toMatch(/^tau: .+\n/);
  expect(full.err).not.toMatch(/^\s+at /m);
  expect(await runPacked(workspace, ["-c", "-p", "Again"])).toMatchObject({ code: 0, out: "Last.\n" });
});

test("output that cannot be written fails in one line that says why, in every mode", async () => {
  const long = "x".repeat(100_000);
  const workspace = await createModelWorkspace([textReply(long), textReply(long), textReply(long)]);
  await runPacked(workspace, ["-p", "Say much."]);
  const modes: [args: string[], input?: string][] = [
    [["--help"]],
    [["models", "--all"]],
    [["models", "--all", "--json"]],
    [["sessions", "export", "--format", "jsonl"]],
    [["-p", "Again."]],
    [["--mode", "json", "-p", "Again."]],
    [["--mode", "rpc"], '{"type":"get_entries"}\n'],
  ];
  for (const [args, input] of modes) {
    const through = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
    const result = await runPacked(workspace, args, { through, ...(input !== undefined && { input }) });
    const err = "tau: the output cannot be written: ENOSPC: no space left on device, write\n";
    expect(result, args.join(" ")).toMatchObject({ code: exitCodes.failed, err });
  }
  // The disk takes a part: no file may grow beyond 100 blocks.
  const through = ["sh", "-c", 'ulimit -f 100; exec "$@" > part', "sh"];
  const { code, err } = await runPacked(workspace, ["models", "--all"], { through });
  expect({ code, err }).toEqual({ code: exitCodes.failed, err: expect.stringContaining("file too large") });
  const piped = await runPacked(workspace, ["models", "--all"], { through: ["sh", "-c", '"$@" | head -1', "sh"] });
  expect(piped).toMatchObject({ code: exitCodes.done, err: "" });
});

test("without a key there are five lines and no stack trace", async () => {
  const directory = await temporaryDirectory();
  const { code, err } = await runPacked({ directory, agentDir: join(directory, "agent") }, ["-p", "Hi"]);
  expect(code).toBe(exitCodes.failed);
  expect(err.trim().split("\n")).toHaveLength(5);
});

test("Ctrl-C during a login ends it, and nothing is stored", async () => {
  const directory = await temporaryDirectory();
  const workspace = { directory, agentDir: join(directory, "agent") };
  const run = await start(workspace, ["auth", "login", "anthropic", "--method", "browser"]);
  await expect.poll(() => run.output().err).toContain("https://");
  const { code, out, err } = await endWith(run, "SIGINT");
  expect({ code, out }).toEqual({ code: exitCodes.interrupted, out: "" });
  expect(err).toMatch(/\ntau auth: The login was cancelled\.\n$/);
  expect(await readdir(workspace.agentDir).catch(() => [])).not.toContain("auth.json");
});

/** How long the packed program takes to end, at most. These tests run alone, and their limits grow with the load. */
import { execFileSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { allowance, expectWithin } from "../../../tools/test/time.ts";
import { toolReply, createModelWorkspace, temporaryDirectory } from "../kit.ts";
import { endWith, sleeping, start, type Started } from "./kit.ts";

/** Resolves when the signal was delivered: two pending signals would count as one. */
async function interrupt({ child }: Started): Promise<void> {
  child.kill("SIGINT");
  await expect.poll(() => readFileSync(`/proc/${child.pid}/status`, "utf8")).toMatch(/^ShdPnd:\t0+$/m);
}

test("an interrupt ends the program at once if nothing holds it", async () => {
  // The program would wait 400 ms for a blocked thread.
  await expectWithin(350, async () => {
    const workspace = await createModelWorkspace([{ kind: "raw", chunks: [": waiting\n\n"], ending: "hang" }]);
    const run = await start(workspace, ["-p", "Wait."]);
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    return (await endWith(run, "SIGINT")).afterMs;
  });
});

test("the second Ctrl-C does not wait", async () => {
  // A command that only SIGKILL ends takes a while to be ended.
  const command = `trap "" INT TERM HUP; ${sleeping()}`;
  const workspace = await createModelWorkspace([toolReply("bash", { command })]);
  const run = await start(workspace, ["--mode", "json", "Wait."]);
  await run.until((out) => out.includes("tool_execution_start"));
  await interrupt(run);
  const { code, afterMs } = await endWith(run, "SIGINT");
  expect(code).toBe(exitCodes.interrupted);
  expect(afterMs).toBeLessThan(allowance(1_000));
});

test("the second Ctrl-C does not wait for a blocked thread", async () => {
  const directory = await temporaryDirectory();
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const workspace = { directory, agentDir: join(directory, "agent") };
  const writer = new Socket({ fd: openSync(pipe, "r+"), readable: false, writable: true });
  onTestFinished(() => void writer.destroy());
  const run = await start(workspace, ["sessions", "import", pipe]);
  // More than the pipe holds: once it is written, the program is reading, and waits for an end that never comes.
  await new Promise((resolve) => void writer.write("x".repeat(300_000), resolve));
  await interrupt(run);
  const { code, signal, err, afterMs } = await endWith(run, "SIGINT");
  // A shell reports this as 130.
  expect({ code, signal, err }).toEqual({ code: null, signal: "SIGINT", err: "" });
  expect(afterMs).toBeLessThan(allowance(1_000));
});

/** A log whose context is far too large for the model, so that a prompt compacts it first. */
async function writeLongSession(directory: string, count: number): Promise<string> {
  const timestamp = new Date(0).toISOString();
  const toId = (index: number) => index.toString(16).padStart(8, "0");
  const header = { type: "session", version: 3, id: "long", timestamp, cwd: directory };
  const entries = Array.from({ length: count }, (_unused, index) => {
    const content = [{ type: "text", text: `Message ${index}` }];
    const message = index % 2 === 0 ? { role: "user", content, timestamp: 0 } : fauxAnswer(content);
    return { type: "message", id: toId(index), parentId: index === 0 ? null : toId(index - 1), timestamp, message };
  });
  const file = join(directory, "long.jsonl");
  await writeFile(file, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

const fauxAnswer = (content: unknown) => ({
  role: "assistant",
  content,
  api: "openai-completions",
  provider: "acme",
  model: "small",
  usage: {},
  stopReason: "stop",
  timestamp: 0,
});

test("SIGTERM ends the program within a second, whenever it comes while a long session is opened or compacted", async () => {
  const workspace = await createModelWorkspace([]);
  const file = await writeLongSession(workspace.directory, 150_000);
  for (const earliestMs of process.env["TAU_LONG"] ? [300, 1_500, 3_000] : [300, 2_000]) {
    await expectWithin(1_000, async () => {
      const run = await start(workspace, ["--session", file, "-p", "Hi"]);
      await sleep(systemClock, earliestMs + Math.random() * 1_000);
      const { code, signal, afterMs } = await endWith(run, "SIGTERM");
      expect(signal ?? code).toBeOneOf(["SIGTERM", 143]);
      return afterMs;
    });
  }
});

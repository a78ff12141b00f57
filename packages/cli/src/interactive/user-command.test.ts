import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createRunUserCommand } from "./run-user-command.ts";
import { type RunUserCommand, UserCommand } from "./user-command.ts";

/** Runs that end when the test says so. */
function createRuns() {
  const runs: { input: unknown; end: (output: string | undefined) => void; signal: AbortSignal }[] = [];
  const run: RunUserCommand = ({ input }, signal) => new Promise((end) => runs.push({ input, end, signal }));
  return { runs, run };
}

test("there is never more than one at a time, the last request counts, and not more often than the interval", async () => {
  const { runs, run } = createRuns();
  const clock = createFakeClock();
  const outputs: (string | undefined)[] = [];
  const command = new UserCommand({ run, clock, minIntervalMs: 300, onOutput: (output) => outputs.push(output) });
  const request = (input: number) => command.request({ command: "x", cwd: "/", input });
  request(1);
  request(2);
  request(3);
  expect(runs.map(({ input }) => input)).toEqual([1]);
  runs[0]!.end("one");
  await expect.poll(() => outputs).toEqual(["one"]);
  expect(runs).toHaveLength(1);
  request(4);
  await clock.advance(299);
  expect(runs).toHaveLength(1);
  await clock.advance(1);
  expect(runs.map(({ input }) => input)).toEqual([1, 4]);
  await clock.advance(10_000);
  request(5);
  expect(runs).toHaveLength(2);
  runs[1]!.end(undefined);
  await expect.poll(() => runs.map(({ input }) => input)).toEqual([1, 4, 5]);
});

test("after the end nothing is started, and what runs is ended", () => {
  const { runs, run } = createRuns();
  const command = new UserCommand({ run, clock: createFakeClock(), minIntervalMs: 0 });
  command.request({ command: "x", cwd: "/", input: 1 });
  command.request({ command: "x", cwd: "/", input: 2 });
  command.close();
  command.request({ command: "x", cwd: "/", input: 3 });
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true]);
});

test.each([
  ["prints", "cat", '{"a":1}'],
  ["never ends", "trap '' TERM; while :; do sleep 1; done", undefined],
  ["floods", "yes", undefined],
  ["fails", "echo no; exit 3", undefined],
  ["kills itself", "kill -9 $$", undefined],
  ["does not exist", "no-such-program-here", undefined],
  ["leaves others behind that hold its output", "echo fine; (trap '' TERM HUP; sleep 300) & ", "fine\n"],
  ["closes its input", "exec <&-; echo fine", "fine\n"],
])("a command that %s gives its output, or none", async (_name, command, output) => {
  const run = createRunUserCommand({ timeoutMs: 1_500 });
  expect(await run({ command, cwd: tmpdir(), input: { a: 1 } }, new AbortController().signal)).toBe(output);
});

test("a command whose end is wanted leaves nothing behind", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-command-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const end = new AbortController();
  const run = createRunUserCommand({ timeoutMs: 60_000 });
  const running = run({ command: "sleep 300 & echo $! > pid; wait", cwd: directory, input: {} }, end.signal);
  const readPid = async () => Number(await readFile(join(directory, "pid"), "utf8").catch(() => "0"));
  await expect.poll(readPid, { timeout: 20_000 }).toBeGreaterThan(0);
  const pid = await readPid();
  end.abort();
  expect(await running).toBeUndefined();
  const isAlive = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(isAlive, { timeout: 20_000 }).toBe(false);
});

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createKeyCommands } from "./key-command.ts";

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-command-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a command runs once, also for calls at the same time, and its output is trimmed", async () => {
  const run = createKeyCommands();
  const file = join(scratch(), "runs");
  const command = `echo x >> '${file}'; printf ' sk-fake \\n\\n'`;
  const both = await Promise.all([run(command, "the key"), run(command, "the key")]);
  expect([...both, await run(command, "the key")]).toEqual(
    Array.from({ length: 3 }, () => ({ kind: "value", value: "sk-fake" })),
  );
  expect(readFileSync(file, "utf8")).toBe("x\n");
});

test("a command that failed runs again at the next call", async () => {
  const run = createKeyCommands();
  const file = join(scratch(), "unlocked");
  const command = `cat '${file}' || { echo fake > '${file}'; exit 3; }`;
  expect(await run(command, "the key")).toMatchObject({ failure: { kind: "command" } });
  expect(await run(command, "the key")).toEqual({ kind: "value", value: "fake" });
});

test.each([
  ["fails", "echo canary; echo canary >&2; exit 3", "ended with code 3"],
  ["does not exist", "canary-no-such-program", "ended with code 127"],
  ["is empty", "", "could not be started"],
  ["no shell can be given", "echo canary\u0000", "could not be started"],
  ["no shell can be given, by its length", `: ${"canary".repeat(100_000)}`, "could not be started"],
  ["prints nothing", "true # canary", "one line"],
  ["prints two lines", "echo canary; echo canary", "one line"],
  ["prints without end", "yes canary", "more than 65536 bytes"],
])(
  "a command that %s is a failure whose message has neither the command nor its output",
  async (_name, command, text) => {
    const outcome = await createKeyCommands()(command, "the key of x");
    expect(outcome).toMatchObject({
      kind: "failed",
      failure: { kind: "command", message: expect.stringContaining(text) },
    });
    expect(JSON.stringify(outcome)).not.toContain("canary");
    expect(JSON.stringify(outcome)).toMatch(/the key of x/i);
  },
);

test("a command that hangs is stopped with all its processes", async () => {
  const file = join(scratch(), "pid");
  const clock = createFakeClock();
  const running = createKeyCommands({ clock, timeoutMs: 300 })(`sleep 60 & echo $! > '${file}'; wait`, "the key of x");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/^\d+\n$/);
  await clock.advance(300);
  expect(await running).toMatchObject({ failure: { message: expect.stringContaining("0.3 s") } });
  const pid = Number(readFileSync(file, "utf8"));
  await expect.poll(() => isRunning(pid)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that is ended but not yet waited for has no memory any more.
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch (error) {
    expect(["ESRCH", "ENOENT"]).toContain((error as NodeJS.ErrnoException).code);
    return false;
  }
}

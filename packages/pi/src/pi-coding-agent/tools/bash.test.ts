import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentToolResult } from "@tau/agent";
import { createBashTool } from "./bash.ts";
import { createLocalBashOperations } from "./bash-operations.ts";
import { createGrepTool } from "./grep.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-bash-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const text = ({ content }: AgentToolResult) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

test("a command whose output cannot be kept in a file still gives the end of it", async () => {
  writeFileSync(join(directory, "file"), "");
  vi.stubEnv("TMPDIR", join(directory, "file"));
  const result = await createBashTool(directory).execute("call", { command: "seq 1 30000" });
  expect(text(result)).toMatch(
    /\n30000\n\n+\[Showing lines \d+-30001 of 30001[^\]]*The full output could not be kept\.\]$/,
  );
  expect(result.details).not.toHaveProperty("fullOutputPath");
  expect(readdirSync(directory)).toEqual(["file"]);
});

test("a command that is aborted while it starts is ended", async () => {
  const abort = new AbortController();
  const ended = createLocalBashOperations().exec("sleep 100", directory, { onData() {}, signal: abort.signal });
  abort.abort();
  await expect(ended).rejects.toThrow("aborted");
});

test("a search that is aborted while it starts is ended", async () => {
  execFileSync("mkfifo", [join(directory, "pipe")]);
  const abort = new AbortController();
  const ended = createGrepTool(directory).execute("call", { pattern: "x", path: "pipe" }, abort.signal);
  abort.abort();
  await expect(ended).rejects.toThrow("aborted");
});

test("a process that a command leaves behind is not heard after the result", async () => {
  const updates: string[] = [];
  const command =
    "trap '' PIPE; (until [ -e go ]; do sleep 0.02; done; echo late; echo late >&2; touch done) & echo started";
  const result = await createBashTool(directory).execute("call", { command }, undefined, (update) => {
    updates.push(text(update));
  });
  expect(text(result)).toBe("started\n");
  writeFileSync(join(directory, "go"), "");
  await expect.poll(() => existsSync(join(directory, "done"))).toBe(true);
  // Whatever is in the pipes is read in the next turns of the event loop.
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  expect(updates).toEqual(["started\n"]);
});

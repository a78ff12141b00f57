/** Errors that nothing catches, and stacks. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { writeModule } from "../extension-kit.ts";
import { createModelWorkspace } from "../kit.ts";
import { runPacked } from "./kit.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** Throws as soon as the program handles such errors. */
const boom = `
const check = () => {
  if (process.listenerCount("uncaughtException") === 0) return void setImmediate(check);
  FAIL;
};
setImmediate(check);
`;

test.each([
  ["an error in a callback", 'throw new TypeError("boom")'],
  ["a rejection that nobody waits for", 'Promise.reject(new TypeError("boom"))'],
])("%s is one readable line, and with TAU_DEBUG a stack", async (_name, failure) => {
  const workspace = await createModelWorkspace([{ kind: "raw", chunks: [], ending: "hang" }]);
  const file = join(workspace.directory, "boom.cjs");
  await writeFile(file, boom.replace("FAIL", failure));
  const env = { NODE_OPTIONS: `--require ${file}` };
  const plain = await runPacked(workspace, ["-p", "Hi"], { env });
  expect(plain).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(plain.err).toBe(
    "tau: an unexpected error: boom\nThis looks like a bug in tau. TAU_DEBUG=1 shows where it happened.\n",
  );
  const debug = await runPacked(workspace, ["-p", "Hi"], { env: { ...env, TAU_DEBUG: "1" } });
  expect(debug.err).toMatch(/^tau: an unexpected error: boom\nTypeError: boom\n +at .*boom\.cjs:\d+/);
});

test.each([
  [
    "a callback of it",
    `readFile("/", () => { throw new TypeError("boom"); })`,
    /: boom\nIt comes from the extension a: .*a\.ts:3\. /,
  ],
  [
    "an emitter of it that nobody listens to",
    `spawn("/no/such/program")`,
    /ENOENT\nIt most likely comes from an extension: a\. /,
  ],
])("an error that nothing catches names the extension: %s", async (_name, failure, expected) => {
  const workspace = await createModelWorkspace([{ kind: "raw", chunks: [], ending: "hang" }]);
  const source = `import { spawn } from "node:child_process"; import { readFile } from "node:fs";
    export default (tau) => tau.on("agent_start", () => {
      ${failure};
    });`;
  await writeModule(join(workspace.agentDir, "extensions", "a.ts"), source);
  const { code, err } = await runPacked(workspace, ["-p", "Hi"], { input: "" });
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(expected);
  expect(err).not.toContain("bug in tau");
});

test("with --verbose or TAU_DEBUG an error has a stack, with the lines of the sources", async () => {
  const workspace = await createModelWorkspace([]);
  const args = ["--tools", "raed", "-p", "Hi"];
  const plain = await runPacked(workspace, args);
  expect(plain.err).toBe('tau: There is no tool "raed". Did you mean "read"?\n');
  for (const { err } of [
    await runPacked(workspace, args, { env: { TAU_DEBUG: "1" } }),
    await runPacked(workspace, ["--verbose", ...args]),
  ]) {
    expect(err.startsWith(plain.err)).toBe(true);
    expect(err).not.toContain("program.cjs");
    const frames = [...err.matchAll(/(packages\/\S+\.ts):(\d+)/g)].map(([, file = "", line]) => ({
      file,
      line: Number(line),
    }));
    const readLine = ({ file, line }: { file: string; line: number }) =>
      readFileSync(join(root, file), "utf8").split("\n")[line - 1];
    expect(frames.map(({ file }) => file)).toContain("packages/harness/src/construct/create-agent-session.ts");
    expect(readLine(frames[0]!)).toContain('throw new HarnessError("invalid_input", findUnknownTools(');
    const opened = frames.find(({ file }) => file === "packages/harness/src/host/host.ts");
    expect(readLine(opened!)).toContain("const session = await open()");
  }
  const { err } = await runPacked(workspace, ["--wrong"], { env: { TAU_DEBUG: "1" } });
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});

test("the stack of an error in a command has the lines of the sources too", async () => {
  const workspace = await createModelWorkspace([]);
  const { err } = await runPacked(workspace, ["sessions", "show", "nothing"], { env: { TAU_DEBUG: "1" } });
  const [, line] = /packages\/cli\/src\/commands\/sessions-show\.ts:(\d+)/.exec(err) ?? [];
  const source = readFileSync(join(root, "packages/cli/src/commands/sessions-show.ts"), "utf8");
  expect(source.split("\n")[Number(line) - 1]).toContain("await ");
  expect(err).not.toContain(".cjs");
});

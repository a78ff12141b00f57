import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { parseUsages } from "../../src/commands/usage.ts";
import { exitCodes } from "../../src/exit-codes.ts";
import { flags } from "../../src/flags.ts";
import { run, temporaryDirectory } from "../kit.ts";

const execute = promisify(execFile);
let directory = "";
let script = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-completion-"));
  ({ out: script } = await run({ directory, agentDir: join(directory, "none") }, ["completion", "bash"]));
});
afterAll(() => rm(directory, { recursive: true }));

/** The completions of bash after Tab, with the script sourced. */
async function complete(...words: string[]): Promise<string[]> {
  const file = join(await temporaryDirectory(), "tau.bash");
  await writeFile(file, script);
  const ask =
    'source "$0"; COMP_WORDS=(tau "$@"); COMP_CWORD=$#; _tau; printf "%s\\n" "${COMPREPLY[@]}"; complete -p tau';
  const { stdout } = await execute("bash", ["--norc", "-c", ask, file, ...words]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.pop()).toMatch(/-F _tau tau$/);
  return lines.filter((line) => line !== "");
}

test("the first word is completed with every command and flag", async () => {
  const names = [...commands.map(({ name }) => name), ...flags.map(({ name }) => `--${name}`)];
  expect(await complete("")).toEqual(expect.arrayContaining(names));
  expect(await complete("ses")).toEqual(["sessions"]);
  expect(await complete("--contin")).toEqual(["--continue"]);
});

test("a command is completed with its subcommands and flags", async () => {
  for (const command of commands) {
    for (const { subcommand, flags: own } of parseUsages(command)) {
      if (subcommand !== "") expect(await complete(command.name, subcommand.slice(0, -1))).toContain(subcommand);
      const before = subcommand === "" ? [command.name] : [command.name, subcommand];
      if (own.length > 0)
        expect(await complete(...before, "--")).toEqual([...own.map(({ name }) => `--${name}`), "--help"]);
    }
  }
});

test("--agent is completed with the agents that exist", async () => {
  for (const name of ["reviewer", "writer"]) await mkdir(join(directory, ".tau", "agents", name), { recursive: true });
  vi.stubEnv("TAU_DIR", join(directory, ".tau"));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await complete("--agent", "r")).toEqual(["reviewer"]);
});

test("values from a fixed list are completed", async () => {
  expect(await complete("sessions", "export", "--format", "")).toEqual(["html", "md", "jsonl"]);
  expect(await complete("--mode", "r")).toEqual(["rpc"]);
  expect(await complete("config", "get", "retry.max")).toEqual(["retry.maxRetries"]);
  expect(await complete("auth", "login", "anthr")).toEqual(["anthropic"]);
  expect(await complete("help", "exit")).toEqual(["exit-codes"]);
  expect(await complete("fix", "the", "tes")).toEqual([]);
});

test("an unsupported shell is a usage error", async () => {
  const directory = await temporaryDirectory();
  const result = await run({ directory, agentDir: directory }, ["completion", "bsh"]);
  expect(result).toMatchObject({
    code: exitCodes.usage,
    out: "",
    err: expect.stringContaining('Did you mean "bash"?'),
  });
});

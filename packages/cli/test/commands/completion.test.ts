import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
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

/** What bash offers after Tab, with the script sourced as a person would. */
async function offered(...words: string[]): Promise<string[]> {
  const file = join(await temporaryDirectory(), "tau.bash");
  await writeFile(file, script);
  const ask =
    'source "$0"; COMP_WORDS=(tau "$@"); COMP_CWORD=$#; _tau; printf "%s\\n" "${COMPREPLY[@]}"; complete -p tau';
  const { stdout } = await execute("bash", ["--norc", "-c", ask, file, ...words]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.pop()).toMatch(/-F _tau tau$/);
  return lines.filter((line) => line !== "");
}

test("the first word is a command or a flag: all of them, and nothing else", async () => {
  const names = [...commands.map(({ name }) => name), ...flags.map(({ name }) => `--${name}`)];
  expect(await offered("")).toEqual(expect.arrayContaining(names));
  expect(await offered("ses")).toEqual(["sessions"]);
  expect(await offered("--contin")).toEqual(["--continue"]);
});

test("a command is completed with the forms and options of its table", async () => {
  for (const command of commands) {
    for (const { subcommand, flags: own } of parseUsages(command)) {
      if (subcommand !== "") expect(await offered(command.name, subcommand.slice(0, -1))).toContain(subcommand);
      const before = subcommand === "" ? [command.name] : [command.name, subcommand];
      if (own.length > 0)
        expect(await offered(...before, "--")).toEqual([...own.map(({ name }) => `--${name}`), "--help"]);
    }
  }
});

test("values that can be listed are offered", async () => {
  expect(await offered("sessions", "export", "--format", "")).toEqual(["html", "md", "jsonl"]);
  expect(await offered("--mode", "r")).toEqual(["rpc"]);
  expect(await offered("config", "get", "retry.max")).toEqual(["retry.maxRetries"]);
  expect(await offered("auth", "login", "anthr")).toEqual(["anthropic"]);
  expect(await offered("help", "exit")).toEqual(["exit-codes"]);
  expect(await offered("fix", "the", "tes")).toEqual([]);
});

test("another shell is a usage error", async () => {
  const directory = await temporaryDirectory();
  const ran = await run({ directory, agentDir: directory }, ["completion", "bsh"]);
  expect(ran).toMatchObject({ code: exitCodes.usage, out: "", err: expect.stringContaining('Did you mean "bash"?') });
});

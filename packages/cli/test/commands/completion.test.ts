/** Completion in real shells, with the packed program. A shell that is not installed is skipped. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, type TestContext, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { parseUsages } from "../../src/commands/usage.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { flags } from "../../src/start/flags.ts";
import { createModelWorkspace, type ModelWorkspace, run, temporaryDirectory, textReply } from "../kit.ts";
import { installed } from "../packed/kit.ts";

const execute = promisify(execFile);

type Shell = "bash" | "zsh" | "fish";

/** Asks shells what they show for a line, with the program's own answers. */
interface Shells extends ModelWorkspace {
  complete: (shell: Shell, line: string) => Promise<string[]>;
  /** Writes the script of `tau completion`. Resolves to its path. */
  install: (shell: Shell) => Promise<string>;
  env: Record<string, string>;
}

/** Sources the script of `tau completion`, and prints the completions of `$2`. */
const drivers = {
  bash: `source "$1"; COMP_LINE=$2; COMP_POINT=\${#2}; _tau tau; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The functions of zsh's own that need a terminal are replaced by ones that print.
  zsh: `
    compdef() { }
    _default() { }
    compadd() { local -a given; given=("\${(@P)argv[-1]}"); print -l -- "\${given[@]}" }
    source "$1"
    words=("\${(z)2}")
    case $2 in *' ') words+=('') ;; esac
    CURRENT=\${#words}
    PREFIX=$words[CURRENT]
    _tau
  `,
  fish: `source $argv[1]; complete -C $argv[2]`,
} as const;

async function createShells(replies: readonly ReturnType<typeof textReply>[] = []): Promise<Shells> {
  const workspace = await createModelWorkspace(replies);
  const { directory, agentDir } = workspace;
  const bin = join(await temporaryDirectory(), "bin");
  await mkdir(bin);
  const program = join(await installed(), "dist", "tau.cjs");
  await writeFile(join(bin, "tau"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: directory, TAU_DIR: agentDir, LC_ALL: "C.UTF-8" };
  const install: Shells["install"] = async (shell) => {
    const script = join(bin, `tau.${shell}`);
    await writeFile(script, (await run(workspace, ["completion", shell])).out);
    return script;
  };
  const complete: Shells["complete"] = async (shell, line) => {
    const script = await install(shell);
    const options = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] }[shell];
    const args = [...options, "-c", drivers[shell], ...(shell === "fish" ? [] : [shell]), script, line];
    const { stdout, stderr } = await execute(shell, args, { cwd: directory, env });
    expect(stderr).toBe("");
    return stdout.split("\n").flatMap((text) => (text === "" ? [] : [text.split("\t")[0]!]));
  };
  return { ...workspace, complete, install, env };
}

function needs(shell: string, context: TestContext): void {
  try {
    execFileSync(shell, ["-c", "true"]);
  } catch {
    const reason = `${shell} is not installed: its completion was not tested.`;
    console.log(reason);
    context.skip(reason);
  }
}

let directory = "";
beforeAll(async () => {
  directory = await installed();
});

/** The answer of the hidden command, as zsh and fish get it. */
async function ask(...words: string[]): Promise<string[]> {
  const { code, out, err } = await run({ directory, agentDir: join(directory, "none") }, [
    "__complete",
    "fish",
    ...words,
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]!]));
}

test("the first word is completed with every command and flag", async () => {
  const names = [...commands.map(({ name }) => name), ...flags.map(({ name }) => `--${name}`)];
  expect(await ask("")).toEqual(expect.arrayContaining(names));
  expect(await ask("ses")).toEqual(["sessions"]);
  expect(await ask("--contin")).toEqual(["--continue"]);
});

test("a command is completed with its subcommands and flags", async () => {
  for (const command of commands) {
    for (const { subcommand, flags: own } of parseUsages(command)) {
      if (subcommand !== "") expect(await ask(command.name, subcommand.slice(0, -1))).toContain(subcommand);
      const before = subcommand === "" ? [command.name] : [command.name, subcommand];
      expect(await ask(...before, "--")).toEqual([...own.map(({ name }) => `--${name}`), "--help"]);
    }
  }
});

test("values from a fixed list are completed", async () => {
  expect(await ask("sessions", "export", "--format", "")).toEqual(["html", "md", "jsonl"]);
  expect(await ask("--mode", "r")).toEqual(["rpc"]);
  expect(await ask("--mode=r")).toEqual(["--mode=rpc"]);
  expect(await ask("config", "get", "retry.maxR")).toEqual(["retry.maxRetries"]);
  expect(await ask("config", "set", "retry.enabled", "")).toEqual(["true", "false"]);
  expect(await ask("auth", "login", "anthr")).toEqual(["anthropic"]);
  expect(await ask("help", "exit")).toEqual(["exit-codes"]);
  expect(await ask("--tools", "read,gre")).toEqual(["read,grep"]);
  expect(await ask("completion", "z")).toEqual(["zsh"]);
  expect(await ask("fix", "the", "tes")).toEqual([]);
  expect(await ask("--api-key", "")).toEqual([]);
  expect(await ask("-C", "/no/such/directory", "@")).toEqual([]);
});

test.for(["bash", "zsh", "fish"] as const)(
  "%s completes models, sessions, files and agents",
  async (shell, context) => {
    needs(shell, context);
    const { complete, directory: project, agentDir, ...rest } = await createShells([textReply("ok")]);
    await run({ directory: project, agentDir, ...rest }, ["-p", "Hi", "--session-id", "job-1"]);
    await mkdir(join(project, "src", "deep dir"), { recursive: true });
    await writeFile(join(project, "src", "my file.txt"), "");
    await mkdir(join(agentDir, "agents", "reviewer"), { recursive: true });
    const escaped = (text: string) => (shell === "bash" ? text.replaceAll(" ", "\\ ") : text);
    expect(await complete(shell, "tau ses")).toEqual(["sessions"]);
    expect(await complete(shell, "tau --thinking xh")).toEqual(["xhigh"]);
    expect(await complete(shell, "tau --model acme/")).toEqual(expect.arrayContaining(["acme/small", "acme/large"]));
    expect(await complete(shell, "tau --model acme/large:hi")).toEqual([shell === "bash" ? "high" : "acme/large:high"]);
    expect(await complete(shell, "tau --provider acme --model sm")).toEqual(["small"]);
    expect(await complete(shell, "tau -p --session ")).toEqual(["job-1"]);
    expect(await complete(shell, "tau sessions show jo")).toEqual(["job-1"]);
    expect(await complete(shell, "tau -C src --continue @my")).toEqual([escaped("@my file.txt")]);
    expect(await complete(shell, "tau -p @src/my")).toEqual([escaped("@src/my file.txt")]);
    expect(await complete(shell, "tau --session-dir sr")).toEqual(["src/"]);
    expect(await complete(shell, "tau -C src/de")).toEqual([escaped("src/deep dir/")]);
    expect(await complete(shell, "tau config get retry.maxR")).toEqual(["retry.maxRetries"]);
  },
);

/** Types lines in a bash of its own, each with Tab at its end, and prints the arguments that the lines have then. */
const typist = `
import os, pty, sys
script, *lines = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "-i"])
def type(text):
    os.write(terminal, text.encode())
    seen = b""
    while b"DONE\\r\\n" not in seen: seen += os.read(terminal, 65536)
    return seen.decode().splitlines()
type(f"source '{script}'; show() {{ printf '<%s>' \\"$@\\"; echo; echo DO''NE; }}; show\\n")
for line in lines:
    print(next(text for text in type(f"{line}\\t\\x01show \\n") if text.startswith("<")))
`;

test.skipIf(spawnSync("python3", ["-c", "import pty"]).status !== 0)(
  "what bash makes of a line on a terminal names the file that was meant",
  async (context) => {
    needs("bash", context);
    const { directory: project, env, install } = await createShells();
    const names = [
      "plain.txt",
      "my file.txt",
      'a"b.txt',
      "it's.txt",
      "x:y.txt",
      "mail@host.txt",
      "übung.txt",
      "🙂.txt",
    ];
    for (const name of names) await writeFile(join(project, name), "");
    const lines = ["@pl", "@my", '@a\\"', "@it\\'", "@x:", "@mail@", "@üb", "@🙂", '"@my', "@'my f"];
    const typed = lines.map((line) => `tau -p ${line}`);
    const { stdout } = await execute("python3", ["-c", typist, await install("bash"), ...typed], { cwd: project, env });
    const meant = [...names, "my file.txt", "my file.txt"].map((name) => `<tau><-p><@${name}>`);
    expect(stdout.trimEnd().split("\n")).toEqual(meant);
  },
);

test("in quotes bash gets the rest of the word as it is", async () => {
  const { complete, directory: project } = await createShells();
  await writeFile(join(project, "my file.txt"), "");
  expect(await complete("bash", 'tau -p @"my f')).toEqual(["my file.txt"]);
  expect(await complete("bash", "tau -p '@my f")).toEqual(["@my file.txt"]);
});

test.each([[[]], [["bsh"]], [["powershell"]]])(
  "completion of %j says how to install it for each shell",
  async (args) => {
    const agentDir = await temporaryDirectory();
    const { code, out, err } = await run({ directory: agentDir, agentDir }, ["completion", ...args]);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
    for (const shell of ["bash", "zsh", "fish"]) expect(err).toContain(`tau completion ${shell} >`);
  },
);

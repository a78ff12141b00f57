import { constants, homedir } from "node:os";
import { getSandboxSettings } from "@tau/config/trust";
import { createSessionSandbox, openInside, type SandboxSettings, type SandboxState } from "@tau/sandbox";
import { cleanEnvironment, createSpawn, type ExitStatus } from "@tau/tools";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { jsonLine } from "../modes/json-line.ts";
import { openCommandContext, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

async function open(io: Io, overrides: Partial<SandboxSettings> = {}) {
  const context = await openCommandContext(io);
  reportSettingsProblems(context, io);
  const settings = getSandboxSettings(context.settings, overrides);
  const { cwd, agentDir } = context;
  return { settings, sandbox: createSessionSandbox({ cwd, agentDir, home: homedir(), settings }) };
}

/** The part of the output that is searched for what the sandbox refused. */
const maxTailCharacters = 64 * 1024;

/**
 * Runs a program as a command of the model would run, with its output and its exit code; never outside of the sandbox. What
 * the sandbox undid or refused is reported on standard error.
 */
export async function runInside(args: CommandArgs, io: Io): Promise<ExitCode> {
  const [program, ...rest] = args.positionals;
  if (program === undefined) throw new UsageError("arguments", "Name a program: tau sandbox run -- npm test");
  const { sandbox } = await open(io, { mode: "required" });
  try {
    const env = cleanEnvironment(io.env);
    const request = { argv: [program, ...rest], cwd: io.cwd, env, detached: true } as const;
    const { process: child, finish } = await openInside(sandbox, createSpawn(), request);
    const stop = () => child.signal("SIGTERM", "group");
    io.signal.addEventListener("abort", stop, { once: true });
    let output = "";
    /** Copies the output. What is written to a file or a pipe stays as it is, byte for byte. */
    const copy = async (stream: AsyncIterable<Buffer>, name: "out" | "err") => {
      const decoder = new TextDecoder();
      const take = (text: string, bytes: Uint8Array) => {
        output = (output + text).slice(-maxTailCharacters);
        io[name](io.terminal[name] ? text : bytes);
      };
      for await (const chunk of stream) {
        take(decoder.decode(chunk, { stream: true }), chunk);
        await io.drained();
      }
      take(decoder.decode(), new Uint8Array());
    };
    const reading = Promise.all([copy(child.stdout, "out"), copy(child.stderr, "err")]);
    const status = await child.exit;
    await reading;
    io.signal.removeEventListener("abort", stop);
    const code = toExitCode(status, io);
    const { notices } = await finish({ hasFailed: code !== 0, output });
    for (const notice of notices) io.err(`tau: ${notice.replace(/^\[(.*)\]$/s, "$1")}\n`);
    return code;
  } finally {
    await sandbox.close();
  }
}

/** The program's own, as a shell reports it. */
function toExitCode(status: ExitStatus, io: Io): ExitCode {
  return getCode(status, io) as ExitCode;
}

function getCode(status: ExitStatus, io: Io): number {
  if (status.kind === "exited") return status.code;
  if (status.kind === "signalled") return 128 + (constants.signals[status.signal as NodeJS.Signals] ?? 0);
  io.err(`tau: ${status.message}\n`);
  return status.code === "ENOENT" ? 127 : 126;
}

/** Whether the sandbox works here, and what commands can do in it. */
export async function explain(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const { settings, sandbox } = await open(io);
  const state = await sandbox.getState();
  await sandbox.close();
  if (args.has("json")) io.out(jsonLine({ ...settings, state }));
  else io.out(describe(state, settings, io.cwd));
  if (state.kind === "unavailable" && settings.mode === "required") return exitCodes.failed;
}

function describe(state: SandboxState, settings: SandboxSettings, cwd: string): string {
  if (state.kind === "off") return "The sandbox is off: commands can do whatever you can (sandbox.mode).\n";
  if (state.kind === "unavailable") {
    const effect = settings.mode === "required" ? "Commands are refused" : "Commands run without it";
    return `The sandbox does not work here. ${effect}.\n  why   ${state.reason}\n  fix   ${state.fix}\n`;
  }
  const { network, ports, allowedPaths, timeoutMs, maxMemoryMb, maxMemoryFilesMb } = settings;
  const filesLimit = state.limitsMemoryFiles
    ? `${maxMemoryFilesMb} MB each`
    : "no limit, because bubblewrap is older than 0.7";
  const rows = [
    ["sandbox", state.with === "helper" ? "one for the session" : "one for each command"],
    ["writable", [cwd, "temporary files", "package caches of the project", ...allowedPaths].join(", ")],
    [
      "read-only",
      "everything else, and in the project what other programs run: git hooks, editor tasks, start-up files",
    ],
    ["hidden", "credentials, tau's own directory"],
    [
      "sockets",
      state.guardsSockets
        ? "only those in the working directory and in the sandbox's own directories"
        : "those that other programs open while a command runs can be reached; tau doctor says why",
    ],
    ["network", state.with === "seatbelt" ? describeMacNetwork(network) : describeNetwork(network)],
    ...(state.with === "seatbelt"
      ? [["memory", "not limited"]]
      : [
          ["memory", maxMemoryMb === undefined ? "three quarters of the machine's for a command" : `${maxMemoryMb} MB`],
          ["in memory", `/run and /dev/shm: ${filesLimit}`],
        ]),
    ...(ports.length > 0 ? [["ports", ports.join(", ")]] : []),
    ...(timeoutMs === undefined ? [] : [["timeout", `${timeoutMs} ms`]]),
  ];
  return rows.map(([name, value]) => `${name!.padEnd(10)}  ${value}\n`).join("");
}

const describeNetwork = (network: SandboxSettings["network"]): string => {
  if (network === "none") return "none but loopback, which the commands of a session share";
  return network === "all" ? "all" : `these hosts, through a proxy: ${network.allow.join(", ") || "none"}`;
};

/** Commands cannot have a network of their own there. */
const describeMacNetwork = (network: SandboxSettings["network"]): string =>
  network === "none" ? "none, but servers of commands can be reached from this machine" : describeNetwork(network);

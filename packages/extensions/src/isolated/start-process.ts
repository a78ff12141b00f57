/** Starts the process of an isolated extension in its sandbox, and limits its memory before any foreign code runs. */
import { defaultSandboxSettings } from "@tau/sandbox";
import { type ChildProcess, spawn, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Duplex, Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { getErrorMessage } from "@tau/ai/internal";
import { findObstacle, findPrograms, tryBwrap, findProgram, createSystemCallFilter } from "@tau/sandbox/internal";
import { type ProcessSandboxFacts, toNodeOptions, toBwrapArguments, toProcessEnvironment } from "./process-sandbox.ts";
import { ExtensionError } from "../errors.ts";

export interface IsolationPrograms {
  readonly bwrap: string;
  readonly prlimit: string;
}

/** Why extensions cannot be isolated here, in whole sentences. */
interface NoIsolation {
  readonly reason: string;
}

export async function findIsolationPrograms(workspace: string): Promise<IsolationPrograms | NoIsolation> {
  const obstacle = findObstacle(workspace, process.platform, process.arch);
  const programs = obstacle ?? findPrograms(workspace);
  if ("kind" in programs) return { reason: programs.reason };
  const prlimit = findProgram("prlimit", workspace);
  if (prlimit === undefined)
    return { reason: "The program prlimit is not installed; it is in the package util-linux." };
  const state = await tryBwrap(programs, defaultSandboxSettings);
  if (state.kind === "unavailable") return { reason: state.reason };
  return { bwrap: programs.bwrap, prlimit };
}

interface StartOptions {
  isolation: IsolationPrograms;
  facts: ProcessSandboxFacts;
  env: Readonly<Record<string, string | undefined>>;
  /** The JavaScript file that the process runs. */
  program: string;
  maxMemoryMb: number;
}

export interface StartedProcess {
  readonly channel: Duplex;
  readonly sync: Duplex;
  /** Both what it printed and what Node printed when it crashed. */
  readonly output: readonly Readable[];
  /** Resolves with a sentence that says how it ended. */
  readonly exit: Promise<string>;
  /** Must be called when the process is ready, and before it gets foreign code. Rejects if it cannot be limited. */
  limitMemory(): Promise<void>;
  /** Bytes that it has written to anywhere, also to us. Undefined where that is not known. */
  countWritten(): Promise<number | undefined>;
  end(): void;
}

const descriptors = { arguments: 5, filter: 6, info: 7 };

/** Throws a sentence if there are too few descriptors to start anything. */
export function startProcess({ isolation, facts, env, program, maxMemoryMb }: StartOptions): StartedProcess {
  const flags = process.allowedNodeEnvironmentFlags;
  const args = toBwrapArguments(facts, descriptors);
  const node = facts.program[0] ?? process.execPath;
  const inside = [node, ...toNodeOptions(flags, maxMemoryMb), program];
  const child = spawn(isolation.bwrap, ["--args", String(descriptors.arguments), "--", ...inside], {
    cwd: "/",
    env: toProcessEnvironment(env),
    stdio: ["ignore", ...Array.from({ length: 7 }, () => "pipe" as const)],
  });
  // Before anything else: without a listener, an error of the process would end the program.
  const exit = describeExit(child);
  // Node makes no pipes then, whatever its types say.
  if ((child.stdio as unknown) === undefined)
    throw new ExtensionError("unavailable", "Its process could not be started: too many files are open.");
  const [, stdout, stderr, channel, sync, argumentsPipe, filterPipe, infoPipe] = child.stdio as unknown as [
    null,
    Readable,
    Readable,
    Duplex,
    Duplex,
    Writable,
    Writable,
    Readable,
  ];
  // A process that has ended is noticed by its end, not by its pipes.
  for (const stream of [channel, sync, argumentsPipe, filterPipe, infoPipe]) stream.on("error", () => undefined);
  argumentsPipe.end(args.map((text) => `${text}\0`).join(""));
  filterPipe.end(createSystemCallFilter(process.arch, facts));
  const pid = readPid(infoPipe);
  pid.catch(() => undefined);
  return {
    channel,
    sync,
    output: [stdout, stderr],
    exit,
    async limitMemory() {
      const base = await readDataBytes(await pid);
      const limit = base + threadBytes + maxMemoryMb * 1024 * 1024;
      const limits = [`--data=${limit}:${limit}`, "--core=0:0"];
      await promisify(execFile)(isolation.prlimit, ["--pid", String(await pid), ...limits]);
    },
    countWritten: async () => await readWritten(await pid),
    end: () => child.kill("SIGKILL"),
  };
}

/** Node starts threads for files and name lookups later on; their stacks count as data. */
const threadBytes = 64 * 1024 * 1024;

/** bubblewrap says which process it started, as we see it. */
async function readPid(pipe: Readable): Promise<number> {
  const pieces: Buffer[] = [];
  for await (const piece of pipe) pieces.push(piece as Buffer);
  const match = /"child-pid"\s*:\s*(\d+)/.exec(Buffer.concat(pieces).toString());
  if (!match) throw new ExtensionError("unavailable", "bubblewrap did not start the process.");
  return Number(match[1]);
}

/** Reads what Node has reserved by itself, which differs by hundreds of megabytes between its versions. */
async function readDataBytes(pid: number): Promise<number> {
  const match = /^VmData:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"));
  if (!match) throw new ExtensionError("unavailable", "How much memory the process has is not known.");
  return Number(match[1]) * 1024;
}

/** It may just have ended. */
async function readWritten(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/io`, "utf8").catch(() => "");
  const match = /^wchar: (\d+)$/m.exec(text);
  return match ? Number(match[1]) : undefined;
}

const describeExit = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(`It could not be started: ${getErrorMessage(error)}`));
    child.once("exit", (code, signal) =>
      resolve(signal ? `It was ended by ${signal}.` : `It ended with code ${code}.`),
    );
  });

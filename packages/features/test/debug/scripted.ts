/** A debugger with the scripted adapter, without a session. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import { createFiles } from "@tau/tools";
import { onTestFinished } from "vitest";
import { type ActionAnswer, type ActionPorts, actions } from "../../src/debug/actions.ts";
import type { DapResolvedAdapter } from "../../src/debug/adapters.ts";
import { Debugger } from "../../src/debug/debugger.ts";
import type { DebugArguments } from "../../src/debug/feature.ts";
import { hostPrograms } from "../../src/kit/host-programs.ts";
import { makeDirectory, scriptedAdapter } from "./kit.ts";

export interface Scripted {
  cwd: string;
  inSession: Debugger;
  adapter: DapResolvedAdapter;
  run(args: DebugArguments, signal?: AbortSignal): Promise<ActionAnswer>;
  /** Sets a breakpoint in line 3, and starts the program. */
  launch(): Promise<ActionAnswer>;
  /** The adapters that are still there. */
  listRunning(): number[];
  started(): number;
  /** The commands that the adapters have received. */
  listReceived(): string[];
}

export interface ScriptedOptions {
  clock?: Clock;
  /** Default: all files. */
  files?: ActionPorts["files"];
  connectMode?: "stdio" | "socket";
}

export async function openScripted(behaviour: string, options: ScriptedOptions = {}): Promise<Scripted> {
  const { clock = systemClock, connectMode = "stdio", files = createFiles() } = options;
  const cwd = await makeDirectory();
  const pids = join(cwd, "pids");
  await writeFile(join(cwd, "program.x"), Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join("\n"));
  const adapter: DapResolvedAdapter = {
    name: "scripted",
    languages: "none",
    commands: [process.execPath],
    resolvedCommand: process.execPath,
    args: [scriptedAdapter, behaviour, pids],
    connectMode,
    socket: { listen: ["$path"] },
    fileTypes: [".x"],
    rootMarkers: [],
    launch: { program: "$program", args: "$args", cwd: "$cwd" },
    attachPid: { processId: "$pid" },
    install: "nothing",
  };
  const inSession = new Debugger({ spawn: hostPrograms.spawn, clock, log: () => {} });
  onTestFinished(async () => void (await inSession.end()));
  const ports: ActionPorts = {
    debugger: inSession,
    cwd,
    files,
    chooseAdapter: async () => adapter,
    allowStart: async () => ({ isOutside: false }),
    keepText: async () => undefined,
  };
  const run = (args: DebugArguments, signal?: AbortSignal) =>
    inSession.use(() => actions[args.action](args, signal ? { ...ports, signal } : ports));
  const readLines = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
  const readPids = () => readLines(pids).map(Number);
  return {
    cwd,
    inSession,
    adapter,
    run,
    async launch() {
      await run({ action: "set_breakpoint", file: "program.x", line: 3 });
      return await run({ action: "launch", program: "program.x" });
    },
    listRunning: () => readPids().filter(isRunning),
    started: () => readPids().length,
    listReceived: () => readLines(`${pids}.received`),
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Commands run for real, and the processes that they leave behind. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { AgentToolUpdate } from "@tau/agent";
import { type Clock, systemClock, type TextContent } from "@tau/ai";
import { createSpawn } from "../src/platform/spawn.ts";
import { createBashTool, type BashOptions } from "../src/shell/bash.ts";
import type { BashDetails } from "../src/shell/bash-details.ts";
import { createJobs } from "../src/shell/jobs.ts";
import { createJobsTool } from "../src/shell/jobs-tool.ts";
import { findPidNamespace } from "../src/shell/pid-namespace.ts";
import { scratch } from "./scratch.ts";

export const spawn = createSpawn();

/** The two ways a command is held. The first is left out where the system cannot do it. */
export const containments: ["pid namespace" | "best effort", BashOptions["namespace"]][] = [
  ...((await findPidNamespace(spawn)) ? [["pid namespace", undefined] as ["pid namespace", undefined]] : []),
  ["best effort", () => Promise.resolve(undefined)],
];

interface Call {
  command: string;
  timeout?: number;
  background?: boolean;
  tty?: boolean;
}

export function shell(options: Partial<BashOptions> = {}) {
  const { namespace, ...others } = options;
  const cwd = scratch();
  const jobs = options.jobs ?? createJobs();
  const common = { cwd, spawn, jobs, outputDirectory: join(cwd, "logs"), ...others };
  const tool = createBashTool(namespace ? { ...common, namespace } : common);
  const jobsTool = createJobsTool({ jobs });
  const updates: AgentToolUpdate<BashDetails>[] = [];
  const bash = async (call: Call | string, signal?: AbortSignal) => {
    const args = typeof call === "string" ? { command: call } : call;
    const { content, details } = await tool.execute("id", args, signal, (update) => updates.push(update));
    return { text: getText(content), details: details! };
  };
  return {
    cwd,
    jobs,
    updates,
    bash,
    /** Returns the text that the model reads when the command fails. */
    async failure(call: Call | string, signal?: AbortSignal): Promise<string> {
      try {
        await bash(call, signal);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error("The command did not fail.");
    },
    async ask(args: { action: "list" | "read" | "kill" | "write"; id?: string; offset?: number; text?: string }) {
      return getText((await jobsTool.execute("id", args)).content);
    },
  };
}

const getText = (content: readonly unknown[]) => (content[0] as TextContent).text;

let count = 0;

/** A number of seconds that no other process sleeps. */
export const uniqueSleep = () => `3600.${randomBytes(6).readUIntBE(0, 6)}${++count}`;

/** Pids of the processes that have `word` among their arguments, and nothing else in that argument. */
export const processesWith = (word: string): number[] =>
  pids().filter((pid) => procFile(pid, "cmdline").split("\0").includes(word));

/** Pids of the processes that have `word` anywhere in their arguments, so also of those that will start others. */
export const processesAbout = (word: string): number[] =>
  pids().filter((pid) => procFile(pid, "cmdline").includes(word));

/** Dead children of this process that have not been collected. */
export const zombies = (): number[] =>
  pids().filter((pid) => new RegExp(`\\) Z ${process.pid} `).test(procFile(pid, "stat")));

const pids = () =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);

const procFile = (pid: number, name: string) => orGone(() => readFileSync(`/proc/${pid}/${name}`, "utf8"));
const linkTo = (pid: number, name: string) => orGone(() => readlinkSync(`/proc/${pid}/${name}`));

function orGone(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** Pids of the living processes that work in this directory: also those of a chain of forks, each seen for a moment. */
export const processesIn = (directory: string): number[] => pids().filter((pid) => linkTo(pid, "cwd") === directory);

/**
 * The system's clock, except that timers for which `isHeld` is true fire only when `fire` is called. A test then decides
 * when a time limit comes, however slow the machine is, while everything else takes its usual time.
 */
export function holdTimers(isHeld: (afterMs: number) => boolean): { clock: Clock; fire(): void } {
  const held = new Set<() => void>();
  return {
    clock: {
      ...systemClock,
      setTimer(afterMs, run) {
        if (!isHeld(afterMs)) return systemClock.setTimer(afterMs, run);
        held.add(run);
        return () => held.delete(run);
      },
    },
    fire() {
      const due = [...held];
      held.clear();
      for (const run of due) run();
    },
  };
}

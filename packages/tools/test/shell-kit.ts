/** Commands run for real, and what they leave behind. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentToolUpdate } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { createSpawn } from "../src/platform/spawn.ts";
import { createBashTool, type BashDetails, type BashOptions } from "../src/shell/bash.ts";
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
}

export function shell(options: Partial<BashOptions> = {}) {
  const { namespace, ...others } = options;
  const cwd = scratch();
  const jobs = options.jobs ?? createJobs();
  const given = { cwd, spawn, jobs, outputDirectory: join(cwd, "logs"), ...others };
  const tool = createBashTool(namespace ? { ...given, namespace } : given);
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
    /** What the model reads when the command fails. */
    async failure(call: Call | string, signal?: AbortSignal): Promise<string> {
      try {
        await bash(call, signal);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error("The command did not fail.");
    },
    async ask(args: { action: "list" | "read" | "kill"; id?: string; offset?: number }) {
      return getText((await jobsTool.execute("id", args)).content);
    },
  };
}

const getText = (content: readonly unknown[]) => (content[0] as TextContent).text;

let count = 0;

/** A number of seconds that no other process sleeps. */
export const uniqueSleep = () => `3600.${process.pid}${performance.now().toFixed(3).replace(".", "")}${++count}`;

/** Pids of the processes that have `word` among their arguments, and nothing else in that argument. */
export const processesWith = (word: string): number[] =>
  pids().filter((pid) => procFile(pid, "cmdline").split("\0").includes(word));

/** Dead children of this process that nobody has collected. */
export const zombies = (): number[] =>
  pids().filter((pid) => new RegExp(`\\) Z ${process.pid} `).test(procFile(pid, "stat")));

const pids = () =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    // It is gone.
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** Waits for something that other processes bring about. */
export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error("It did not happen in time.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

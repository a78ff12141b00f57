/** All tools on one ground: they share the queue of file changes, what was shown of files, and the running jobs. */
import type { AgentTool } from "@tau/agent";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { createEditTool } from "./files/edit.ts";
import { processQueue } from "./files/file-queue.ts";
import { createLsTool } from "./files/ls.ts";
import { createReadTool } from "./files/read.ts";
import { createWriteTool } from "./files/write.ts";
import { createHashlineEditTool } from "./hashline/hashline-edit.ts";
import { createHashlinePatchTool } from "./hashline/hashline-patch.ts";
import { createSnapshots } from "./hashline/snapshots.ts";
import { createFiles, type Files } from "./platform/files.ts";
import { createSpawn, type Spawn } from "./platform/spawn.ts";
import { createFindTool } from "./search/find.ts";
import { createGrepTool } from "./search/grep.ts";
import { createBashTool } from "./shell/bash.ts";
import { createJobs, createJobsTool, type Jobs } from "./shell/jobs.ts";
import type { Limits } from "./shell/limits.ts";

export interface ToolsOptions {
  /** Where relative paths begin and commands run. */
  cwd: string;
  /** Default: the real file system, without a guard. */
  files?: Files;
  /** Default: real processes, as they are. */
  spawn?: Spawn;
  /** What `bash` cleans of secrets and gives to commands. Default: our own environment. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that `bash` gives to commands as they are. */
  addedEnv?: Readonly<Record<string, string>>;
  /** The shell that runs commands. Default: bash, else sh. */
  shell?: string;
  /** Comes before every command, on a line of its own. */
  commandPrefix?: string;
  /** Whether `read` makes images smaller that are larger than models like. Default true. */
  resizesImages?: boolean;
  /** Where `bash` keeps long output. Default: private files among the system's temporary ones, removed by `dispose`. */
  outputDirectory?: string;
  /** How much of the machine a command with all it starts may take. */
  limits?: Partial<Limits>;
  /**
   * What holds the processes of a command. Default: a pid namespace, where one works. In one, root cannot mount, and an
   * ordinary user cannot become another: `sudo` fails. `best effort` leaves both, and lets commands read our environment.
   */
  containment?: "pid namespace" | "best effort";
  clock?: Clock;
  ids?: Ids;
}

export type ToolName = (typeof toolNames)[number];

/** In the order in which a model is told of them. */
const toolNames = [
  "read",
  "write",
  "edit",
  "hashline_edit",
  "hashline_patch",
  "bash",
  "jobs",
  "grep",
  "find",
  "ls",
] as const;

/** What a coding agent gets when nothing else is said. `hashline_patch` is for those who ask for it. */
export const defaultToolNames: readonly ToolName[] = toolNames.filter((name) => name !== "hashline_patch");

export interface Tools {
  readonly byName: Readonly<Record<ToolName, AgentTool>>;
  /** The tools of `defaultToolNames`. */
  readonly defaults: AgentTool[];
  readonly jobs: Jobs;
  /** Ends every command and job that still runs, within two seconds. */
  dispose(): Promise<void>;
}

/** One for all sets of tools: what is known of the system, and the watchdog, are then shared too. */
const defaultSpawn = createSpawn();

/** Dispose of what it returns when the session ends: jobs live until then. */
export function createTools(options: ToolsOptions): Tools {
  const { cwd, files = createFiles(), spawn = defaultSpawn, clock = systemClock, ids = systemIds } = options;
  const { env, addedEnv, shell, commandPrefix, outputDirectory, limits, containment = "pid namespace" } = options;
  const queue = processQueue;
  const snapshots = createSnapshots();
  const jobs = createJobs({ clock });
  const editing = { cwd, files, queue };
  const searching = { cwd, files, spawn, clock };
  const byName = {
    read: createReadTool({ cwd, files, snapshots, clock, resizesImages: options.resizesImages ?? true }),
    write: createWriteTool(editing),
    edit: createEditTool(editing),
    hashline_edit: createHashlineEditTool({ ...editing, snapshots }),
    hashline_patch: createHashlinePatchTool({ ...editing, snapshots }),
    bash: createBashTool({
      cwd,
      spawn,
      jobs,
      clock,
      ids,
      ...(env && { env }),
      ...(addedEnv && { addedEnv }),
      ...(shell !== undefined && { shell }),
      ...(commandPrefix !== undefined && { commandPrefix }),
      ...(outputDirectory !== undefined && { outputDirectory }),
      ...(limits && { limits }),
      ...(containment === "best effort" && { namespace: () => Promise.resolve(undefined) }),
    }),
    jobs: createJobsTool({ jobs }),
    grep: createGrepTool(searching),
    find: createFindTool(searching),
    ls: createLsTool({ cwd, files }),
  } satisfies Record<ToolName, unknown> as unknown as Record<ToolName, AgentTool>;
  return {
    byName,
    defaults: defaultToolNames.map((name) => byName[name]),
    jobs,
    dispose: () => jobs.dispose(),
  };
}

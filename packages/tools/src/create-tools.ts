/** Creates all tools of a session: they share the queue of file changes, what was shown of files, and the running jobs. */
import { statSync } from "node:fs";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import { changeFilesDefinition } from "./changes/definition.ts";
import { definitions, describeBash, type ToolName } from "./definitions.ts";
import { createInTurn, type InTurn } from "./in-turn.ts";
import type { ImageLimits } from "./files/image.ts";
import type { SeenFiles } from "./files/seen-files.ts";
import { createFiles, type Files } from "./platform/files.ts";
import type { CommandSandbox } from "./platform/command-sandbox.ts";
import type { Syntax } from "./platform/syntax.ts";
import type { Spawn, SpawnRequest } from "./platform/spawn.ts";
import type { IsSecret } from "./shell/environment.ts";
import { getJobsAccess } from "./shell/jobs-access.ts";
import { createJobs, type Jobs } from "./shell/jobs.ts";
import type { Limits } from "./shell/limits.ts";
import type { Program } from "./shell/program.ts";
import type { DescribedTool } from "./tool.ts";

export interface ToolsOptions {
  /** Where relative paths begin and commands run. */
  cwd: string;
  /** Default: the real file system, without a guard. */
  files?: Files;
  /** Default: real processes, as they are. */
  spawn?: Spawn;
  /** The environment that `bash` gives to commands, without secrets. Default: our own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that `bash` gives to commands as they are. */
  addedEnv?: Readonly<Record<string, string>>;
  /** Called for each command: more variables. One that is undefined is not given, also if our environment has it. */
  getSessionEnv?: () => Readonly<Record<string, string | undefined>>;
  /** Called for each command: decides whether a variable holds a secret. Default: only by name and form. */
  createIsSecret?: () => IsSecret;
  /** The shell that runs commands. Default: bash, else sh. */
  shell?: string;
  /** How long a command may take whose call sets no timeout, in milliseconds. Not for jobs. Default: no limit. */
  commandTimeoutMs?: number;
  /** The longest timeout of a command, in milliseconds. Not for jobs. Default: no limit. */
  maxCommandTimeoutMs?: number;
  /** Comes before every command, on a line of its own. */
  commandPrefix?: string;
  /** Whether `read` makes images smaller that are too large for models. Default true. */
  resizesImages?: boolean;
  /** How large images may be that are shown; see `prepareImage`. Default: what most models take. */
  getImageLimits?: () => ImageLimits;
  /** Whether `write` refuses to replace a file that the model has not read as it is. Default true. */
  writeNeedsRead?: boolean;
  /** Where `bash` keeps long output. Default: private files among the system's temporary ones, removed by `dispose`. */
  outputDirectory?: string;
  /**
   * Where the old state of files is kept while several are changed together, so that a killed process leaves all or none
   * changed. Only tau may be able to write to it. Default: nowhere.
   */
  journalDirectory?: string;
  /** The syntax of source files. Default: none, and hashline edits of whole blocks are refused. */
  syntax?: Syntax | undefined;
  /** How much of the machine a command with all it starts may take. */
  limits?: Partial<Limits>;
  /**
   * Contains the processes of a command. Default: a pid namespace, where one works. In one, root cannot mount, and an
   * ordinary user cannot become another: `sudo` fails. `best effort` allows both, and lets commands read our environment.
   */
  containment?: "pid namespace" | "best effort";
  /** Finds the program that opens terminals for commands: the helper of the sandbox. Default: none, and there are no terminals. */
  findTerminalProgram?: () => Promise<string | undefined>;
  clock?: Clock;
  ids?: Ids;
}

/** All tools, in the order in which a model gets them. */
export const toolNames = Object.keys(definitions) as readonly ToolName[];

/** The tools of a coding agent by default. There is one way to edit: those by anchors have to be chosen. */
export const defaultToolNames: readonly ToolName[] = toolNames.filter(
  (name) => name !== "hashline_edit" && name !== "hashline_patch",
);

export interface Tools {
  readonly byName: Readonly<Record<ToolName, DescribedTool>>;
  /** The tools of `defaultToolNames`. */
  readonly defaults: DescribedTool[];
  /** The default tools, with `hashline_edit` in the place of `edit`. */
  readonly hashlineDefaults: DescribedTool[];
  /** Changes several files together. No model is shown it: other tools call it. */
  readonly changeFiles: DescribedTool;
  readonly jobs: Jobs;
  /** The files that the model has seen. */
  readonly seen: SeenFiles;
  /** Starts the processes of calls that have no context of their own. */
  readonly spawn: Spawn;
  /** The environment that `bash` gives to a command now. */
  getCommandEnv(): Promise<Record<string, string>>;
  /**
   * Starts a program with pipes, limited and contained like commands, that is ended by whoever started it. `limits` take the
   * place of those of commands.
   */
  startProgram(
    request: Omit<SpawnRequest, "stdin">,
    sandbox: CommandSandbox | undefined,
    limits?: Partial<Limits>,
  ): Promise<Program>;
  /** Takes back changes of several files during which a process was killed. Returns the paths that were restored. */
  recoverChanges(): Promise<string[]>;
  /** Ends every command and job that still runs, within two seconds. */
  dispose(): Promise<void>;
}

const loadSpawn = once(async () => (await import("./platform/spawn.ts")).createSpawn());

/** Spawns for all sets of tools, which then also share what is known of the system, and the watchdog. */
const defaultSpawn: Spawn = async (request) => await (await loadSpawn())(request);

/** The caller must call `dispose` when the session ends: jobs run until then. */
export function createTools(options: ToolsOptions): Tools {
  const jobs = createJobs({ clock: options.clock ?? systemClock });
  const seen: SeenFiles = new Map();
  const { spawn = defaultSpawn } = options;
  const { changeFiles, ...makers } = createMakers(options, jobs, seen);
  // Calls begin in their order, even if the code of a later one is loaded sooner.
  const inTurn = createInTurn();
  const jobsDefinition = { ...definitions.jobs, access: getJobsAccess(jobs) };
  const described = { ...definitions, bash: describeBash(options), jobs: jobsDefinition };
  const tools = toolNames.map((name) => [name, lateTool(described[name], makers[name], inTurn)] as const);
  const byName = Object.fromEntries(tools) as Record<ToolName, DescribedTool>;
  return {
    byName,
    defaults: defaultToolNames.map((name) => byName[name]),
    hashlineDefaults: defaultToolNames.map((name) => byName[name === "edit" ? "hashline_edit" : name]),
    changeFiles: lateTool(changeFilesDefinition, changeFiles, inTurn),
    jobs,
    seen,
    spawn,
    getCommandEnv: async () => (await import("./shell/environment.ts")).getCommandEnv(options),
    startProgram: async (request, sandbox, limits) =>
      (await import("./shell/program.ts")).startProgram(request, {
        spawn,
        sandbox,
        limits: { ...options.limits, ...limits },
        ...withoutUndefined({ clock: options.clock, ids: options.ids }),
        ...(options.containment === "best effort" && { namespace: () => Promise.resolve(undefined) }),
      }),
    recoverChanges: () => recoverChanges(options),
    dispose: () => jobs.dispose(),
  };
}

/** Looks at one name, at every start. */
async function recoverChanges({ journalDirectory: directory, clock, ids }: ToolsOptions): Promise<string[]> {
  if (directory === undefined || !statSync(directory, { throwIfNoEntry: false })) return [];
  const { createChangeJournal } = await import("./changes/journal.ts");
  return await createChangeJournal({ directory, ...withoutUndefined({ clock, ids }) }).recover();
}

type Make = () => Promise<DescribedTool>;
type Makers = Record<ToolName | "changeFiles", Make>;

/** How each tool is created. Implementations are loaded when they are needed, since most runs call few tools. */
function createMakers(options: ToolsOptions, jobs: Jobs, seen: SeenFiles): Makers {
  const { cwd, files = createFiles(), clock = systemClock, ids = systemIds, resizesImages = true } = options;
  // Copied, so that later changes of the caller's objects do not reach the tools.
  const env = { ...(options.env ?? process.env) };
  const addedEnv = { ...options.addedEnv };
  const limits = { ...options.limits };
  const { spawn = defaultSpawn, shell, commandPrefix, outputDirectory, containment = "pid namespace" } = options;
  const { commandTimeoutMs, maxCommandTimeoutMs } = options;
  const snapshots = once(async () => (await import("./hashline/snapshots.ts")).createSnapshots());
  const queue = once(async () => (await import("./files/file-queue.ts")).createSessionQueue());
  const editing = async () => ({
    cwd,
    files,
    queue: await queue(),
    ...(options.writeNeedsRead !== false && { seen }),
  });
  const { journalDirectory: directory } = options;
  const journal = once(async () =>
    directory === undefined
      ? undefined
      : (await import("./changes/journal.ts")).createChangeJournal({ directory, ids, clock }),
  );
  const editingTogether = async () => ({ ...(await editing()), journal: await journal() });
  const { syntax } = options;
  const editingLines = async () => ({ ...(await editingTogether()), snapshots: await snapshots(), syntax, clock });
  const searching = { cwd, files, spawn, clock };
  const makers = {
    read: async () =>
      (await import("./files/read.ts")).createReadTool({
        cwd,
        files,
        snapshots: await snapshots(),
        seen,
        clock,
        resizesImages,
        getImageLimits: options.getImageLimits,
        syntax,
      }),
    write: async () => (await import("./files/write.ts")).createWriteTool(await editing()),
    edit: async () => (await import("./files/edit.ts")).createEditTool(await editing()),
    hashline_edit: async () =>
      (await import("./hashline/hashline-edit.ts")).createHashlineEditTool(await editingLines()),
    hashline_patch: async () =>
      (await import("./hashline/hashline-patch.ts")).createHashlinePatchTool(await editingLines()),
    bash: async () =>
      (await import("./shell/bash.ts")).createBashTool({
        cwd,
        spawn,
        jobs,
        clock,
        ids,
        env,
        addedEnv,
        ...(options.getSessionEnv && { getSessionEnv: options.getSessionEnv }),
        ...(options.findTerminalProgram && { findTerminalProgram: options.findTerminalProgram }),
        ...(options.createIsSecret && { createIsSecret: options.createIsSecret }),
        ...(shell !== undefined && { shell }),
        ...(commandPrefix !== undefined && { commandPrefix }),
        ...withoutUndefined({ commandTimeoutMs, maxCommandTimeoutMs }),
        ...(outputDirectory !== undefined && { outputDirectory }),
        limits,
        ...(containment === "best effort" && { namespace: () => Promise.resolve(undefined) }),
      }),
    jobs: async () => (await import("./shell/jobs-tool.ts")).createJobsTool({ jobs }),
    grep: async () => (await import("./search/grep.ts")).createGrepTool(searching),
    find: async () => (await import("./search/find.ts")).createFindTool(searching),
    ls: async () => (await import("./files/ls.ts")).createLsTool({ cwd, files }),
    changeFiles: async () => (await import("./changes/change-files.ts")).createChangeFilesTool(await editingTogether()),
  };
  return makers satisfies Record<keyof Makers, () => Promise<unknown>> as unknown as Makers;
}

/** A tool whose implementation is loaded when it is first called. */
function lateTool(definition: Omit<DescribedTool, "execute">, make: Make, inTurn: InTurn): DescribedTool {
  const tool = once(make);
  return {
    ...definition,
    isContained: true,
    execute: async (...call) => await (await inTurn(tool())).execute(...call),
  } as DescribedTool;
}

/** Calls `make` once. After a failure it is called again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Runs ripgrep: found when it is first needed, ended as soon as enough output was seen. */
import { type Clock, systemClock } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";
import { abortedBy, refuseAborted, unlessAborted } from "../files/abort.ts";
import { formatBytes } from "../truncate.ts";
import type { ExitStatus, RunningProcess, Spawn } from "../platform/spawn.ts";
import { watchMemory } from "./memory.ts";
import { type Complaints, createComplaints, type Unread } from "./unread.ts";

/** Returns the path of ripgrep's binary. Rejects when there is none. */
export type LocateRipgrep = () => Promise<string>;

/** The binary that comes from npm, in a package of its own for each platform. */
export const locateRipgrep: LocateRipgrep = async () => (await import("@vscode/ripgrep")).rgPath;

export interface SearchOptions {
  spawn: Spawn;
  /** Default: the system's. */
  clock?: Clock;
  /** A search that takes longer is ended. Default 20,000. */
  timeLimitMs?: number;
  /** A search that takes more memory is ended; only on Linux, and not behind a wrapper. Default 1 Gi. */
  memoryLimitBytes?: number;
  /** Default: the binary from npm. */
  locate?: LocateRipgrep;
}

/** How searches are run, with nothing left open. */
export interface Searcher {
  /** `spawn` starts it. Default: that of the options. */
  run(search: Search, spawn?: Spawn): Promise<SearchEnd>;
  /** For the model: when a search was ended by a limit; undefined if it was not. */
  describe(end: SearchEnd["kind"]): string | undefined;
}

export interface Search {
  args: readonly string[];
  cwd: string;
  /**
   * Whether `cwd` belongs to a repository. There, ignore files above the repository's root do not apply; elsewhere,
   * `.gitignore` applies too.
   */
  isInRepository: boolean;
  signal: AbortSignal | undefined;
  /** Gets the output as it comes, one chunk at a time. True ends the search: enough has been seen. */
  onOutput: (chunk: Buffer) => boolean | Promise<boolean>;
}

export type SearchEnd =
  /** It ran to its end, or as far as it was needed or allowed to. */
  | { kind: "done" | "enough" | "timeout" | "memory"; unread: Unread }
  /** It did not begin: ripgrep refused the arguments, for this reason. */
  | { kind: "refused"; reason: string };

/** Why a search that ran may have missed something; undefined if nothing is missing. */
export const searchLimits = { done: undefined, enough: undefined, timeout: "time", memory: "memory" } as const;

/** The user's configuration and environment must not change the results. */
const always = [
  "--no-config",
  "--no-ignore-messages",
  "--no-ignore-global",
  // The description tells the model of `.gitignore` only.
  "--no-ignore-dot",
  "--hidden",
  "--glob=!.git",
  "--color=never",
  "--null",
  // Lines may end in CR and LF, as they do when they are shown.
  "--crlf",
];

export function createSearcher({
  spawn,
  clock = systemClock,
  timeLimitMs = 20_000,
  memoryLimitBytes = 1024 ** 3,
  locate = locateRipgrep,
}: SearchOptions): Searcher {
  return {
    run: (search, ofCall = spawn) => run({ spawn: ofCall, clock, timeLimitMs, memoryLimitBytes, locate }, search),
    describe(end) {
      if (end === "timeout") return `after ${timeLimitMs / 1_000} s`;
      return end === "memory" ? `at ${formatBytes(memoryLimitBytes)} of memory: a line is huge` : undefined;
    },
  };
}

async function run(options: Required<SearchOptions>, search: Search): Promise<SearchEnd> {
  const { signal } = search;
  refuseAborted(signal);
  const program = await unlessAborted(findProgram(options.locate), signal);
  const args = [...always, ...(search.isInRepository ? [] : ["--no-require-git"]), ...search.args];
  const child = await startUnlessAborted(options.spawn({ argv: [program, ...args], cwd: search.cwd, env: {} }), signal);
  let stopped: "enough" | "timeout" | "memory" | "aborted" | undefined;
  const stop = (why: NonNullable<typeof stopped>) => {
    if (stopped) return;
    stopped = why;
    end(child);
  };
  const onAbort = () => stop("aborted");
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const cancelTimer = options.clock.setTimer(options.timeLimitMs, () => stop("timeout"));
  const cancelWatch = watchMemory({
    pid: child.pid,
    maxBytes: options.memoryLimitBytes,
    clock: options.clock,
    onTooMuch: () => stop("memory"),
  });
  const complaints = createComplaints();
  child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
  const outputEnded = new Promise<unknown>((resolve) => child.stdout.once("close", resolve));
  const errorsEnded = new Promise<unknown>((resolve) => child.stderr.once("close", resolve));
  let failure: { error: unknown } | undefined;
  const take = async (chunk: Buffer) => {
    try {
      if (!stopped && (await search.onOutput(chunk))) stop("enough");
    } catch (error) {
      failure = { error };
      stop("enough");
    }
    child.stdout.resume();
  };
  // One after the other: when the process ends, Node resumes its pipes although they were paused.
  const chunks = new SerialQueue();
  child.stdout.on("data", (chunk: Buffer) => {
    child.stdout.pause();
    void chunks.add(() => take(chunk));
  });
  const [status] = await Promise.all([child.exit, outputEnded, errorsEnded]);
  cancelTimer();
  cancelWatch();
  signal?.removeEventListener("abort", onAbort);
  // The last chunk may still be handled, unless the call was aborted.
  await unlessAborted(chunks.whenIdle(), signal);
  if (failure) throw failure.error;
  if (stopped === "aborted") throw abortedBy(signal!);
  return stopped ? { kind: stopped, unread: complaints.unread } : getEnd(status, complaints);
}

/** A process that was started after the abort is ended as soon as it is there. */
async function startUnlessAborted(
  starting: Promise<RunningProcess>,
  signal: AbortSignal | undefined,
): Promise<RunningProcess> {
  try {
    return await unlessAborted(starting, signal);
  } catch (error) {
    if (signal?.aborted) starting.then(end, () => undefined);
    throw error;
  }
}

function end(child: RunningProcess): void {
  child.signal("SIGKILL");
  child.stdout.destroy();
  child.stderr.destroy();
}

async function findProgram(locate: LocateRipgrep): Promise<string> {
  try {
    return await locate();
  } catch (error) {
    throw new ToolsError(
      "unavailable",
      `ripgrep is not installed for this system (${process.platform}-${process.arch}). Install @vscode/ripgrep with its optional dependencies, or search with bash.`,
      { cause: error },
    );
  }
}

function getEnd(status: ExitStatus, { unread, reason }: Complaints): SearchEnd {
  if (status.kind === "failed") {
    throw new ToolsError(
      "unavailable",
      `ripgrep could not be started: ${status.message.replace(/\.$/, "")}. Search with bash instead.`,
    );
  }
  if (status.kind === "signalled") {
    throw new ToolsError("unavailable", `ripgrep was ended by ${status.signal}. Narrow the search and try again.`);
  }
  // Once the search has begun, ripgrep only reports problems with single files.
  if (status.code > 1 && unread.count === 0) {
    return { kind: "refused", reason: reason || `it ended with code ${status.code}` };
  }
  return { kind: "done", unread };
}

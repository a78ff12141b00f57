/** The commands that outlive the calls that started them. */
import { type Clock, systemClock } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { createFiles, type Files } from "../platform/files.ts";
import type { ExitStatus } from "../platform/spawn.ts";
import { defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import type { RunningCommand } from "./command.ts";
import { describeJob, type Job } from "./job.ts";
import { createRunningCommands, graceMs, type RunningCommands } from "./running-commands.ts";
import type { KeptOutput } from "./output.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Owns all commands that run, and ends them with the session. */
export interface Jobs extends RunningCommands {
  list(): readonly Job[];
  /** The state of a job, in one line for people and models. */
  describe(job: Job): string;
  /** Makes a job of a command that was started as one. */
  add(command: string, running: RunningCommand, options?: { timeoutMs?: number; wakes?: boolean }): Promise<Job>;
  /** Calls listeners from now on about a job that its call has left running. */
  detach(id: string): void;
  /** Called when a job is detached, and when such a job ends. Returns how to stop. */
  onChange(listener: (job: Job) => void): () => void;
  /** The model has seen how these jobs ended. */
  markSeen(ids: readonly string[]): void;
  isSeen(id: string): boolean;
  /** Jobs get higher ids than this: the conversation may name others, from before. */
  startAfter(id: number): void;
  /** The terminal of a job that has one. Throws if there is no such job. */
  getTerminal(id: string): Terminal | undefined;
  /** The output of a job: its end, or its screen if it has one; with `offset` the lines from there on. */
  read(id: string, offset?: number): Promise<string>;
  kill(id: string): Promise<Job>;
}

export interface JobsOptions {
  clock?: Clock;
  files?: Files;
  /** How many may run at once. Default 32. */
  maxRunning?: number;
}

type Why = NonNullable<Job["ended"]>["why"];

interface Entry {
  readonly running: RunningCommand;
  readonly job: { -readonly [Key in keyof Job]: Job[Key] };
  why: Why;
  isDetached: boolean;
  isSeen: boolean;
}

const maxEndedJobs = 32;
/** Jobs are kept long, and only the first line of a command is ever shown. */
const rememberedChars = 1_000;

export function createJobs(options: JobsOptions = {}): Jobs {
  const { clock = systemClock, files = createFiles(), maxRunning = 32 } = options;
  const commands = createRunningCommands({ clock, maxJobs: maxRunning });
  const entries = new Map<string, Entry>();
  const listeners = new Set<(job: Job) => void>();
  const notify = (job: Job) => listeners.forEach((listener) => listener(job));
  let count = 0;

  const find = (id: string) => {
    const entry = entries.get(id);
    if (entry) return entry;
    const known = [...entries.keys()].join(", ");
    throw new ToolsError(
      "not_found",
      `There is no job ${id}. ${known ? `There are: ${known}.` : "There are no jobs."}`,
    );
  };
  const forgetOldest = () => {
    const ended = [...entries.values()].filter(({ job }) => job.ended);
    for (const { job } of ended.slice(0, Math.max(0, ended.length - maxEndedJobs))) entries.delete(job.id);
  };

  return {
    ...commands,
    describe: describeJob,
    list: () => [...entries.values()].map(({ job }) => job),
    async add(command, running, { timeoutMs, wakes = false } = {}) {
      await running.output.openLog();
      const entry: Entry = {
        running,
        why: "itself",
        isDetached: false,
        isSeen: false,
        job: {
          id: String(++count),
          command: command.slice(0, rememberedChars),
          containment: running.process.containment,
          ...(running.terminal && { hasTerminal: true }),
          startedMs: clock.now(),
          wakes,
          ended: undefined,
          // Read each time: writing it may fail later, when the disk is full.
          get log() {
            return running.output.kept!;
          },
        },
      };
      entries.set(entry.job.id, entry);
      const onTimeout = () => {
        entry.why = "timeout";
        // The output reports a failure.
        running.end(graceMs).catch(() => undefined);
      };
      const stopTimer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, onTimeout);
      const settle = (status: ExitStatus) => {
        stopTimer?.();
        const why = entry.why === "itself" && commands.isOver() ? "session" : entry.why;
        entry.job.ended = { status, atMs: clock.now(), why };
        if (entry.isDetached) notify(entry.job);
        forgetOldest();
      };
      void running.done.then(settle);
      return entry.job;
    },
    detach(id) {
      const entry = find(id);
      if (entry.job.ended) return;
      entry.isDetached = true;
      notify(entry.job);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    markSeen(ids) {
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry?.job.ended) entry.isSeen = true;
      }
    },
    isSeen: (id) => entries.get(id)?.isSeen ?? true,
    startAfter(id) {
      count = Math.max(count, id);
    },
    getTerminal: (id) => find(id).running.terminal,
    async read(id, offset) {
      const { job, running } = find(id);
      if (offset !== undefined) return await readLog(files, job, offset);
      if (running.terminal && !job.ended) {
        await running.terminal.settle();
        return running.terminal.toText();
      }
      const { text, notice, totalLines } = running.output.snapshot();
      // A line that has not ended yet may continue.
      const next = running.output.isOpen ? totalLines : totalLines + 1;
      const more = job.ended || "failure" in job.log ? "" : `[Later lines: offset=${next}]`;
      return [text, notice, more].filter(Boolean).join("\n\n");
    },
    async kill(id) {
      const entry = find(id);
      if (!entry.job.ended) {
        entry.why = "killed";
        await entry.running.end(graceMs);
      }
      return entry.job;
    },
  };
}

async function readLog(files: Files, { id, log }: Job, offset: number): Promise<string> {
  if ("failure" in log) {
    throw new ToolsError("unavailable", `${whereIsLog(log)}. Read job ${id} without offset to see its end.`);
  }
  const { readLines } = await import("../files/lines.ts");
  const file = await files.openRead(log.file);
  try {
    const window = await readLines(file, { offset, maxLines: defaultMaxLines, maxBytes: defaultMaxBytes });
    const next = offset + window.lines.length + (window.tooLong ? 1 : 0);
    const notice = window.tooLong
      ? `[Line ${offset} is too long to show; it is in ${log.file}. Continue with offset=${next}.]`
      : window.hasMore
        ? `[Continue with offset=${next}.]`
        : "";
    return [window.lines.join("\n"), notice].filter(Boolean).join("\n\n");
  } finally {
    await file.close();
  }
}

export const whereIsLog = (log: KeptOutput): string =>
  "file" in log ? `Log: ${log.file}` : `Its output is not kept (${log.failure})`;

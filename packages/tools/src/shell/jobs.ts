import type { AgentTool, AgentToolResult } from "@tau/agent";
import { type Clock, StringEnum, systemClock } from "@tau/ai";
import { Type } from "typebox";
import { ToolsError } from "../errors.ts";
import { readLines } from "../files/lines.ts";
import { createFiles, type Files } from "../platform/files.ts";
import type { ExitStatus } from "../platform/spawn.ts";
import { mostBytes, mostLines } from "../truncate.ts";
import { type RunningCommand, verdictOf } from "./command.ts";

/** A command that outlives the call that started it. */
export interface Job {
  readonly id: string;
  readonly command: string;
  /** The file with its output. */
  readonly log: string;
  readonly startedMs: number;
  /** How it ended; undefined while it runs. */
  readonly ended: { status: ExitStatus; atMs: number; why: "itself" | "killed" | "timeout" } | undefined;
}

/** Owns everything that runs, and ends it with the session. */
export interface Jobs {
  list(): readonly Job[];
  /** Throws when the session is over, or when a job more would be too many. */
  admit(what: "command" | "job"): void;
  /** Ends `running` when the session ends before it does. */
  hold(running: RunningCommand): void;
  add(command: string, running: RunningCommand, options: { log: string; timeoutMs?: number }): Job;
  /** What a job has said: its end, or with `offset` the lines from there on. */
  read(id: string, offset?: number): Promise<string>;
  kill(id: string): Promise<Job>;
  /** Ends all, within two seconds. Nothing can be started afterwards. */
  dispose(): Promise<void>;
}

export interface JobsOptions {
  clock?: Clock;
  files?: Files;
  /** How many may run at once. Default 32. */
  maxRunning?: number;
}

type Entry = { -readonly [Key in keyof Job]: Job[Key] };
type Why = NonNullable<Job["ended"]>["why"];

const graceMs = 500;
const mostEnded = 32;

export function createJobs(options: JobsOptions = {}): Jobs {
  const { clock = systemClock, files = createFiles(), maxRunning = 32 } = options;
  const entries = new Map<string, { job: Entry; running: RunningCommand; why: Why }>();
  const held = new Set<RunningCommand>();
  let count = 0;
  let isDisposed = false;

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
    for (const { job } of ended.slice(0, Math.max(0, ended.length - mostEnded))) entries.delete(job.id);
  };
  const hold = (running: RunningCommand) => {
    held.add(running);
    void running.done.then(() => held.delete(running));
    if (isDisposed) void running.end(0);
  };

  return {
    list: () => [...entries.values()].map(({ job }) => job),
    hold,
    admit(what) {
      if (isDisposed) throw new ToolsError("unavailable", "The session is over: nothing can be started any more.");
      const alive = [...entries.values()].filter(({ job }) => !job.ended).length;
      if (what === "job" && alive >= maxRunning) {
        throw new ToolsError("busy", `${alive} jobs are running, which is the limit. Kill one first, with jobs.`);
      }
    },
    add(command, running, { log, timeoutMs }) {
      const id = String(++count);
      const job: Entry = { id, command, log, startedMs: clock.now(), ended: undefined };
      const entry = { job, running, why: "itself" as Why };
      entries.set(id, entry);
      const stopTimer =
        timeoutMs === undefined
          ? undefined
          : clock.setTimer(timeoutMs, () => {
              entry.why = "timeout";
              void running.end(graceMs);
            });
      const settle = (status: ExitStatus) => {
        stopTimer?.();
        job.ended = { status, atMs: clock.now(), why: entry.why };
        forgetOldest();
      };
      void running.done.then(settle);
      hold(running);
      return job;
    },
    async read(id, offset) {
      const { job, running } = find(id);
      if (offset !== undefined) return await readLog(files, job.log, offset);
      const { text, notice, totalLines } = running.output.snapshot();
      // A line that has not ended yet may go on.
      const next = job.ended ? "" : `[Later lines: offset=${running.output.isOpen ? totalLines : totalLines + 1}]`;
      return [text, notice, next].filter(Boolean).join("\n\n");
    },
    async kill(id) {
      const entry = find(id);
      if (!entry.job.ended) {
        entry.why = "killed";
        await entry.running.end(graceMs);
      }
      return entry.job;
    },
    async dispose() {
      isDisposed = true;
      await Promise.allSettled([...held].map((running) => running.end(graceMs)));
    },
  };
}

async function readLog(files: Files, path: string, offset: number): Promise<string> {
  const file = await files.openRead(path);
  try {
    const window = await readLines(file, { offset, maxLines: mostLines, maxBytes: mostBytes });
    const next = offset + window.lines.length + (window.tooLong ? 1 : 0);
    const notice = window.tooLong
      ? `[Line ${offset} is too long to show; it is in ${path}. Go on with offset=${next}.]`
      : window.hasMore
        ? `[Go on with offset=${next}.]`
        : "";
    return [window.lines.join("\n"), notice].filter(Boolean).join("\n\n");
  } finally {
    await file.close();
  }
}

/** How a job stands, in one line. */
export function describeJob({ id, ended }: Job): string {
  if (!ended) return `Job ${id} is running.`;
  if (ended.why === "killed") return `Job ${id} was killed.`;
  if (ended.why === "timeout") return `Job ${id} timed out and was ended.`;
  return `Job ${id} has ended. ${verdictOf(ended.status, "its directory") ?? "Command exited with code 0"}.`;
}

const parameters = Type.Object({
  action: StringEnum(["list", "read", "kill"]),
  id: Type.Optional(Type.String()),
  offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line to read, 1-based; default: the end" })),
});

export interface JobsDetails {
  jobs: readonly Job[];
}

/** Lists, reads and kills what `bash` started in the background. */
export function createJobsTool({ jobs }: { jobs: Jobs }): AgentTool<typeof parameters, JobsDetails> {
  return {
    name: "jobs",
    label: "Jobs",
    description: "List, read or kill background jobs started with bash.",
    parameters,
    async execute(_id, { action, id, offset }) {
      if (action === "list") return present(jobs, jobs.list().map(lineOf).join("\n") || "There are no jobs.");
      if (id === undefined) throw new ToolsError("invalid_input", `To ${action} a job, give its id.`);
      if (action === "kill") return present(jobs, describeJob(await jobs.kill(id)));
      const text = await jobs.read(id, offset);
      const job = jobs.list().find((one) => one.id === id);
      return present(jobs, [text || "(no output)", job && `[${describeJob(job)}]`].filter(Boolean).join("\n\n"));
    },
  };
}

const lineOf = (job: Job) => `${describeJob(job)} ${firstLine(job.command)} (log: ${job.log})`;

const firstLine = (command: string) => {
  const [line = ""] = command.trim().split("\n");
  return line.length > 100 || line !== command.trim() ? `${line.slice(0, 100)}…` : line;
};

function present(jobs: Jobs, text: string): AgentToolResult<JobsDetails> {
  return { content: [{ type: "text", text }], details: { jobs: jobs.list().map((job) => ({ ...job })) } };
}

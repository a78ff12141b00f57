/**
 * Reports to the model and the user what becomes of background jobs. The model gets it with the next request; what it knows of
 * jobs is read back from the conversation, so that it is right after a restart, a compaction and on another branch.
 */
import type { AgentMessage } from "@tau/agent";
import type { Clock } from "@tau/ai";
import type { CustomMessage, JobData, JobSummary } from "@tau/protocol";
import type { Job, Jobs } from "@tau/tools";
import type { Session } from "../session/session.ts";
import {
  findKnownJobs,
  type KnownJob,
  jobsMessageType,
  type JobsMessageDetails,
  shortenCommand,
} from "./known-jobs.ts";

interface JobReportsParts {
  jobs: Jobs;
  clock: Clock;
  /** Notifies the user. */
  notice: (code: string, message: string) => void;
  publish: (running: JobSummary[]) => void;
}

export class JobReports {
  readonly #parts: JobReportsParts;
  /** Jobs that have ended, and that were not reported to the model. */
  #ended: Job[] = [];
  /** Jobs that the conversation takes for running, and that are gone. */
  #gone: readonly KnownJob[] = [];
  /** Whether the model may not know which jobs run. */
  #reportsRunning = false;

  constructor(parts: JobReportsParts) {
    this.#parts = parts;
  }

  /** Oldest first. */
  get running(): readonly Job[] {
    return this.#parts.jobs.list().filter(({ ended }) => !ended);
  }

  /** Whether something waits for the model that asked for a run. */
  get wakes(): boolean {
    return this.#waiting.some((job) => job.wakes);
  }

  /** Follows the jobs; returns how to stop. `wake` is called when a job has ended whose call asked for a run. */
  follow(wake: () => void): () => void {
    const { jobs, publish } = this.#parts;
    return jobs.onChange((job) => {
      publish(this.running.map(toJobSummary));
      if (job.ended) this.#takeEnd(job, wake);
    });
  }

  /** A session was opened again: what ran before is gone. */
  resume(messages: readonly AgentMessage[]): void {
    const { jobs, notice } = this.#parts;
    const known = findKnownJobs(messages);
    jobs.startAfter(known.maxId);
    this.#gone = known.running;
    if (known.running.length > 0) notice("jobs", `${goneText} ${listJobs(known.running)}`);
  }

  /** Another branch is shown: it may know of other jobs than those that run. */
  compareWith(messages: readonly AgentMessage[]): void {
    const known = findKnownJobs(messages);
    const all = this.#parts.jobs.list();
    const isRunning = (id: string) => all.some((job) => job.id === id && !job.ended);
    this.#gone = known.running.filter(({ id }) => !isRunning(id));
    this.#ended = this.#ended.filter(({ id }) => !this.#gone.some((job) => job.id === id));
    this.#reportsRunning = this.running.some(({ id }) => !known.running.some((job) => job.id === id));
  }

  /** The conversation was compacted, and what it said of jobs may be gone from it. */
  reportRunning(): void {
    this.#reportsRunning = this.running.length > 0;
  }

  /** Takes what the model does not know yet. Empty if it knows everything. */
  take(): CustomMessage[] {
    const { jobs, clock } = this.#parts;
    const ended = this.#waiting;
    const running = this.#reportsRunning ? this.running : [];
    const lines = [
      ...ended.map((job) => `${describeEnd(jobs, job)} It was: ${toJobSummary(job).command}`),
      ...(this.#gone.length > 0 ? [`${goneText} ${listJobs(this.#gone)}`] : []),
      ...(running.length > 0 ? [`Background jobs that are running: ${listJobs(running.map(toJobSummary))}`] : []),
    ];
    const details: JobsMessageDetails = {
      ended: [...ended, ...this.#gone].map(({ id }) => id),
      running: running.map(toJobSummary).map(({ id, command }) => ({ id, command })),
    };
    this.#ended = [];
    this.#gone = [];
    this.#reportsRunning = false;
    if (lines.length === 0) return [];
    jobs.markSeen(details.ended);
    const content = `[${lines.join("\n")}]`;
    return [{ role: "custom", customType: jobsMessageType, content, display: false, details, timestamp: clock.now() }];
  }

  /** Writes what was not reported to the model into the log, for the next time. */
  async write(session: Pick<Session, "append">): Promise<void> {
    for (const { role: _role, timestamp: _timestamp, ...message } of this.take())
      await session.append({ type: "custom_message", ...message });
  }

  /** The model may have looked at a job meanwhile. */
  get #waiting(): Job[] {
    return this.#ended.filter(({ id }) => !this.#parts.jobs.isSeen(id));
  }

  #takeEnd(job: Job, wake: () => void): void {
    const { jobs, notice } = this.#parts;
    // The session is being closed.
    if (job.ended?.why === "session") return;
    this.#ended.push(job);
    // A kill is reported where it was asked for.
    if (job.ended?.why !== "killed") notice("job", `${jobs.describe(job)} It was: ${toJobSummary(job).command}`);
    if (job.wakes) wake();
  }
}

const goneText = "These background jobs are not running any more, since they ended with the program that ran them:";

const listJobs = (jobs: readonly KnownJob[]): string =>
  `${jobs.map(({ id, command }) => `${id} (${command})`).join(", ")}.`;

/** A job that the model itself killed is not reported. */
const describeEnd = (jobs: Jobs, job: Job): string =>
  job.ended?.why === "killed"
    ? `Job ${job.id} was killed by the user.`
    : `${jobs.describe(job)} Read its output with jobs.`;

export const toJobSummary = ({ id, command, startedMs }: Job): JobSummary => ({
  id,
  command: shortenCommand(command),
  startedAt: startedMs,
});

export function toJobData(job: Job, state: string): JobData {
  const { ended, log } = job;
  return {
    ...toJobSummary(job),
    isRunning: ended === undefined,
    ...(ended && { endedAt: ended.atMs }),
    state,
    ...("file" in log && { outputFile: log.file }),
  };
}

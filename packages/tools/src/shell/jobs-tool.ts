import type { AgentToolResult } from "@tau/agent";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import type { DescribedTool } from "../tool.ts";
import { keepTail } from "../truncate.ts";
import { describeJob, type Job } from "./job.ts";
import { getJobsAccess } from "./jobs-access.ts";
import { type Jobs, whereIsLog } from "./jobs.ts";

export interface JobsDetails {
  jobs: readonly Job[];
}

/** Lists, reads and kills the jobs that `bash` started, and writes to those with a terminal. */
export function createJobsTool({ jobs }: { jobs: Jobs }): DescribedTool<ParametersOf<"jobs">, JobsDetails> {
  return {
    ...definitions.jobs,
    access: getJobsAccess(jobs),
    async execute(_id, { action, id, offset, text: written }, signal) {
      if (action === "list") {
        const all = jobs.list();
        jobs.markSeen(all.map((job) => job.id));
        return present(jobs, toList(all));
      }
      if (id === undefined) throw new ToolsError("invalid_input", `To ${action} a job, give its id.`);
      if (action === "kill") {
        const killed = await jobs.kill(id);
        jobs.markSeen([id]);
        return present(jobs, describeJob(killed));
      }
      if (action === "write") await write(jobs, id, { written, signal });
      const text = await jobs.read(id, action === "write" ? undefined : offset);
      jobs.markSeen([id]);
      const job = jobs.list().find((candidate) => candidate.id === id);
      return present(jobs, [text || "(no output)", job && `[${describeJob(job)}]`].filter(Boolean).join("\n\n"));
    },
  };
}

async function write(
  jobs: Jobs,
  id: string,
  { written = "", signal }: { written: string | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const terminal = jobs.getTerminal(id);
  if (!terminal)
    throw new ToolsError(
      "invalid_input",
      `Job ${id} has no terminal. Start it with bash and tty: true to write to it.`,
    );
  const job = jobs.list().find((candidate) => candidate.id === id);
  if (job?.ended) throw new ToolsError("unavailable", `${describeJob(job)} Nothing was written.`);
  await terminal.write(written, signal);
}

/** Where there are more than can be shown, the latest jobs are kept. */
function toList(jobs: readonly Job[]): string {
  const lines = jobs.map((job) => `${describeJob(job)} ${shorten(job.command)} (${whereIsLog(job.log)})`);
  const { text, shownLines } = keepTail(lines.join("\n"));
  const hidden = lines.length - shownLines;
  return lines.length === 0
    ? "There are no jobs."
    : hidden > 0
      ? `[${hidden} older jobs are not shown.]\n${text}`
      : text;
}

const shorten = (command: string) => {
  const all = command.trim();
  const [start = ""] = /^.{0,100}/u.exec(all) ?? [];
  return start === all ? all : `${start}…`;
};

function present(jobs: Jobs, text: string): AgentToolResult<JobsDetails> {
  return { content: [{ type: "text", text }], details: { jobs: jobs.list().map((job) => ({ ...job })) } };
}

/** Commands about what the model started in the background. */
import { toJobData } from "../../agent-session/job-reports.ts";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { HarnessError } from "@tau/protocol";
import { nonEmptyText, optional, wholeNumber } from "@tau/config/fields";
import { command, longCommand, type SomeCommands } from "./command.ts";

export const jobCommands = {
  list_jobs: command({}, ({ session }) => ({ jobs: session.jobs.list().map((job) => describe(session, job.id)) })),
  read_job: command(
    { id: nonEmptyText, offset: optional(wholeNumber({ min: 1, unit: "lines" })) },
    async ({ session }, { id, offset }) => {
      const job = describe(session, id);
      return { job, output: await session.jobs.read(id, offset) };
    },
  ),
  // Ending processes that do not want to end takes a moment.
  kill_job: longCommand({ id: nonEmptyText }, async ({ session }, { id }) => {
    describe(session, id);
    await session.jobs.kill(id);
    return { job: describe(session, id) };
  }),
} satisfies SomeCommands;

function describe({ jobs }: AgentSession, id: string) {
  const job = jobs.list().find((each) => each.id === id);
  if (job) return toJobData(job, jobs.describe(job));
  const ids = jobs.list().map((each) => each.id);
  const known = ids.length > 0 ? `There are: ${ids.join(", ")}.` : "There are no jobs.";
  throw new HarnessError("invalid_input", `There is no job ${JSON.stringify(id)}. ${known}`);
}

/** `/jobs`: the commands that the model runs in the background. */
import type { JobData, JobSummary } from "@tau/protocol";
import { toPlainLine, toVisibleText } from "@tau/tui";
import type { Interface } from "../interface.ts";

/** How many lines of the output are shown; all of it is in the file that is named with it. */
const maxLines = 100;

export async function showJobs(ui: Interface): Promise<void> {
  const { jobs } = await ui.client.execute({ type: "list_jobs" });
  if (jobs.length === 0) return ui.say("Nothing runs in the background.");
  const items = jobs.toReversed().map((job) => ({
    value: job.id,
    label: `${job.isRunning ? "●" : " "} ${job.id}  ${toPlainLine(job.command)}`,
    description: job.state,
  }));
  const id = await ui.choose("Background jobs", items);
  const job = jobs.find((each) => each.id === id);
  if (job) await act(ui, job);
}

/** Whether the user leaves although jobs are running. */
export async function confirmLeaving(
  { choose }: Pick<Interface, "choose">,
  jobs: readonly JobSummary[],
): Promise<boolean> {
  const what =
    jobs.length === 1 ? "1 background job is running, and ends" : `${jobs.length} background jobs are running, and end`;
  const names = jobs.map(({ id, command }) => `${id}  ${toPlainLine(command)}`);
  const chosen = await choose(
    `${what} when you leave:`,
    [
      { value: "stay", label: "Stay" },
      { value: "leave", label: jobs.length === 1 ? "Leave and end it" : "Leave and end them" },
    ],
    { hint: names.join("\n") },
  );
  return chosen === "leave";
}

async function act(ui: Interface, job: JobData): Promise<void> {
  const title = `Job ${job.id}: ${toPlainLine(job.command)}`;
  const chosen = await ui.choose(title, [
    { value: "read", label: "Show its output" },
    ...(job.isRunning ? [{ value: "kill", label: "End it" }] : []),
  ]);
  if (chosen === "read") await showOutput(ui, job);
  if (chosen !== "kill") return;
  const ended = await ui.client.execute({ type: "kill_job", id: job.id });
  ui.say(ended.job.state);
}

async function showOutput(ui: Interface, { id }: JobData): Promise<void> {
  const { job, output } = await ui.client.execute({ type: "read_job", id });
  const lines = output.split("\n");
  const shown = lines.slice(-maxLines).map((line) => toVisibleText(line));
  const file = job.outputFile === undefined ? [] : [`All of it is in ${job.outputFile}.`];
  ui.say([...(output === "" ? ["(no output)"] : shown), "", job.state, ...file].join("\n"));
}

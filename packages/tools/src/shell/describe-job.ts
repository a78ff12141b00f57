/** Describes jobs. Pure. */
import { doubt, describeStatus } from "./command.ts";
import type { Job } from "./jobs.ts";

/** The state of a job, in one line. */
export function describeJob({ id, ended, containment }: Job): string {
  if (!ended) return `Job ${id} is running.`;
  if (ended.why === "killed") return `Job ${id} was killed${doubt(containment)}.`;
  if (ended.why === "session") return `Job ${id} was ended with the session${doubt(containment)}.`;
  if (ended.why === "timeout") return `Job ${id} timed out and was ended${doubt(containment)}.`;
  const verdict = describeStatus(ended.status, "its directory");
  return `Job ${id} has ended. ${verdict === undefined ? "Command exited with code 0" : verdict + doubt(containment)}.`;
}

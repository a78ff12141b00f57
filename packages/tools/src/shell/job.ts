/** A job, and its description for people and models. */
import type { ExitStatus } from "../platform/spawn.ts";
import { doubt, describeStatus } from "./command.ts";
import type { Containment } from "./contained.ts";
import type { KeptOutput } from "./output.ts";

/** A command that outlives the call that started it. */
export interface Job {
  readonly id: string;
  /** At least the beginning of it. */
  readonly command: string;
  /** The file with its output, or why there is none. */
  readonly log: KeptOutput;
  readonly containment: Containment;
  /** Whether it has a terminal, into which can be written. Absent if it has none. */
  readonly hasTerminal?: true;
  readonly startedMs: number;
  /** Whether the call that started it asked for a run when it ends and nothing else is in progress. */
  readonly wakes: boolean;
  /** How it ended; undefined while it runs. */
  readonly ended: { status: ExitStatus; atMs: number; why: "itself" | "killed" | "timeout" | "session" } | undefined;
}

/** The state of a job, in one line. */
export function describeJob({ id, ended, containment, hasTerminal }: Job): string {
  if (!ended) return `Job ${id} is running${hasTerminal ? " on a terminal" : ""}.`;
  if (ended.why === "killed") return `Job ${id} was killed${doubt(containment)}.`;
  if (ended.why === "session") return `Job ${id} was ended with the session${doubt(containment)}.`;
  if (ended.why === "timeout") return `Job ${id} timed out and was ended${doubt(containment)}.`;
  const verdict = describeStatus(ended.status, "its directory");
  return `Job ${id} has ended. ${verdict === undefined ? "Command exited with code 0" : verdict + doubt(containment)}.`;
}

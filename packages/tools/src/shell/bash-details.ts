import type { SandboxRefusal } from "../platform/command-sandbox.ts";
import type { Containment } from "./contained.ts";

/** The details of a result of `bash`. */
export interface BashDetails {
  /** How the processes of the command are contained. */
  containment: Containment;
  /** Undefined for a job that is still running. */
  exitCode?: number;
  /** The signal that ended it, as far as the exit code tells. */
  signal?: string;
  shownLines: number;
  totalLines: number;
  /** How much of the text is output of the command, in UTF-16 units. What follows are remarks of ours. */
  outputLength: number;
  /** Processes that the command left running were ended with it. Absent if there were none. */
  endedProcesses?: true;
  /** The file with the whole output, if it was too long to show, or of a job. Absent when it could not be kept. */
  outputFile?: string;
  jobId?: string;
  /** Set for a command that failed: what the sandbox did not allow it. */
  refused?: SandboxRefusal;
  /** The error of `onUpdate`, which was not called again. */
  updateFailure?: string;
}

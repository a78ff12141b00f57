/** Commands that the model started in the background. They belong to their session, and end with it. */

export interface JobSummary {
  id: string;
  /** The first line of the command, shortened. */
  command: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

export interface JobData extends JobSummary {
  isRunning: boolean;
  /** Milliseconds since the epoch. Absent while it runs. */
  endedAt?: number;
  /** Its state in one sentence, such as "Job 1 has ended. Command exited with code 0." */
  state: string;
  /** The file with all that it has written, where that is kept. */
  outputFile?: string;
}

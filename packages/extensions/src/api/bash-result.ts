/** The result of a command that the user ran. */
export interface BashResult {
  output: string;
  /** Undefined when the command was cancelled. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
}

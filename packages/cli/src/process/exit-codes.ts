/** The exit codes of the program. Scripts rely on them; they never change. */
export const exitCodes = {
  done: 0,
  /** The command was tried and failed. */
  failed: 1,
  /** The command line is wrong, or names something that does not exist. */
  usage: 2,
  /** The policy denied a tool call. */
  denied: 3,
  /** The user or a signal interrupted the program. After SIGTERM and SIGHUP the process ends with 143 and 129 instead. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

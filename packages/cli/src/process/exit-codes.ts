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

/** Explains each code, for the help and the manual page. */
export const exitCodeRows: readonly (readonly [codes: string, meaning: string])[] = [
  [String(exitCodes.done), "Done."],
  [String(exitCodes.failed), "Failed, or stopped by a limit; standard error says why in one line."],
  [String(exitCodes.usage), "The command line is wrong, or names a session, model or file that does not exist."],
  [String(exitCodes.denied), "Answered, but the policy denied a tool call of the model."],
  [String(exitCodes.interrupted), "Interrupted by the user, or by SIGINT."],
  ["129, 143", "Ended by SIGHUP or by SIGTERM."],
];

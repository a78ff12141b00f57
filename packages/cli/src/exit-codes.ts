/** What the program's exit code says. Scripts rely on these; they never change. */
export const exitCodes = {
  /** The work is done. */
  done: 0,
  /** It was tried and failed. */
  failed: 1,
  /** The command line was not understood. */
  usage: 2,
  /** Policy did not allow it. */
  denied: 3,
  /** A person or a signal stopped it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

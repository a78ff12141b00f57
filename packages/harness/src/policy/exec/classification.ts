/** The types of exec mediation: what a command line was found to do, and how dangerous that is. */

/** How dangerous a command is, from harmless to what no person may allow either. */
export const execTiers = ["low", "medium", "high", "critical"] as const;
export type ExecTier = (typeof execTiers)[number];

export const execClasses = [
  "recursive_delete",
  "privilege_escalation",
  "exfiltration",
  "pipe_to_shell",
  "credential_change",
  "persistence",
  "reverse_shell",
  "disk_wipe",
  "device_write",
  "fork_bomb",
  "shutdown",
  "process_kill",
  /** A program whose name or code is not known before it runs. */
  "opaque_exec",
] as const;
export type ExecClass = (typeof execClasses)[number];

/** What a command line is judged against. All are absolute paths. */
export interface ExecContext {
  /** Where relative paths begin. */
  cwd: string;
  home: string;
  /** The directory that the commands may change. */
  workspace: string;
}

/** One dangerous thing that a command line does. */
export interface ExecFinding {
  tier: Exclude<ExecTier, "low">;
  class: ExecClass;
  reason: string;
  /** Index of the command in `commands` that it is about; null where it is about a redirection, a pipe or the whole text. */
  command: number | null;
}

export interface Classification {
  tier: ExecTier;
  /** Of the most dangerous thing that was found; null where nothing matched. */
  class: ExecClass | null;
  /** Explains the tier in one sentence, for people and models. Empty where nothing matched. */
  reason: string;
  /**
   * Every command that may run, at any depth, roughly in the order of the text. What is not known before it runs is shown
   * as `…`: a part of a word, or any number of words.
   */
  commands: readonly (readonly string[])[];
  /** Everything that was found, in the order of the text. */
  findings: readonly ExecFinding[];
}

/** -1, 0 or 1 and more, as a comparison function returns it. */
export const compareTiers = (a: ExecTier, b: ExecTier): number => execTiers.indexOf(a) - execTiers.indexOf(b);

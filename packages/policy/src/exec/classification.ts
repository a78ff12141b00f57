/** The types of exec mediation: what a command line was found to do, and how dangerous that is. */
import type { NamedCredential } from "@tau/sandbox/internal";
import type { DangerousCommandClass } from "./dangerous-class.ts";
import type { ReadLink } from "./links.ts";

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

/** The context that a command line is judged in. All are absolute paths. */
export interface ExecContext {
  /** Where relative paths begin. */
  cwd: string;
  home: string;
  /** The directory that the commands may change. */
  workspace: string;
  /** Reads links of the disk. Default: paths are compared by their text. */
  readLink?: ReadLink;
  /** Credentials that environment variables lead to. Default: none. */
  named?: readonly NamedCredential[];
  /** Tau's own directory. Default: `.tau` in the home directory. */
  agentDir?: string;
}

/** A dangerous thing that a command line does. */
export interface ExecFinding {
  tier: Exclude<ExecTier, "low">;
  class: ExecClass;
  reason: string;
  /** Index of the command in `commands` that it is about; null where it is about a redirection, a pipe or the whole text. */
  command: number | null;
  /** The file or directory that it changes, where that is one. */
  path?: string;
  /** Set where it differs from the one that follows from `class`. */
  dangerousCommandClass?: DangerousCommandClass;
}

export interface Classification {
  tier: ExecTier;
  /** The class of the most dangerous thing that was found; null where nothing matched. */
  class: ExecClass | null;
  /**
   * Names the kind of danger in one of ten words that other programs know; null where none fits. It says nothing about
   * the tier: `chmod 777 file` has one and is harmless.
   */
  dangerousCommandClass: DangerousCommandClass | null;
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

/** Negative, zero or positive, as a comparison function returns it. */
export const compareTiers = (a: ExecTier, b: ExecTier): number => execTiers.indexOf(a) - execTiers.indexOf(b);

/** Says more about a command than that it is not known, or that it runs with other rights. */
const toDetail = (finding: ExecFinding) =>
  finding.class === "opaque_exec" ? 0 : finding.class === "privilege_escalation" ? 1 : 2;

/** The most dangerous finding; of equal ones the first that says most about what happens. */
export function findWorst(findings: readonly ExecFinding[]): ExecFinding | undefined {
  let worst: ExecFinding | undefined;
  for (const finding of findings) {
    const order = worst ? compareTiers(finding.tier, worst.tier) : 1;
    if (!worst || order > 0 || (order === 0 && toDetail(finding) > toDetail(worst))) worst = finding;
  }
  return worst;
}

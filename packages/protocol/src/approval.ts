/** Questions that the policy asks a person, and the answers to them. */

/** How long an answer applies: for this call, until the session ends, in this project, or everywhere. */
export type ApprovalChoice = "once" | "session" | "project" | "always";

export const approvalChoices: readonly ApprovalChoice[] = ["once", "session", "project", "always"];

/** A question that must be answered before a call continues. It has everything that a person needs to decide. */
export interface Approval {
  id: string;
  toolCallId: string;
  toolName: string;
  /** Describes in one sentence what the call would do. */
  summary: string;
  /** Why the policy asks, with the real path of what would be touched: a name in a call may be a link. */
  reason: string;
  /** The commands that would run, each as its argv. */
  commands?: readonly (readonly string[])[];
  /** The real path that would be touched. */
  path?: string;
  /** The host that would be contacted. */
  host?: string;
  /** When the question is denied without an answer, milliseconds since the epoch. Absent: it waits for an answer. */
  expiresAt?: number;
  /** How long that was when it was asked, in milliseconds. */
  timeoutMs?: number;
  /** The answers besides no. A choice may be offered with several rules. */
  choices: readonly OfferedChoice[];
}

export interface OfferedChoice {
  choice: ApprovalChoice;
  /** The rule that would be allowed or remembered; absent for `once` if there is only one way. An answer repeats it. */
  rule?: string;
  /** Describes the choice for people, different for each choice of a question, such as "Yes, for this session". */
  label: string;
}

/** An answer. Without `choice`, allowing applies to this call alone. */
export interface ApprovalAnswer {
  decision: "allow" | "deny";
  choice?: ApprovalChoice;
  /** Which of the rules that are offered for the choice is remembered. Default: the first. Another one denies. */
  rule?: string;
  /** Sent to the model with the outcome of the call. */
  message?: string;
}

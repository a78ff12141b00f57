/** The types of the policy: requests, verdicts, questions, answers and the decisions of the audit. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { Capability, Target } from "@tau/tools";

export { capabilities } from "@tau/tools/platform";
export type { Capability, Target };

/** The party that makes a request. */
export type Subject =
  | { kind: "model"; sessionId: string }
  | { kind: "extension"; name: string }
  | { kind: "client"; name: string }
  | { kind: "child"; sessionId: string; parentSessionId: string };

/** What is judged. A target that is a path is the real path of a file, without links. */
export interface PolicyRequest {
  subject: Subject;
  capability: Capability;
  target: Target;
}

/** `rule` names the rule that decided, for the audit; `reason` explains it to people and models in whole sentences. */
export type Verdict = { rule: string } & (
  | { kind: "allow" }
  | { kind: "ask"; reason: string }
  | { kind: "deny"; reason: string }
);

/** Decides whether a request is allowed. Pure. */
export type Decide = (request: PolicyRequest) => Verdict;

/** A question for a person, with the request that it is about. */
export interface Question extends Omit<Approval, "expiresAt"> {
  request: PolicyRequest;
}

export interface Answer extends ApprovalAnswer {
  /** Who answered. Default `person`. */
  by?: string;
}

/** Asks a person. Should give up when `signal` aborts; a rejection allows nothing. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** The audit record of a call that was judged. */
export interface Decision {
  toolCallId: string;
  toolName: string;
  request: PolicyRequest;
  rule: string;
  outcome: "allowed" | "denied";
  /** The name of the one who answered, if a question was asked. */
  by?: string;
  reason?: string;
}

/** Stores decisions. A call whose decision cannot be stored is denied. */
export type Audit = (decision: Decision) => void | Promise<void>;

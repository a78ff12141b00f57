/** What is judged, who judges, who is asked, and what is written down. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { Capability, Target } from "@tau/tools";
import { capabilities } from "@tau/tools/platform";

export { capabilities };
export type { Capability, Target };

/** Who wants something. */
export type Subject =
  | { kind: "model"; sessionId: string }
  | { kind: "extension"; name: string }
  | { kind: "client"; name: string }
  | { kind: "child"; sessionId: string; parentSessionId: string };

/** What is judged. The target is a path that a file really has, not one that leads to it through links. */
export interface PolicyRequest {
  subject: Subject;
  capability: Capability;
  target: Target;
}

/** `rule` names what decided, for the audit; `reason` says it to people and models in whole sentences. */
export type Verdict = { rule: string } & (
  | { kind: "allow" }
  | { kind: "ask"; reason: string }
  | { kind: "deny"; reason: string }
);

/** The one function that says who may do what. Pure. */
export type Decide = (request: PolicyRequest) => Verdict;

/** A question for a person, with the request that it is about. */
export interface Question extends Omit<Approval, "expiresAt"> {
  request: PolicyRequest;
}

export interface Answer extends ApprovalAnswer {
  /** Who answered. Default `person`. */
  by?: string;
}

/** Asks a person. Should give up when `signal` aborts; one that rejects has not allowed anything. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** What is written down about a call that was judged. */
export interface Decision {
  toolCallId: string;
  toolName: string;
  request: PolicyRequest;
  rule: string;
  outcome: "allowed" | "denied";
  /** Who was asked, where somebody was. */
  by?: string;
  reason?: string;
}

/** Keeps decisions. One that fails denies the call: what cannot be written down is not done. */
export type Audit = (decision: Decision) => void | Promise<void>;

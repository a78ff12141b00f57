/** The types of the policy: requests, verdicts, questions, answers and the decisions of the audit. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { AccessRequest, Capability, Target } from "@tau/tools";
import type { ExecClass, ExecTier } from "./exec/classification.ts";
import type { DangerousCommandClass } from "./exec/dangerous-class.ts";

export { capabilities } from "@tau/tools/platform";
export type { Capability, Target };

/** The party that makes a request. */
export type Subject =
  | { kind: "model"; sessionId: string }
  | { kind: "extension"; name: string }
  | { kind: "client"; name: string }
  | { kind: "child"; sessionId: string; parentSessionId: string };

/** The request that is judged. A target that is a path is the real path of a file, without links. */
export interface PolicyRequest {
  subject: Subject;
  capability: Capability;
  target: Target;
  /** See `AccessRequest`. */
  sends?: string | undefined;
  chosen?: AccessRequest["chosen"] | undefined;
}

/** Describes what a command was found to do, for the question, its rules and the audit. */
export interface ExecFacts {
  class: ExecClass | null;
  /** Names the class in one of ten words that other programs know; null where none fits. */
  dangerousCommandClass: DangerousCommandClass | null;
  tier: ExecTier;
  reason: string;
  /** Every command that may run, each as its argv. */
  commands: readonly (readonly string[])[];
}

/** `rule` names the rule that decided, for the audit; `reason` explains it to people and models in whole sentences. */
export type Verdict = { rule: string; exec?: ExecFacts } & (
  | {
      kind: "allow";
      /** Whether it goes to the audit although it is allowed. Default false. */
      isAudited?: boolean;
      /** Whether a pattern of the user's allows exactly this. Default false. */
      isNamed?: boolean;
    }
  | {
      kind: "ask";
      reason: string;
      /** Whether a person is asked although they allowed it before, and only for this call. Default false. */
      asksEachTime?: boolean;
    }
  | { kind: "deny"; reason: string }
);

/** The tool call that a request is part of. */
export interface PolicyCall {
  readonly toolName: string;
  /** Validated. */
  readonly args: unknown;
  /** Whether the tool itself wants a person to allow this call; see `ToolDescription.needsApproval`. They are asked in any case. */
  readonly needsApproval: boolean;
}

/**
 * Decides whether a request is allowed. It may load code, but depends on nothing that changes. `call` is undefined for what
 * no tool asks for, such as a request of an isolated extension.
 */
export type Decide = (request: PolicyRequest, call?: PolicyCall) => Verdict | Promise<Verdict>;

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
  /** The facts that were found about a command. */
  exec?: ExecFacts;
  /** Names who wrote the text that the call brings in; see `AccessRequest`. */
  textFrom?: string;
  /** Whether it is written down although nobody was asked. */
  isAudited?: boolean;
  /** The name of the one who answered, if a question was asked. */
  by?: string;
  reason?: string;
}

/** Stores decisions. A call whose decision cannot be stored is denied. */
export type Audit = (decision: Decision) => void | Promise<void>;

/** The types of the policy: requests, verdicts, questions, answers and the decisions of the audit. */
import type { Capability, Target } from "@tau/tools";
import { capabilities } from "@tau/tools/platform";

export { capabilities };
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

/** A question for a person. */
export interface Question {
  id: string;
  toolCallId: string;
  toolName: string;
  /** What the call would do, as one sentence. */
  summary: string;
  /** Why the person is asked. Names the real path: a name in a call may lead elsewhere. */
  reason: string;
  request: PolicyRequest;
}

export interface Answer {
  decision: "allow" | "deny";
  /** `session`: do not ask again for this target until the session ends. `always` is stored by the port that answers. */
  remember?: "session" | "always";
  /** The name of the one who answered. Default `person`. */
  by?: string;
  /** Why not, for the model. */
  reason?: string;
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

/** What is judged, who judges, who is asked, and what is written down. */

/** What somebody can do to the world. `exec` and `env` are dangerous. */
export const capabilities = ["read", "write", "http", "events", "session", "ui", "exec", "env", "tool", "log"] as const;
export type Capability = (typeof capabilities)[number];

/** Who wants something. */
export type Subject =
  | { kind: "model"; sessionId: string }
  | { kind: "extension"; name: string }
  | { kind: "client"; name: string }
  | { kind: "child"; sessionId: string; parentSessionId: string };

/** What they want it of. */
export type Target =
  /** By the path that it really has. */
  | { kind: "path"; path: string }
  | { kind: "command"; command: string }
  /** A tool, or anything else that has only a name. */
  | { kind: "name"; name: string };

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

/** A question for a person. */
export interface Question {
  id: string;
  toolCallId: string;
  toolName: string;
  /** What the call would do, in words. */
  summary: string;
  /** Why somebody is asked, with what would really be touched: a name in a call may lead elsewhere. */
  reason: string;
  request: PolicyRequest;
}

export interface Answer {
  decision: "allow" | "deny";
  /** `session`: do not ask again for this target until the session ends. `always` is kept by whoever answers. */
  remember?: "session" | "always";
  /** Who answered. Default `person`. */
  by?: string;
  /** Why not, for the model. */
  reason?: string;
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

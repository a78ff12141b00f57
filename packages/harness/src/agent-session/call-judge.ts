/** Judges the calls of one session: a person is asked where the policy says so, and denials are published. */
import type { Clock, Ids } from "@tau/ai";
import type { AnswerStore } from "@tau/policy";
import { adviseUser, createJudge, type JudgeParts, type PolicyReport } from "@tau/policy/internal";
import type { SessionTaint } from "../session/session-taint.ts";
import type { RunHost } from "../run/run-host.ts";
import { Approvals, type AskChoice } from "./approvals.ts";
import type { LiveSession } from "./live-sessions.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { Publisher } from "../run/publisher.ts";
import type { RunScopes } from "./run-scopes.ts";

/** The parts that decide about calls. */
export interface PolicyParts extends Pick<
  JudgeParts,
  "decide" | "audit" | "grants" | "remembered" | "files" | "home" | "getMode"
> {
  ask: AskChoice | undefined;
  /** Keeps the questions that outlive their run, unless `ask` names another store. Undefined if nothing of the session outlives it. */
  answers: AnswerStore | undefined;
  /** The hosts that the user allowed in this project. */
  listHosts: () => Promise<string[]>;
  report: PolicyReport;
  taint: SessionTaint;
}

interface CallJudgeParts {
  policy: PolicyParts;
  sessionId: string;
  parent: LiveSession | undefined;
  cwd: string;
  ids: Ids;
  clock: Clock;
  publisher: Publisher;
  scopes: RunScopes;
  questions: OpenQuestions;
  /** How long a question waits before it is denied; undefined if the settings do not say. */
  timeoutMs: () => number | undefined;
}

export interface CallJudge extends Pick<RunHost, "judge" | "endCall" | "getCallMessage"> {
  /** For what is judged like a call: isolated extensions, and commands that the sandbox stopped. */
  readonly parts: JudgeParts;
  /** Answers a question. False when it is no longer open. */
  answer: Approvals["answer"];
  readonly waits: Approvals["waits"];
}

export function createCallJudge(own: CallJudgeParts): CallJudge {
  const { sessionId, parent, cwd, ids, clock, publisher, scopes, questions, timeoutMs } = own;
  const { decide, audit, grants, remembered, files, home, getMode, ask } = own.policy;
  const approvals = new Approvals({ sessionId, publisher, clock, timeoutMs });
  /** Messages of the user from when they allowed a call, by its id. */
  const messages = new Map<string, string>();
  const parts: JudgeParts = {
    decide,
    grants,
    remembered,
    files,
    cwd,
    home,
    getMode,
    ids,
    async audit(decision) {
      try {
        await audit(decision);
      } finally {
        if (decision.outcome === "denied") {
          const { toolCallId, toolName, rule, reason = "", by = "policy" } = decision;
          const advice = await adviseUser(decision, files);
          publisher.fact({ type: "tool_denied", toolCallId, toolName, rule, reason, by, advice });
        }
      }
    },
    hasScope: (scope) => scopes.has(scope),
    onMessage: (toolCallId, message) => messages.set(toolCallId, message),
    // For each call: a client may come or say later that it answers.
    get ask() {
      return ask && approvals.port(ask);
    },
    subject: parent ? { kind: "child", sessionId, parentSessionId: parent.sessionId } : { kind: "model", sessionId },
  };
  return {
    parts,
    judge: createJudge(parts, {
      getTakeAnswers: (call) => questions.getTakeAnswers(call),
      explainUnattended: (call) => questions.explainUnattended(call),
    }),
    waits: approvals.waits,
    answer: (id, answer) => approvals.answer(id, answer),
    endCall(toolCallId) {
      grants.endCall(toolCallId);
      messages.delete(toolCallId);
    },
    getCallMessage: (toolCallId) => messages.get(toolCallId),
  };
}

/**
 * Events that a session reports. Plain JSON: deltas and ids, never a whole partial message. Eleven events report the life of a run;
 * the others are facts of the session.
 */
import type { ModelUse } from "./model-use.ts";
import type { ImageContent, Message, TextContent } from "@tau/ai";
import type { Approval } from "./approval.ts";
import type { SessionEntry } from "./entry.ts";
import type { JobSummary } from "./job.ts";
import type { PermissionMode } from "./permission-mode.ts";
import type { TerminationReason } from "./run-end.ts";

/** The reason why an answer ended, for surfaces. */
export type WireStopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "error" | "aborted";

export type UpdateType = "stdout" | "stderr" | "progress" | "partial-result";

/** Tokens, for surfaces. */
export interface WireUsage {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** The life of a run. Every `_start` has exactly one `_end`, and nothing follows `agent_end`. */
export type LifecycleEvent =
  | {
      type: "agent_start";
      sessionId: string;
      model: string;
      /** The names of the tools. */
      tools: string[];
      thinkingLevel: string;
      /** The session that this run continues. */
      resumedFrom?: string;
      timestamp: number;
    }
  | {
      type: "turn_start";
      turnId: string;
      turnIndex: number;
      /** How many messages are sent. */
      messageCount: number;
      /** The messages that are sent. Only in process, for listeners to the life of a run; do not change them. */
      messages?: readonly Message[];
    }
  | { type: "message_start"; messageId: string; role: "assistant"; model: string; usage: { inputTokens: number } }
  /** `index` is where in the message's text the delta begins, in UTF-16 units. */
  | { type: "text_delta"; messageId: string; delta: string; index: number }
  | {
      type: "tool_execution_start";
      toolCallId: string;
      toolName: string;
      input: Record<string, unknown>;
      messageId: string;
      /** The call of the tool that made this one. Nested calls end before it. */
      parentToolCallId?: string;
    }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      updateType: UpdateType;
      content: string;
      /** 0 to 100. */
      progressPercent?: number;
      parentToolCallId?: string;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      success: boolean;
      /** The text that the model reads. */
      output: string;
      durationMs: number;
      error?: { code: string; message: string };
      parentToolCallId?: string;
    }
  | {
      type: "message_end";
      messageId: string;
      stopReason: WireStopReason;
      usage: WireUsage;
      /** Surfaces do not show the answer. */
      silent?: boolean;
    }
  | {
      type: "turn_end";
      turnId: string;
      hasToolCalls: boolean;
      shouldContinue: boolean;
      terminationReason?: TerminationReason;
    }
  | {
      type: "agent_end";
      sessionId: string;
      totalTurns: number;
      totalTokens: number;
      durationMs: number;
      terminationReason: TerminationReason;
      /** Which of the ways to end a reason stands for, such as a spent budget. */
      detail?: string;
    }
  /** Comes before the `agent_end` of a run that failed. */
  | {
      type: "error";
      code: string;
      message: string;
      /** The part that failed (`cause`: `model`, `log` or `internal`), with which `model`, in which turn, and the HTTP `status`. */
      context?: Record<string, unknown>;
      recoverable: boolean;
    };

/** How a compaction ended. */
export type CompactionResult =
  | { kind: "compacted"; entryId: string; tokensBefore: number; tokensAfter: number }
  | { kind: "nothing"; reason: string }
  | { kind: "failed"; message: string }
  | { kind: "aborted" };

export type CompactionReason = "manual" | "threshold" | "overflow";

/** An event of a session outside the life of a run. */
export type SessionFact =
  | { type: "thinking_delta"; messageId: string; delta: string; index: number }
  /** A piece of a call's arguments; the first names the tool. */
  | { type: "toolcall_delta"; messageId: string; toolCallId: string; toolName?: string; delta: string }
  | { type: "entry_appended"; entry: SessionEntry }
  /** A new session continues from an entry of this one. */
  | { type: "session_branched"; branchId: string; branchPoint: string }
  | { type: "compaction_start"; reason: CompactionReason }
  | { type: "compaction_end"; reason: CompactionReason; outcome: CompactionResult }
  /**
   * The policy, or the person it asked (`by`), did not allow a call. `rule` names the rule that decided, the model gets
   * `reason`, and `advice` explains to a person how to allow it.
   */
  | {
      type: "tool_denied";
      toolCallId: string;
      toolName: string;
      rule: string;
      reason: string;
      by: string;
      advice: string;
    }
  /** `role` is the role that was chosen, if one was. `reason` is there if nobody chose the model. */
  | {
      type: "model_changed";
      provider: string;
      modelId: string;
      thinkingLevel: string;
      role?: string;
      reason?: string;
    }
  /** Requests use another model or key from now on. The selected model stays the same. */
  | ({ type: "model_used" } & ModelUse)
  /** All queued messages, oldest first, without the data of their images. */
  | { type: "queue_changed"; steering: QueuedSummary[]; followUps: QueuedSummary[] }
  | { type: "approval_requested"; approval: Approval }
  | { type: "approval_resolved"; approvalId: string; decision: "allowed" | "denied"; by: string }
  | { type: "retry_scheduled"; attempt: number; maxAttempts?: number; delayMs: number; reason: string }
  /** The provider's cache is lost: the request's prefix differs from here on. */
  | {
      type: "cache_break";
      /** The first part that differs, such as `tools.bash`, `system.environment` or `messages.12`. */
      segment: string;
      reason: string;
      /** Estimated tokens of the whole request: at most this many are read without the cache. */
      tokens: number;
    }
  /** The commands that run in the background, oldest first, after one was started or has ended. */
  | { type: "jobs_changed"; running: JobSummary[] }
  | { type: "permission_mode_changed"; mode: PermissionMode }
  /** Something that the user should know, in whole sentences. `code` is for programs. */
  | { type: "notice"; code: string; message: string };

export type SessionEvent = LifecycleEvent | SessionFact;

/** A message that was accepted while the session was busy. */
export interface QueuedMessage {
  id: string;
  content: string | (TextContent | ImageContent)[];
}

/** A piece of the answer that is arriving. */
export type Delta = Extract<SessionEvent, { delta: string }>;

/** A queued message as events report it: they repeat the whole queue, and images may be large. */
export interface QueuedSummary {
  id: string;
  content: string | (TextContent | Omit<ImageContent, "data">)[];
}

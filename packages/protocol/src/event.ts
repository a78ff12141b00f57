/**
 * What a session reports. Plain JSON: deltas and ids, never a whole partial message. The lifecycle of a run is eleven
 * events with the fields of seed 000; the rest are facts of the session.
 */
import type { ImageContent, TextContent } from "@tau/ai";

/** Why a run ended: exactly one of these. */
export type TerminationReason =
  | "no_tool_calls"
  | "timeout_48h"
  | "idle_timeout_120s"
  | "abort_signal"
  | "gateway_disconnected"
  | "error";

/** Why an answer ended, as surfaces are told. */
export type WireStopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "error" | "aborted";

export type UpdateType = "stdout" | "stderr" | "progress" | "partial-result";

/** Tokens as surfaces are told. */
export interface WireUsage {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** An entry of the log as it crosses the wire: whatever its type has besides these fields goes along. */
export interface WireEntry {
  type: string;
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  [field: string]: unknown;
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
      /** The session that this one went on from. */
      resumedFrom?: string;
      timestamp: number;
    }
  /** In process `messages` may be there too, as a reference to the context. */
  | { type: "turn_start"; turnId: string; turnIndex: number; messageCount: number }
  | { type: "message_start"; messageId: string; role: "assistant"; model: string; usage: { inputTokens: number } }
  /** `index` is where in the message's text the delta begins, in UTF-16 units. */
  | { type: "text_delta"; messageId: string; delta: string; index: number }
  | {
      type: "tool_execution_start";
      toolCallId: string;
      toolName: string;
      input: Record<string, unknown>;
      messageId: string;
    }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      updateType: UpdateType;
      content: string;
      /** 0 to 100. */
      progressPercent?: number;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      success: boolean;
      /** What the model reads. */
      output: string;
      durationMs: number;
      error?: { code: string; message: string };
    }
  | {
      type: "message_end";
      messageId: string;
      stopReason: WireStopReason;
      usage: WireUsage;
      /** The answer is one that nobody is to be shown. */
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
  | { type: "error"; code: string; message: string; context?: Record<string, unknown>; recoverable: boolean };

/** What happened to a session besides the life of a run. */
export type SessionFact =
  | { type: "thinking_delta"; messageId: string; delta: string; index: number }
  /** A piece of a call's arguments; the first names the tool. */
  | { type: "toolcall_delta"; messageId: string; toolCallId: string; toolName?: string; delta: string }
  | { type: "entry_appended"; entry: WireEntry }
  /** A new session goes on from an entry of this one. */
  | { type: "session_branched"; branchId: string; branchPoint: string }
  | { type: "session_compacted"; entryId: string; tokensBefore: number; tokensAfter: number }
  | { type: "model_changed"; provider: string; modelId: string; thinkingLevel: string }
  /** Everything that waits, oldest first. */
  | { type: "queue_changed"; steering: QueuedMessage[]; followUps: QueuedMessage[] }
  | { type: "approval_requested"; approval: Approval }
  | { type: "approval_resolved"; approvalId: string; decision: "allowed" | "denied"; by: string }
  | { type: "retry_scheduled"; attempt: number; maxAttempts: number; delayMs: number; reason: string }
  /** The provider's cache is lost: the request's prefix differs from here on. */
  | {
      type: "cache_break";
      /** The first part that differs, such as `tools.bash`, `system.environment` or `messages.12`. */
      segment: string;
      reason: string;
      /** What the whole request takes, about: at most so much is read anew. */
      tokens: number;
    }
  /** Something that a person should know, in whole sentences. `code` is for programs. */
  | { type: "notice"; code: string; message: string };

export type SessionEvent = LifecycleEvent | SessionFact;

/** A message that was accepted and waits for its turn. */
export interface QueuedMessage {
  id: string;
  content: string | (TextContent | ImageContent)[];
}

/** A question that somebody has to answer before a call goes on. */
export interface Approval {
  id: string;
  toolCallId: string;
  toolName: string;
  /** What the call would do, in words. */
  summary: string;
  /** Why somebody is asked, with what would really be touched: a name in a call may lead elsewhere. */
  reason: string;
  /** When it is denied without an answer, milliseconds since the epoch. */
  expiresAt?: number;
}

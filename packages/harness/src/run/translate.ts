/**
 * The engine's events as the session's: ten kinds become eleven, with ids, numbers and durations. Pure: a state and an
 * event in, the next state and what is to be published out. The engine's own start and end of a run are left out, because
 * a run of the session may be several of the engine's.
 */
import type { AgentEvent, AgentMessage } from "@tau/agent";
import type { AssistantMessage, ImageContent, TextContent, Usage } from "@tau/ai";
import { asRecord } from "@tau/ai/internal";
import { type RunEnd, type SessionEvent, toTermination, type WireStopReason, type WireUsage } from "@tau/protocol";
import { getToolCalls } from "../compaction/files.ts";
import { isSilent } from "./silent.ts";

export interface Translation {
  /** How many turns have begun. One whose answer is asked for again is still the same. */
  readonly turns: number;
  /** `due`: begun by the engine, but not published yet. `repeated`: its answer is asked for again, by the engine's next turn. */
  readonly turn: "over" | "due" | "open" | "repeated";
  readonly turnId: string;
  /** The id of the last answer. */
  readonly messageId: string;
  /** How much of the answer has been published. */
  readonly textLength: number;
  readonly thinkingLength: number;
  /** When each running call began. */
  readonly callStarts: ReadonlyMap<string, number>;
  /** A turn that is over: whether the run continues, or the turn is repeated, is known a little later. */
  readonly endedTurn: { readonly turnId: string; readonly hasToolCalls: boolean } | undefined;
}

export interface TranslationContext {
  newId(): string;
  /** Milliseconds that never go back. */
  now(): number;
  /** Estimates the tokens of the next request, where the provider has not counted yet. */
  inputTokens(): number;
  /** How many messages there are to send. */
  messageCount(): number;
}

export type Translated = readonly [Translation, readonly SessionEvent[]];

export const noTranslation: Translation = {
  turns: 0,
  turn: "over",
  turnId: "",
  messageId: "",
  textLength: 0,
  thinkingLength: 0,
  callStarts: new Map(),
  endedTurn: undefined,
};

const nothing: readonly SessionEvent[] = [];

export function translate(state: Translation, event: AgentEvent, context: TranslationContext): Translated {
  switch (event.type) {
    case "agent_start":
    case "agent_end":
      return [state, nothing];
    case "turn_start": {
      if (state.turn === "repeated") return [{ ...state, turn: "open", endedTurn: undefined }, nothing];
      const [before, ended] = endTurn(state, undefined);
      return [{ ...before, turn: "due" }, ended];
    }
    case "turn_end": {
      const [started, start] = startTurn(state, context);
      const endedTurn = { turnId: started.turnId, hasToolCalls: getToolCalls(event.message).length > 0 };
      return [{ ...started, endedTurn, callStarts: new Map() }, start];
    }
    case "message_start": {
      if (event.message.role !== "assistant") return [state, nothing];
      const [started, start] = startTurn(state, context);
      const [next, events] = startMessage(started, event.message, context);
      return [next, [...start, ...events]];
    }
    case "message_update":
      return updateMessage(state, event);
    case "message_end":
      return endMessage(state, event.message);
    case "tool_execution_start": {
      // A run that is resumed begins with calls.
      const [started, turnStart] = startTurn(state, context);
      const { toolCallId, toolName, args } = event;
      const callStarts = new Map(started.callStarts).set(toolCallId, context.now());
      const start = { toolCallId, toolName, input: asRecord(args), messageId: started.messageId, ...getParent(event) };
      return [{ ...started, callStarts }, [...turnStart, { type: "tool_execution_start", ...start }]];
    }
    case "tool_execution_update": {
      const { content, updateType = "partial-result", progressPercent } = event.partialResult;
      const update = { toolCallId: event.toolCallId, updateType, content: getText(content), ...getParent(event) };
      return [
        state,
        [{ type: "tool_execution_update", ...update, ...(progressPercent !== undefined && { progressPercent }) }],
      ];
    }
    case "tool_execution_end":
      return [state, [callEnd(state, event, context.now())]];
    default:
      return event satisfies never;
  }
}

/**
 * The start of a turn, if it was not published yet. It is published when the request is made, because that is when it is known how
 * many messages are sent, or when the engine has an answer without one.
 */
export function startTurn(
  state: Translation,
  { newId, messageCount }: Pick<TranslationContext, "newId" | "messageCount">,
): Translated {
  if (state.turn !== "due") return [state, nothing];
  const turnId = newId();
  const start = { type: "turn_start", turnId, turnIndex: state.turns, messageCount: messageCount() } as const;
  return [{ ...state, turn: "open", turnId, turns: state.turns + 1 }, [start]];
}

/** The answer of the last turn is asked for again: the turn continues with the next one of the engine. */
export const repeatTurn = (state: Translation): Translation => ({ ...state, turn: "repeated" });

/** The end of the last turn, if it was not published yet. `runEnd` is given when the run ends with it. */
export function endTurn(state: Translation, runEnd: RunEnd | undefined): Translated {
  const { endedTurn } = state;
  if (!endedTurn) return [state, nothing];
  const end = {
    type: "turn_end",
    ...endedTurn,
    shouldContinue: runEnd === undefined,
    ...(runEnd !== undefined && { terminationReason: toTermination(runEnd).terminationReason }),
  } as const;
  return [{ ...state, turn: "over", endedTurn: undefined }, [end]];
}

function startMessage(state: Translation, message: AssistantMessage, context: TranslationContext): Translated {
  const messageId = context.newId();
  const counted = getInput(message.usage);
  const start = {
    type: "message_start",
    messageId,
    role: "assistant",
    model: `${message.provider}/${message.model}`,
    usage: { inputTokens: counted > 0 ? counted : context.inputTokens() },
  } as const;
  return [{ ...state, messageId, textLength: 0, thinkingLength: 0 }, [start]];
}

function updateMessage(
  state: Translation,
  { assistantMessageEvent: event }: AgentEvent & { type: "message_update" },
): Translated {
  const { messageId } = state;
  switch (event.type) {
    case "text_delta": {
      const index = state.textLength;
      const next = withLengths(state, index + event.delta.length, state.thinkingLength);
      return [next, [{ type: "text_delta", messageId, delta: event.delta, index }]];
    }
    case "thinking_delta": {
      const index = state.thinkingLength;
      const next = withLengths(state, state.textLength, index + event.delta.length);
      return [next, [{ type: "thinking_delta", messageId, delta: event.delta, index }]];
    }
    case "toolcall_start":
    case "toolcall_delta": {
      const call = event.partial.content[event.contentIndex];
      if (call?.type !== "toolCall") return [state, nothing];
      const isFirst = event.type === "toolcall_start";
      const delta = isFirst ? "" : event.delta;
      const told = { type: "toolcall_delta", messageId, toolCallId: call.id, delta } as const;
      return [state, [isFirst ? { ...told, toolName: call.name } : told]];
    }
    default:
      return [state, nothing];
  }
}

/** Lists all fields, because an answer has thousands of deltas, and Node 20 takes twenty times as long to spread. */
const withLengths = (
  { turns, turn, turnId, messageId, callStarts, endedTurn }: Translation,
  textLength: number,
  thinkingLength: number,
): Translation => ({ turns, turn, turnId, messageId, textLength, thinkingLength, callStarts, endedTurn });

function endMessage(state: Translation, message: AgentMessage): Translated {
  if (message.role !== "assistant") return [state, nothing];
  const end = {
    type: "message_end",
    messageId: state.messageId,
    stopReason: wireStopReason(message),
    usage: wireUsage(message.usage),
    ...(isSilent(message) && { silent: true }),
  } as const;
  return [state, [end]];
}

const getParent = ({ parentToolCallId }: { parentToolCallId?: string }) =>
  parentToolCallId !== undefined && { parentToolCallId };

function callEnd(
  { callStarts }: Translation,
  event: AgentEvent & { type: "tool_execution_end" },
  now: number,
): SessionEvent {
  const { toolCallId, result, isError, errorCode = "tool_failed" } = event;
  const output = getText(result.content);
  return {
    type: "tool_execution_end",
    toolCallId,
    success: !isError,
    output,
    durationMs: Math.max(0, now - (callStarts.get(toolCallId) ?? now)),
    ...(isError && { error: { code: errorCode, message: output } }),
    ...getParent(event),
  };
}

/** Both sides of one table: the engine's word, and what a provider said where it says more. */
function wireStopReason({ stopReason, rawStopReason }: AssistantMessage): WireStopReason {
  switch (stopReason) {
    case "stop":
      return rawStopReason === "stop_sequence" ? "stop_sequence" : "end_turn";
    case "length":
      return "max_tokens";
    case "toolUse":
      return "tool_use";
    default:
      return stopReason;
  }
}

const getInput = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite;

const wireUsage = (usage: Usage): WireUsage => ({
  inputTokens: getInput(usage),
  outputTokens: usage.output,
  ...(usage.reasoning !== undefined && { thinkingTokens: usage.reasoning }),
  cacheReadTokens: usage.cacheRead,
  cacheWriteTokens: usage.cacheWrite,
});

export const getText = (content: readonly (TextContent | ImageContent)[]): string =>
  content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");

/**
 * How the answers of several handlers to one event become one. Pure: each function takes the event as the handlers have seen
 * it so far and the next answer, and returns what the next handler sees and what is the answer so far.
 */
import { isRecord } from "@tau/ai/internal";
import type { ExtensionEvent, ExtensionEventName, ExtensionResult } from "../api/events.ts";

interface Combination<Name extends ExtensionEventName> {
  /** The event as the next handler gets it. */
  event: ExtensionEvent<Name>;
  /** The answer so far. */
  result: CombinedResult<Name> | undefined;
  /** No further handler is asked. */
  isFinal: boolean;
}

/** The answer of all handlers together. */
export type CombinedResult<Name extends ExtensionEventName> = Name extends "before_agent_start"
  ? { messages: NonNullable<ExtensionResult<"before_agent_start">["message"]>[]; systemPrompt?: string }
  : Name extends "resources_discover"
    ? Required<ExtensionResult<"resources_discover">>
    : Name extends "before_provider_request"
      ? { payload: unknown }
      : ExtensionResult<Name>;

type Combine<Name extends ExtensionEventName> = (
  event: ExtensionEvent<Name>,
  result: CombinedResult<Name> | undefined,
  answer: ExtensionResult<Name> & object,
) => Omit<Combination<Name>, "isFinal"> & { isFinal?: boolean };

type CancellableName =
  | "session_before_switch"
  | "session_before_fork"
  | "session_before_compact"
  | "session_before_tree";

/** The last answer applies, and one that cancels ends it. */
const cancellable =
  <Name extends CancellableName>(): Combine<Name> =>
  (event, _result, answer) => ({
    event,
    result: answer as CombinedResult<Name>,
    isFinal: (answer as { cancel?: boolean }).cancel === true,
  });

/** The messages pass from handler to handler. */
const messages: Combine<"context" | "context_with_system"> = (event, result, answer) =>
  answer.messages
    ? { event: { ...event, messages: answer.messages }, result: { messages: answer.messages } }
    : { event, result };

/** Keeps the earlier value of whatever a handler leaves out. */
const boundary: Combine<"turn_end" | "agent_before_settle"> = (event, result, answer) => {
  const next = { ...result, ...pickDefined(answer, ["entries", "continue"]) };
  return { event: { ...event, ...next }, result: next };
};

const combine: { readonly [Name in ExtensionEventName]?: Combine<Name> } = {
  project_trust: (event, result, answer) =>
    answer.trusted === "undecided" ? { event, result } : { event, result: answer, isFinal: true },
  resources_discover: (event, result, { skillPaths = [], promptPaths = [], themePaths = [] }) => ({
    event,
    result: {
      skillPaths: [...(result?.skillPaths ?? []), ...skillPaths],
      promptPaths: [...(result?.promptPaths ?? []), ...promptPaths],
      themePaths: [...(result?.themePaths ?? []), ...themePaths],
    },
  }),
  session_before_switch: cancellable<"session_before_switch">(),
  session_before_fork: cancellable<"session_before_fork">(),
  session_before_compact: cancellable<"session_before_compact">(),
  session_before_tree: cancellable<"session_before_tree">(),
  context: messages as Combine<"context">,
  context_with_system: messages as Combine<"context_with_system">,
  before_agent_start: (event, result, { message, systemPrompt }) => {
    const replaced = systemPrompt === undefined ? {} : { systemPrompt };
    const collected = [...(result?.messages ?? []), ...(message ? [message] : [])];
    return { event: { ...event, ...replaced }, result: { ...result, ...replaced, messages: collected } };
  },
  agent_before_settle: boundary as Combine<"agent_before_settle">,
  turn_end: boundary as Combine<"turn_end">,
  message_end: (event, result, { message }) => {
    // Another role would make the conversation invalid.
    if (!message || message.role !== event.message.role) return { event, result };
    return { event: { ...event, message }, result: { message } };
  },
  tool_call: (event, result, answer) => (answer.block ? { event, result: answer, isFinal: true } : { event, result }),
  undo_request: (event, _result, answer) => ({ event, result: answer, isFinal: true }),
  files_changed: (event, result, { content = [] }) => ({
    event,
    result: { content: [...(result?.content ?? []), ...content] },
  }),
  tool_result: (event, result, answer) => {
    const changes = pickDefined(answer, ["content", "details", "structuredContent", "isError", "usage"]);
    // Data that belongs to other content must not stay.
    const { structuredContent: _event, ...otherEvent } = event;
    const { structuredContent: _result, ...otherResult } = result ?? {};
    const isReplaced = changes.content !== undefined;
    return {
      event: { ...(isReplaced ? otherEvent : event), ...changes },
      result: { ...(isReplaced ? otherResult : result), ...changes },
    };
  },
  user_bash: (event, _result, answer) => ({ event, result: answer, isFinal: true }),
  mention_read: (event, _result, answer) => ({ event, result: answer, isFinal: true }),
  mention_complete: (event, result, { items }) => ({ event, result: { items: [...(result?.items ?? []), ...items] } }),
  input: (event, result, answer) => {
    if (answer.action === "handled") return { event, result: answer, isFinal: true };
    if (answer.action !== "transform") return { event, result };
    const { text, images = event.images } = answer;
    const next = { text, ...(images && { images }) };
    return { event: { ...event, ...next }, result: { action: "transform", ...next } };
  },
};

/** The first handler gets `event`; what it and the following answered is combined one by one. */
export function combineResult<Name extends ExtensionEventName>(
  event: ExtensionEvent<Name>,
  result: CombinedResult<Name> | undefined,
  answer: unknown,
): Combination<Name> {
  const name: ExtensionEventName = event.type;
  // Any value can be a payload.
  if (name === "before_provider_request") {
    if (answer === undefined) return { event, result, isFinal: false };
    return {
      event: { ...event, payload: answer },
      result: { payload: answer } as CombinedResult<Name>,
      isFinal: false,
    };
  }
  const combineThis = combine[name] as Combine<Name> | undefined;
  if (!combineThis || !isRecord(answer)) return { event, result, isFinal: false };
  return { isFinal: false, ...combineThis(event, result, answer as ExtensionResult<Name> & object) };
}

function pickDefined<T extends object, Key extends keyof T>(value: T, keys: readonly Key[]): Partial<Pick<T, Key>> {
  const picked: Partial<Pick<T, Key>> = {};
  for (const key of keys) if (value[key] !== undefined) picked[key] = value[key];
  return picked;
}

/** Where each message of a transcript ends, in tokens. A turn costs what it added, not what there is. */
import type { AgentMessage } from "@tau/agent";
import { estimateTokens } from "../compaction/tokens.ts";

/** What is known of a transcript; it goes on growing with it. */
export interface Walk {
  messages: AgentMessage[];
  /** What a message had when it was measured: who changes it gives it other content. */
  contents: unknown[];
  /** Tokens up to the end of each message. */
  ends: number[];
  /** Tokens up to the end of the last answer that did not fail, as of each message. */
  answered: number[];
  /** How its beginning was sent last; undefined when that has changed. */
  sent: { boundary: number; isPruned: boolean; messages: readonly AgentMessage[] } | undefined;
}

/** By its first message, so that each session has its own, and it goes when the session goes. */
const walks = new WeakMap<AgentMessage, Walk>();

/** Undefined when there are no messages. Good until the next call for the same transcript. */
export function measure(messages: readonly AgentMessage[]): Walk | undefined {
  const first = messages[0];
  if (!first) return undefined;
  let walk = walks.get(first);
  if (!walk) walks.set(first, (walk = { messages: [], contents: [], ends: [], answered: [], sent: undefined }));
  const same = commonLength(walk, messages);
  // The first message after it is what it ends before.
  if (walk.sent && walk.sent.messages.length >= same) walk.sent = undefined;
  for (const list of [walk.messages, walk.contents, walk.ends, walk.answered]) list.length = same;
  for (let at = same; at < messages.length; at++) {
    const message = messages[at]!;
    const end = (walk.ends[at - 1] ?? 0) + toTokens(message);
    walk.messages.push(message);
    walk.contents.push(getContent(message));
    walk.ends.push(end);
    walk.answered.push(isAnswer(message) ? end : (walk.answered[at - 1] ?? 0));
  }
  return walk;
}

function commonLength(walk: Walk, messages: readonly AgentMessage[]): number {
  const most = Math.min(walk.messages.length, messages.length);
  let same = 0;
  while (same < most && messages[same] === walk.messages[same] && getContent(messages[same]!) === walk.contents[same])
    same++;
  return same;
}

/** Undefined for messages that are told to a model by other fields; those never change. */
export const getContent = (message: AgentMessage): unknown => (message as { content?: unknown }).content;

const isAnswer = (message: AgentMessage): boolean =>
  message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";

/** For messages that are met again in another list: after a compaction, or on another branch. */
const estimates = new WeakMap<AgentMessage, { content: unknown; tokens: number }>();

function toTokens(message: AgentMessage): number {
  const content = getContent(message);
  const known = estimates.get(message);
  if (known && known.content === content) return known.tokens;
  const tokens = estimateTokens(message);
  estimates.set(message, { content, tokens });
  return tokens;
}

/**
 * Transcripts whose prompt and tools are system messages among the others. tau's requests have a system prompt and tools
 * beside the messages, so these functions translate between the two.
 */
import type { Context, Message, TextContent, Tool } from "@tau/ai";
import { contentText } from "./content.ts";

export interface SystemMessage {
  role: "system";
  /** The prompt in the first message, more instructions in later ones. */
  content: string | TextContent[];
  /** Named parts after `content`. A later message replaces them by name; null removes one. */
  sections?: Record<string, string | null>;
  toolsAdded?: Tool[];
  toolsRemoved?: { name: string }[];
  timestamp: number;
}

/** Any list of messages; only those with the role `system` are read. */
export type TranscriptMessages = readonly { role: string }[];

export interface TranscriptContext {
  messages: (Message | SystemMessage)[];
}

const isSystemMessage = (message: { role: string } | undefined): message is SystemMessage => message?.role === "system";

export function createInitialSystemMessage(
  systemPrompt: string | undefined,
  tools: readonly Tool[] | undefined,
): SystemMessage | undefined {
  if (!systemPrompt && !tools?.length) return undefined;
  return {
    role: "system",
    content: systemPrompt ?? "",
    ...(tools?.length && { toolsAdded: [...tools] }),
    timestamp: Date.now(),
  };
}

/** Moves `systemPrompt` and `tools` into a first system message. */
export function normalizeContext(context: Context | TranscriptContext): TranscriptContext {
  const { systemPrompt, tools, messages } = context as Context;
  const initial = createInitialSystemMessage(systemPrompt, tools);
  return { messages: initial ? [initial, ...messages] : messages };
}

export function getInitialSystemMessage(messages: TranscriptMessages): SystemMessage | undefined {
  const first = messages[0];
  return isSystemMessage(first) ? first : undefined;
}

export const withoutInitialSystemMessage = <T extends { role: string }>(messages: T[]): T[] =>
  isSystemMessage(messages[0]) ? messages.slice(1) : messages;

/** The tools after all changes. */
export function getCurrentTools(messages: TranscriptMessages): Tool[] {
  const tools = new Map<string, Tool>();
  for (const message of messages.filter(isSystemMessage)) {
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name);
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** All system messages as one; undefined if there is none. */
export function getCurrentSystemMessage(messages: TranscriptMessages): SystemMessage | undefined {
  const all = messages.filter(isSystemMessage);
  const first = all[0];
  if (!first) return undefined;
  const sections = new Map<string, string>();
  for (const [name, text] of all.flatMap((message) => Object.entries(message.sections ?? {}))) {
    if (text === null) sections.delete(name);
    else sections.set(name, text);
  }
  const content = all.map((message) => contentText(message.content)).filter(Boolean);
  const tools = getCurrentTools(messages);
  return {
    role: "system",
    content: content.join("\n\n"),
    ...(sections.size > 0 && { sections: Object.fromEntries(sections) }),
    ...(tools.length > 0 && { toolsAdded: tools }),
    timestamp: first.timestamp,
  };
}

/** The content of a system message and its sections. */
export function getSystemMessageText(message: SystemMessage): string {
  const sections = Object.values(message.sections ?? {}).filter((text) => text !== null);
  return [contentText(message.content), ...sections].filter(Boolean).join("\n\n");
}

export function getCurrentSystemPrompt(messages: TranscriptMessages): string {
  const current = getCurrentSystemMessage(messages);
  return current ? getSystemMessageText(current) : "";
}

/** A later system message as text for the model. */
export function renderSystemMessageUpdate(message: SystemMessage): string {
  const changes = Object.entries(message.sections ?? {}).map(([name, text]) =>
    text === null
      ? `The section "${name}" of the system prompt no longer applies.`
      : `The section "${name}" of the system prompt is now:\n${text}`,
  );
  return [contentText(message.content), ...changes].filter(Boolean).join("\n\n");
}

/** Leaves one system message, the first. */
export function collapseSystemMessages(context: TranscriptContext): TranscriptContext {
  const current = getCurrentSystemMessage(context.messages);
  const others = context.messages.filter((message) => !isSystemMessage(message));
  return { ...context, messages: current ? [current, ...others] : others };
}

export const resolveTranscript = (
  context: TranscriptContext,
  acceptsLaterSystemMessages: boolean | undefined,
): TranscriptContext => (acceptsLaterSystemMessages ? context : collapseSystemMessages(context));

/** The request that tau sends for a transcript. */
export function toContext(context: Context | TranscriptContext): Context {
  const { messages, systemPrompt, tools } = context as Context;
  const others = messages.filter((message) => !isSystemMessage(message));
  if (others.length === messages.length) return context as Context;
  const prompt = getCurrentSystemPrompt(messages);
  const declared = getCurrentTools(messages);
  const own = prompt || systemPrompt;
  const all = declared.length > 0 ? declared : tools;
  return { messages: others, ...(own && { systemPrompt: own }), ...(all && { tools: all }) };
}

/** Gives a provider of an extension both the first system message and the fields of tau's requests. */
export function toProviderContext(context: Context): Context {
  return getInitialSystemMessage(context.messages)
    ? context
    : ({ ...context, ...normalizeContext(context) } as Context);
}

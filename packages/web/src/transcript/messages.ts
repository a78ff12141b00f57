/** The kinds of messages that a log has. */
import type { SessionEntry } from "@tau/protocol";

type Entry<Type extends SessionEntry["type"]> = Extract<SessionEntry, { type: Type }>;
export type SessionMessage = Entry<"message">["message"];
export type MessageOf<Role extends SessionMessage["role"]> = Extract<SessionMessage, { role: Role }>;
export type AssistantMessage = MessageOf<"assistant">;
export type ToolResultMessage = MessageOf<"toolResult">;
export type ToolCall = Extract<AssistantMessage["content"][number], { type: "toolCall" }>;
export type Content = MessageOf<"user">["content"];

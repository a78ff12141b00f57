/** Reads whole texts of messages in the log. Pure. */
import type { SessionEntry } from "../entry.ts";

type Block = { readonly type: string; readonly text?: string };

/** Joins the texts of a message's content, without its images, thinking and tool calls. */
export const joinTexts = (content: string | readonly Block[]): string =>
  typeof content === "string"
    ? content
    : content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? text : [])).join("\n");

/** Joins what follows the first text of a result: problems of a file that was changed, for example, which its diff does not show. */
export const getAddedText = (content: string | readonly Block[]): string =>
  typeof content === "string" ? "" : joinTexts(content.filter(({ type }) => type === "text").slice(1));

/** The whole text of an answer; empty for any other entry. */
export const getAnswerText = (entry: SessionEntry): string =>
  entry.type === "message" && entry.message.role === "assistant" ? joinTexts(entry.message.content) : "";

/** The whole text of the last answer that has one; undefined if there is none. */
export const findLastAnswerText = (entries: readonly SessionEntry[]): string | undefined =>
  entries.map(getAnswerText).findLast((answer) => answer.trim() !== "");

/** The whole text of a user message; undefined for any other entry. */
export const getUserText = (entry: SessionEntry): string | undefined =>
  entry.type === "message" && entry.message.role === "user" ? joinTexts(entry.message.content) : undefined;

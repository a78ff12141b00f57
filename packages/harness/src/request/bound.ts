/** Limits the results of all tools to what a request can carry. */
import type { AgentMessage } from "@tau/agent";
import type { Model } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import { getContextWindow } from "../compaction/settings.ts";
import { charactersPerToken } from "../compaction/text.ts";
import { cutText, fits, getTextLength, type ResultContent, withoutExcessImages } from "./bound-content.ts";

const shareOfWindow = 1 / 8;
const minCharacters = 8_000;
const maxCharacters = 400_000;

/** The limit for the text of one result: an eighth of the window, from 8,000 to 400,000 characters. */
export function maxResultCharacters(model: Pick<Model, "contextWindow">): number {
  const share = Math.floor(getContextWindow(model) * shareOfWindow * charactersPerToken);
  return Math.min(maxCharacters, Math.max(minCharacters, share));
}

interface BoundOptions {
  /** The limit for the text of all blocks together. */
  maxCharacters: number;
  /** Saves the whole text and returns its path. If it returns undefined or rejects, what is left out is lost. */
  save: (text: string) => Promise<string | undefined>;
}

/**
 * Returns what a request carries of a result, or undefined for all of it: the beginning and the end of its text, with
 * a note between them that says where the whole text is. Images that cannot be sent are replaced by a note.
 */
export async function boundResult(
  result: { content: ResultContent },
  { maxCharacters, save }: BoundOptions,
): Promise<ResultContent | undefined> {
  const content = toContent(result.content);
  if (fits(content, maxCharacters)) return undefined;
  // If only the images are too much, there is no text to save.
  const locationNote = getTextLength(content) <= maxCharacters ? "" : await saveText(save, joinTextBlocks(content));
  return boundContent(content, maxCharacters, locationNote);
}

/** `locationNote` says where the whole text is. */
function boundContent(content: ResultContent, maxCharacters: number, locationNote: string): ResultContent {
  const sendable = withoutExcessImages(content);
  if (getTextLength(sendable) <= maxCharacters) return sendable;
  return cutText(sendable, maxCharacters, (missing) => formatNote(missing, locationNote));
}

async function saveText(save: BoundOptions["save"], text: string): Promise<string> {
  try {
    const path = await save(text);
    return path === undefined ? lostText : `All of it is in ${path}`;
  } catch {
    // A result that cannot be saved is still a result.
    return lostText;
  }
}

const lostText = "They could not be saved and are lost.";
const formatNote = (missing: number, locationNote: string) =>
  `[${missing.toLocaleString("en-US")} characters were left out here.${locationNote && ` ${locationNote}`}]`;
const earlierNote = /^\[[\d,]+ characters were left out here\. (All of it is in .+)\]$/m;

/**
 * Applies the limit to the results of a transcript: some come from old logs, other programs or refusals, or from a larger
 * model. Nothing is saved, but the note of a result that was cut before is kept. Returns the same array if nothing is cut,
 * and always the same object for the same message.
 */
export function boundMessages(messages: readonly AgentMessage[], maxCharacters: number): readonly AgentMessage[] {
  let bounded: AgentMessage[] | undefined;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    if (message.role !== "toolResult" || fits(toContent(message.content), maxCharacters)) continue;
    bounded ??= [...messages];
    bounded[index] = boundMessage(message, maxCharacters);
  }
  return bounded ?? messages;
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

const knownResults = new WeakMap<ToolResult, { content: unknown; maxCharacters: number; bounded: ToolResult }>();

function boundMessage(message: ToolResult, maxCharacters: number): ToolResult {
  const known = knownResults.get(message);
  if (known?.maxCharacters === maxCharacters && known.content === message.content) return known.bounded;
  const content = toContent(message.content);
  const locationNote = earlierNote.exec(joinTextBlocks(content))?.[1] ?? "";
  const bounded = { ...message, content: boundContent(content, maxCharacters, locationNote) };
  knownResults.set(message, { content: message.content, maxCharacters, bounded });
  return bounded;
}

/** Content of custom tools and logs is not validated. */
function toContent(content: unknown): ResultContent {
  if (Array.isArray(content)) return content as ResultContent;
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

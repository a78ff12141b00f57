/** No result of a tool is longer than a request can carry, whoever wrote the tool. */
import type { AgentMessage } from "@tau/agent";
import type { Model } from "@tau/ai";
import { charactersPerToken } from "../compaction/text.ts";
import { cutText, fits, type ResultContent, textLength, getText, withoutExcessImages } from "./bound-content.ts";

export { createKeeper, type KeeperOptions } from "./bound-keep.ts";

const shareOfWindow = 1 / 8;
const minCharacters = 8_000;
const maxCharacters = 400_000;
/** Tokens, for a model that does not say how large its window is. */
const unknownWindow = 128_000;

/** How much text one result may have: an eighth of the window, but 8,000 characters at least and 400,000 at most. */
export function maxResultCharacters({ contextWindow }: Pick<Model, "contextWindow">): number {
  const window = contextWindow > 0 ? contextWindow : unknownWindow;
  const share = Math.floor(window * shareOfWindow * charactersPerToken);
  return Math.min(maxCharacters, Math.max(minCharacters, share));
}

export interface BoundOptions {
  /** Characters of text, all blocks together. */
  most: number;
  /**
   * Writes the whole text to a file and says where it is. Undefined, or a rejection: it could not, and what is not
   * shown is lost.
   */
  keep: (text: string) => Promise<string | undefined>;
}

/**
 * What a request carries of a result; undefined when that is all of it. Otherwise the beginning and the end of its
 * text, and between them how much is missing and where the whole is. Images that cannot be sent become a sentence.
 */
export async function boundResult(
  result: { content: ResultContent },
  { most, keep }: BoundOptions,
): Promise<ResultContent | undefined> {
  const content = getContent(result.content);
  if (fits(content, most)) return undefined;
  const sendable = withoutExcessImages(content);
  if (textLength(sendable) <= most) return sendable;
  // Of sentences about images there is nothing to keep.
  const rest = textLength(content) <= most ? "" : await keepWhole(keep, getText(content));
  return cutText(sendable, most, (missing) => leftOut(missing, rest));
}

async function keepWhole(keep: BoundOptions["keep"], text: string): Promise<string> {
  try {
    const path = await keep(text);
    return path === undefined ? lostRest : `All of it is in ${path}`;
  } catch {
    // A result that cannot be kept is still a result.
    return lostRest;
  }
}

const lostRest = "They could not be kept and are lost.";
const leftOut = (missing: number, rest: string) =>
  `[${missing.toLocaleString("en-US")} characters were left out here.${rest && ` ${rest}`}]`;
const earlierNote = /^\[[\d,]+ characters were left out here\. (All of it is in .+)\]$/m;

/**
 * The same at send time, for results that are too long all the same: of old logs or other programs, refusals, or of a
 * session that went on with a smaller model. Nothing is written; a result that was cut before still says where its
 * whole is. The same array when there is nothing to cut, and the same message each time when there is.
 */
export function boundMessages(messages: readonly AgentMessage[], most: number): readonly AgentMessage[] {
  let bounded: AgentMessage[] | undefined;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!;
    // Lengths are known without looking at the text, so asking a message again costs no more than remembering it.
    if (message.role !== "toolResult" || fits(getContent(message.content), most)) continue;
    bounded ??= [...messages];
    bounded[at] = boundMessage(message, most);
  }
  return bounded ?? messages;
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

/** What was cut, so that a long result is cut once and not in each turn. */
const cuts = new WeakMap<ToolResult, { content: unknown; most: number; message: ToolResult }>();

function boundMessage(message: ToolResult, most: number): ToolResult {
  const known = cuts.get(message);
  if (known?.most === most && known.content === message.content) return known.message;
  const bounded = { ...message, content: boundContent(getContent(message.content), most) };
  cuts.set(message, { content: message.content, most, message: bounded });
  return bounded;
}

function boundContent(content: ResultContent, most: number): ResultContent {
  const sendable = withoutExcessImages(content);
  if (textLength(sendable) <= most) return sendable;
  const rest = earlierNote.exec(getText(sendable))?.[1] ?? "";
  return cutText(sendable, most, (missing) => leftOut(missing, rest));
}

/** Tools and logs of others are not checked: content may be a text, or nothing. */
function getContent(content: unknown): ResultContent {
  if (Array.isArray(content)) return content as ResultContent;
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

/**
 * When a provider refuses a request and names the one block or tool it does not like, that part is given up: an image
 * becomes a note, thinking and tools are left out. The history stays as it is; only this request changes. Pure.
 */
import { isRecord } from "../is-record.ts";

/** What may be given up. */
export type DegradedKind = "image" | "thinking" | "tool";

export interface Degraded {
  payload: Record<string, unknown>;
  kind: DegradedKind;
  /** Where the part stood, as the provider wrote it. */
  path: string;
  /** What became of it, for a person. */
  what: string;
}

/** `messages.3.content.1.image`, `input[3].content[1]`, `contents[2].parts[0].inline_data`, `tools[0].function…`. */
const pathPattern = /\b(?:messages|input|contents|tools|toolConfig)(?:\[\d+\]|\.[A-Za-z_]\w*|\.\d+)+/;

/**
 * Gives up what the complaint names. Where `takesAll` says so for its kind, everything of that kind goes: a history with
 * one stale signature often has many, and each would cost a request of its own.
 */
export function degrade(
  payload: Record<string, unknown>,
  complaint: string,
  takesAll: (kind: DegradedKind) => boolean = () => false,
): Degraded | undefined {
  const path = pathPattern.exec(complaint)?.[0];
  if (!path) return undefined;
  const copy = structuredClone(payload);
  const place = findPlace(copy, path.split(/[.[\]]+/).filter(Boolean));
  const kind = place && getKind(place);
  if (!place || !kind) return undefined;
  if (kind === "tool") dropTool(copy, place);
  else if (takesAll(kind)) giveUpAll(copy, kind);
  else giveUp(place.list, place.index, kind);
  return {
    payload: copy,
    kind,
    path,
    what: takesAll(kind) && kind !== "tool" ? `all ${described[kind]}` : described[kind],
  };
}

const described: Record<DegradedKind, string> = {
  image: "images were left out",
  thinking: "thinking was left out",
  tool: "a tool was left out",
};

/** An element of a list inside the payload. */
interface BlockPath {
  list: unknown[];
  index: number;
  /** The property that holds the list: `content`, `parts`, `tools`, … */
  holder: string;
}

/** The deepest list element on the way; names in prose may be in snake case where the payload's are in camel case. */
function findPlace(payload: Record<string, unknown>, segments: string[]): BlockPath | undefined {
  let current: unknown = payload;
  let holder = "";
  let place: BlockPath | undefined;
  for (const segment of segments) {
    if (Array.isArray(current)) {
      const index = Number(segment);
      if (!Number.isInteger(index) || index >= current.length) break;
      place = { list: current, index, holder };
      current = current[index];
      continue;
    }
    if (typeof current !== "object" || current === null) break;
    const named = current as Record<string, unknown>;
    const key = [segment, camelCase(segment)].find((name) => Object.hasOwn(named, name));
    // A path may name a block's kind on the way, as in `content.0.tool_result.content.1`.
    if (key === undefined) continue;
    holder = key;
    current = named[key];
  }
  return place;
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

function getKind({ list, index, holder }: BlockPath): DegradedKind | undefined {
  if (holder === "tools" || holder === "functionDeclarations") return "tool";
  const block = list[index];
  if (!isRecord(block)) return undefined;
  return isImage(block) ? "image" : isThinking(block) ? "thinking" : undefined;
}

const isImage = (block: Record<string, unknown>) =>
  block["type"] === "image" ||
  block["type"] === "image_url" ||
  block["type"] === "input_image" ||
  isRecord(block["inlineData"]) ||
  isRecord(block["image"]);

const isThinking = (block: Record<string, unknown>) =>
  block["type"] === "thinking" ||
  block["type"] === "redacted_thinking" ||
  block["type"] === "reasoning" ||
  "reasoningContent" in block ||
  block["thought"] === true;

/** The last tool goes together with what demands one. */
function dropTool(payload: Record<string, unknown>, { list, index }: BlockPath): void {
  list.splice(index, 1);
  if (list.length > 0) return;
  for (const field of ["tools", "tool_choice", "toolConfig"]) delete payload[field];
}

function giveUp(list: unknown[], index: number, kind: "image" | "thinking"): void {
  const block = list[index] as Record<string, unknown>;
  if (kind === "image") list[index] = textLike(block, "[An image was left out: the provider could not read it.]");
  // A message without content may be refused as well, so the only block leaves a word behind.
  else if (list.length > 1) list.splice(index, 1);
  else list[index] = textLike(block, "(Thinking was left out.)");
}

/** A text in the words of the API that the block is in. */
function textLike({ type }: Record<string, unknown>, text: string): Record<string, unknown> {
  if (typeof type !== "string") return { text };
  return { type: type === "input_image" ? "input_text" : "text", text };
}

function giveUpAll(value: unknown, kind: "image" | "thinking"): void {
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      const block: unknown = value[index];
      if (isRecord(block) && (kind === "image" ? isImage(block) : isThinking(block))) giveUp(value, index, kind);
      else giveUpAll(block, kind);
    }
  } else if (isRecord(value)) for (const inner of Object.values(value)) giveUpAll(inner, kind);
}

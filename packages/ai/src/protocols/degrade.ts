/**
 * If a provider rejects a request because of one block or tool, that part is removed from the request: an image becomes
 * a note, thinking and tools are left out. The stored history does not change. Pure.
 */
import { isRecord } from "../json.ts";

/** The kinds of content that can be removed. */
export type DegradedKind = "image" | "thinking" | "tool";

interface Degraded {
  payload: Record<string, unknown>;
  kind: DegradedKind;
  /** The path of the rejected part, as the provider wrote it. */
  path: string;
  /** Says what was removed, for a diagnostic. */
  description: string;
}

/** `messages.3.content.1.image`, `input[3].content[1]`, `contents[2].parts[0].inline_data`, `tools[0].function…`. */
const pathPattern = /\b(?:messages|input|contents|tools|toolConfig)(?:\[\d+\]|\.[A-Za-z_]\w*|\.\d+)+/;

/**
 * Removes the part whose path is in the error message; undefined if there is none that can be removed. If
 * `removesAll(kind)` is true, removes all blocks of that kind: a history with one stale signature often has many, and
 * each would cost a request.
 */
export function degrade(
  payload: Record<string, unknown>,
  errorMessage: string,
  removesAll: (kind: DegradedKind) => boolean = () => false,
): Degraded | undefined {
  const path = pathPattern.exec(errorMessage)?.[0];
  if (!path) return undefined;
  const copy = structuredClone(payload);
  const block = findBlock(copy, path.split(/[.[\]]+/).filter(Boolean));
  const kind = block && getKind(block);
  if (!block || !kind) return undefined;
  if (kind === "tool") removeTool(copy, block);
  else if (removesAll(kind)) removeAll(copy, kind);
  else removeBlock(block.list, block.index, kind);
  return {
    payload: copy,
    kind,
    path,
    description: removesAll(kind) && kind !== "tool" ? `all ${descriptions[kind]}` : descriptions[kind],
  };
}

const descriptions: Record<DegradedKind, string> = {
  image: "images were left out",
  thinking: "thinking was left out",
  tool: "a tool was left out",
};

/** An element of a list in the payload. */
interface BlockPath {
  list: unknown[];
  index: number;
  /** The property that holds the list: `content`, `parts`, `tools`, … */
  holder: string;
}

/** The deepest list element on the path. The path may use snake case where the payload uses camel case. */
function findBlock(payload: Record<string, unknown>, segments: string[]): BlockPath | undefined {
  let current: unknown = payload;
  let holder = "";
  let block: BlockPath | undefined;
  for (const segment of segments) {
    if (Array.isArray(current)) {
      const index = Number(segment);
      if (!Number.isInteger(index) || index >= current.length) break;
      block = { list: current, index, holder };
      current = current[index];
      continue;
    }
    if (!isRecord(current)) break;
    const fields = current;
    const key = [segment, toCamelCase(segment)].find((name) => Object.hasOwn(fields, name));
    // A path may contain the type of a block, as in `content.0.tool_result.content.1`.
    if (key === undefined) continue;
    holder = key;
    current = fields[key];
  }
  return block;
}

const toCamelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

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

/** With the last tool, the tool choice is removed too. */
function removeTool(payload: Record<string, unknown>, { list, index }: BlockPath): void {
  list.splice(index, 1);
  if (list.length > 0) return;
  for (const field of ["tools", "tool_choice", "toolConfig"]) delete payload[field];
}

function removeBlock(list: unknown[], index: number, kind: "image" | "thinking"): void {
  const block = list[index] as Record<string, unknown>;
  if (kind === "image") list[index] = createText(block, "[An image was left out: the provider could not read it.]");
  // A message without content may be rejected too, so its only block is replaced by text.
  else if (list.length > 1) list.splice(index, 1);
  else list[index] = createText(block, "(Thinking was left out.)");
}

/** A text block in the format of the API that `block` belongs to. */
function createText({ type }: Record<string, unknown>, text: string): Record<string, unknown> {
  if (typeof type !== "string") return { text };
  return { type: type === "input_image" ? "input_text" : "text", text };
}

function removeAll(value: unknown, kind: "image" | "thinking"): void {
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      const block: unknown = value[index];
      if (isRecord(block) && (kind === "image" ? isImage(block) : isThinking(block))) removeBlock(value, index, kind);
      else removeAll(block, kind);
    }
  } else if (isRecord(value)) for (const inner of Object.values(value)) removeAll(inner, kind);
}

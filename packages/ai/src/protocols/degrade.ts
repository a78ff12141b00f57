/**
 * When a provider refuses a request and names the one block or tool it does not like, that part alone is given up: an
 * image becomes a note, thinking and tools are left out. The history stays as it is; only this request changes. Pure.
 */

export interface Degraded {
  payload: Record<string, unknown>;
  /** Where the part stood, as the provider wrote it. */
  path: string;
  /** What became of it, for a person. */
  what: string;
}

/** `messages.3.content.1.image`, `input[3].content[1]`, `contents[2].parts[0].inline_data`, `tools[0].function…`. */
const pathPattern = /\b(?:messages|input|contents|tools|toolConfig)(?:\[\d+\]|\.[A-Za-z_]\w*|\.\d+)+/;

export function degrade(payload: Record<string, unknown>, complaint: string): Degraded | undefined {
  const path = pathPattern.exec(complaint)?.[0];
  if (!path) return undefined;
  const copy = structuredClone(payload);
  const place = findPlace(copy, path.split(/[.[\]]+/).filter(Boolean));
  if (!place) return undefined;
  const what = replace(place);
  return what === undefined ? undefined : { payload: copy, path, what };
}

/** An element of a list inside the payload. */
interface Place {
  list: unknown[];
  index: number;
  /** The property that holds the list: `content`, `parts`, `tools`, … */
  holder: string;
}

/** The deepest list element on the way; names in prose may be in snake case where the payload's are in camel case. */
function findPlace(payload: Record<string, unknown>, segments: string[]): Place | undefined {
  let current: unknown = payload;
  let holder = "";
  let place: Place | undefined;
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

const note = "[An image was left out: the provider could not read it.]";

/** Gives up what stands there, and says what was done; undefined when it may not be given up. */
function replace({ list, index, holder }: Place): string | undefined {
  const block = list[index];
  if (typeof block !== "object" || block === null) return undefined;
  const fields = block as Record<string, unknown>;
  if (holder === "tools" || holder === "functionDeclarations") {
    // The last tool is not dropped: a list that is empty may be refused as well, and nothing would be left to call.
    if (list.length < 2) return undefined;
    list.splice(index, 1);
    return "a tool was left out";
  }
  const image = imageNotes.find(({ is }) => is(fields));
  if (image) {
    list[index] = image.note;
    return "an image was left out";
  }
  if (isThinking(fields) && list.length > 1) {
    list.splice(index, 1);
    return "a block of thinking was left out";
  }
  return undefined;
}

/** How each API writes an image, and a text in its place. */
const imageNotes: { is: (block: Record<string, unknown>) => boolean; note: Record<string, unknown> }[] = [
  { is: ({ type }) => type === "image" || type === "image_url", note: { type: "text", text: note } },
  { is: ({ type }) => type === "input_image", note: { type: "input_text", text: note } },
  { is: (block) => "inlineData" in block || "image" in block, note: { text: note } },
];

const isThinking = (block: Record<string, unknown>) =>
  block["type"] === "thinking" ||
  block["type"] === "redacted_thinking" ||
  block["type"] === "reasoning" ||
  "reasoningContent" in block ||
  block["thought"] === true;

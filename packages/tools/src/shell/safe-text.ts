/**
 * Turns the output of a program into text that is safe to show: valid UTF-8, no escape sequences, no control characters
 * but tab and line feed, nothing that changes the direction of reading. Streaming, and the same however the bytes are
 * split. From bytes to bytes: plain text, which is nearly everything, is not even copied.
 */
import { isPlainWord, toWords } from "./words.ts";

interface SafeText {
  /** The result is the memory of `bytes` if nothing had to change. */
  push(bytes: Uint8Array): Buffer;
  /** Returns the rest: a code point that never became whole. */
  end(): Buffer;
}

export function createSafeText(): SafeText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Whether the decoder may hold the beginning of a code point. */
  let isInside = false;
  let state: State = "text";
  const toSafe = (text: string): Buffer => {
    let safe = "";
    /** Where plain characters begin that are not in `safe` yet. */
    let start = 0;
    for (let index = 0; index < text.length;) {
      const code = text.codePointAt(index)!;
      const end = index + (code > 0xffff ? 2 : 1);
      if (state !== "text" || !isPlain(code)) {
        safe += text.slice(start, index);
        start = end;
        const following = state === "text" ? "again" : next(state, code);
        state = following === "again" ? getStart(code) : following;
        if (following === "again") safe += state === "return" ? "\n" : state === "text" ? getReplacement(code) : "";
      }
      index = end;
    }
    return Buffer.from(safe + text.slice(start));
  };
  return {
    push(bytes) {
      if (state === "text" && !isInside && skipPlain(bytes) === bytes.length)
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      isInside = endsInside(bytes, isInside);
      return toSafe(decoder.decode(bytes, { stream: true }));
    },
    end() {
      isInside = false;
      return toSafe(decoder.decode());
    },
  };
}

/** Whether bytes may end inside a code point. `wasInside`: whether those before them did. */
function endsInside(bytes: Uint8Array, wasInside: boolean): boolean {
  for (let width = 1; width <= Math.min(3, bytes.length); width++) {
    const byte = bytes[bytes.length - width]!;
    if (byte < 0x80) return false;
    if (byte >= 0xc0) return width < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
  }
  return bytes.length < 3 && wasInside;
}

type State =
  | "text"
  /** After a carriage return, which has become a line feed: one that follows is the same line's end. */
  | "return"
  | "escape"
  /** An escape with intermediate bytes, such as the choice of a character set. */
  | "intermediate"
  | "csi"
  /** OSC, DCS, SOS, PM, APC: everything up to their end. */
  | "string"
  | "string-escape";

/** The next state inside a sequence; `again` when the character is not part of it and has to be handled as text. */
function next(state: Exclude<State, "text">, code: number): State | "again" {
  switch (state) {
    case "return":
      return code === 0x0d ? "return" : code === lineFeed ? "text" : "again";
    case "escape":
      return afterEscape(code);
    case "intermediate":
      if (code >= 0x20 && code <= 0x2f) return state;
      return code >= 0x30 && code <= 0x7e ? "text" : "again";
    case "csi":
      if (code >= 0x20 && code <= 0x3f) return state;
      return code >= 0x40 && code <= 0x7e ? "text" : "again";
    case "string":
      if (code === 0x1b) return "string-escape";
      // A line feed ends it too: one that is never closed must not hide the rest of the output.
      if (code === lineFeed || code === 0x0d) return "again";
      return code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a ? "text" : "string";
    case "string-escape":
      return code === 0x5c ? "text" : afterEscape(code);
  }
}

function afterEscape(code: number): State | "again" {
  if (code === 0x5b) return "csi";
  if (isStringStart(code + 0x40)) return "string";
  if (code >= 0x20 && code <= 0x2f) return "intermediate";
  return code >= 0x30 && code <= 0x7e ? "text" : "again";
}

/** The state that a character begins that is not plain; `text` when it begins no sequence. */
function getStart(code: number): State {
  if (code === 0x0d) return "return";
  if (code === 0x1b) return "escape";
  if (code === 0x9b) return "csi";
  return isStringStart(code) ? "string" : "text";
}

const lineFeed = 0x0a;

/** DCS, SOS, OSC, PM, APC as one character. */
const isStringStart = (code: number) =>
  code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;

function isPlain(code: number): boolean {
  if (code < 0x7f) return code >= 0x20 || code === lineFeed || code === 0x09;
  if (code < 0xa0) return false;
  return !changesDirection(code) && !isTag(code);
}

/** Characters that change the direction of reading. */
const changesDirection = (code: number) =>
  code === 0x061c ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

/** Invisible text. */
const isTag = (code: number) => code >= 0xe0000 && code <= 0xe007f;

/** Where plain text ends: at the first byte that is changed, left out, or not followed by the rest of its code point. */
function skipPlain(bytes: Uint8Array): number {
  const words = toWords(bytes);
  let index = 0;
  for (;;) {
    if (index % 4 === 0) {
      let word = index / 4;
      while (word < words.length && isPlainWord(words[word]!)) word++;
      index = Math.max(index, word * 4);
    }
    if (index >= bytes.length) return index;
    const width = isPlainByte[bytes[index]!] ? 1 : getPlainWidth(bytes, index);
    if (width === 0) return index;
    index += width;
  }
}

/** How many bytes a plain character of several bytes has; 0 for any other, and for rare ones that need a closer look. */
function getPlainWidth(bytes: Uint8Array, index: number): number {
  const first = bytes[index]!;
  const second = bytes[index + 1];
  if (first < 0xc2 || first > 0xf2 || !isContinuation(second)) return 0;
  if (first < 0xe0) return isPlain(((first & 0x1f) << 6) | (second & 0x3f)) ? 2 : 0;
  const third = bytes[index + 2];
  if (!isContinuation(third)) return 0;
  if (first < 0xf0) {
    // The others may be longer than they have to be, or half of a surrogate pair.
    if (first === 0xe0 || first === 0xed) return 0;
    return isPlain(((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f)) ? 3 : 0;
  }
  return (first > 0xf0 || second >= 0x90) && isContinuation(bytes[index + 3]) ? 4 : 0;
}

const isContinuation = (byte: number | undefined): byte is number => byte !== undefined && (byte & 0xc0) === 0x80;

const isPlainByte = Array.from({ length: 256 }, (_unused, byte) => byte < 0x80 && isPlain(byte));

/** The text that is shown for a character: itself, or another one if it must not be shown. */
function getReplacement(code: number): string {
  if (isPlain(code)) return String.fromCodePoint(code);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code < 0xa0) return "\ufffd";
  return isTag(code) ? "" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/**
 * Turns the output of a program into text that is safe to show: valid UTF-8, no escape sequences, no control characters
 * but tab and line feed, nothing that changes the direction of reading. Streaming, and the same however the bytes are
 * split. From bytes to bytes, because a string for every chunk would cost much memory.
 */

import { canBegin, createDecoder, encode } from "./utf8.ts";
import { isPlainWord, toWords } from "./words.ts";

export interface SafeText {
  /** The result is valid until the next call, and while `bytes` are: it is the same memory if nothing had to change. */
  push(bytes: Uint8Array): Buffer;
  /** What is left: a code point that never became whole. */
  end(): Buffer;
}

export function createSafeText(): SafeText {
  let state: State = "text";
  let output = Buffer.alloc(0);
  let length = 0;
  const take = (code: number) => {
    if (state !== "text") {
      const following = next(state, code);
      state = following === "again" ? "text" : following;
      if (following !== "again") return;
    }
    if (isPlain(code)) {
      length = encode(code, output, length);
      return;
    }
    state = getStart(code);
    if (state === "return") length = encode(lineFeed, output, length);
    else if (state === "text") length = writeReplacement(code, output, length);
  };
  const decoder = createDecoder(take);
  const isPlainNext = () => state === "text" && decoder.isBetween;
  const copy = (bytes: Uint8Array, from: number, to: number) => {
    output.set(bytes.subarray(from, to), length);
    length += to - from;
  };
  /** Writes bytes that begin no sequence, one for one. Returns where they end. */
  const writeSingle = (bytes: Uint8Array, from: number) => {
    let index = from;
    for (; index < bytes.length; index++) {
      const kind = kinds[bytes[index]!];
      if (kind === pictured) length = writeReplacement(bytes[index]!, output, length);
      else if (kind === stray) length = encode(0xfffd, output, length);
      else break;
    }
    return index;
  };
  return {
    push(bytes) {
      // Nearly everything is plain text, which is not even copied.
      const first = isPlainNext() ? skipPlain(bytes, 0) : 0;
      if (first === bytes.length) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const needed = bytes.length * maxGrowth + reserveBytes;
      if (output.length < needed) output = Buffer.allocUnsafeSlow(needed);
      length = 0;
      copy(bytes, 0, first);
      for (let index = first; index < bytes.length;) {
        if (isPlainNext()) {
          const end = skipPlain(bytes, index);
          if (end > index) copy(bytes, index, end);
          index = writeSingle(bytes, end);
          if (end < index || index === bytes.length) continue;
        }
        decoder.push(bytes[index++]!);
      }
      return output.subarray(0, length);
    },
    end() {
      output = Buffer.allocUnsafeSlow(reserveBytes);
      length = 0;
      decoder.end();
      return output.subarray(0, length);
    },
  };
}

/** Two bytes can become `<U+061C>`, which has eight; the rest of an earlier chunk needs a little more. */
const maxGrowth = 4;
const reserveBytes = 16;

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
function skipPlain(bytes: Uint8Array, from: number): number {
  const words = toWords(bytes);
  let index = from;
  for (;;) {
    if (index % 4 === 0) {
      let word = index / 4;
      while (word < words.length && isPlainWord(words[word]!)) word++;
      index = Math.max(index, word * 4);
    }
    if (index >= bytes.length) return index;
    const width = kinds[bytes[index]!] === plain ? 1 : getPlainWidth(bytes, index);
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

/** What a single byte tells. */
const [unknown, plain, pictured, stray] = [0, 1, 2, 3];
const kinds = Uint8Array.from({ length: 256 }, (_unused, byte) => {
  if (byte >= 0x80) return canBegin(byte) ? unknown : stray;
  return isPlain(byte) ? plain : getStart(byte) === "text" ? pictured : unknown;
});

/** Writes the replacement of a character that must not be shown, and returns where the next one goes. */
function writeReplacement(code: number, into: Uint8Array, index: number): number {
  if (code < 0x20) return encode(0x2400 + code, into, index);
  if (code === 0x7f) return encode(0x2421, into, index);
  if (code < 0xa0) return encode(0xfffd, into, index);
  if (isTag(code)) return index;
  for (const character of `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`)
    into[index++] = character.charCodeAt(0);
  return index;
}

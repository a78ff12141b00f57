/**
 * Makes the bytes of a program safe to show: valid UTF-8, no escape sequences, no control characters but tab and line
 * feed, nothing that changes the direction of reading. Streaming: the result does not depend on how the bytes are cut.
 */

export interface SafeText {
  /** The result is valid until the next call. */
  push(bytes: Uint8Array): Buffer;
  /** Returns the rest: U+FFFD for a code point that is incomplete. */
  end(): Buffer;
}

export function createSafeText(): SafeText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const clean = createCleaner();
  let buffer = Buffer.alloc(0);
  /** Into the same memory each time: a buffer for each chunk would wait for the garbage collector. */
  const encode = (text: string): Buffer => {
    const maxBytes = text.length * 3;
    if (buffer.length < maxBytes) buffer = Buffer.allocUnsafeSlow(maxBytes);
    return buffer.subarray(0, buffer.write(text));
  };
  return {
    push: (bytes) => encode(clean(decoder.decode(bytes, { stream: true }))),
    end: () => encode(clean(decoder.decode())),
  };
}

/** Characters that begin a sequence: a carriage return with its line feed, or an escape sequence. */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const sequenceStart = /[\r\x1b\x90\x98\x9b\x9d-\x9f]/g;

/** Runs of one other character that is not shown as it is. The decoder gives no half of a pair: pairs match as a whole. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  /([\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f])\1*/g;

function createCleaner(): (text: string) => string {
  let state: State = "text";
  return (text) => {
    let cleaned = "";
    for (let index = 0; index < text.length;) {
      if (state === "text") {
        sequenceStart.lastIndex = index;
        const end = sequenceStart.exec(text)?.index ?? text.length;
        cleaned += text.slice(index, end).replaceAll(hidden, replaceRun);
        if (end === text.length) break;
        state = getStart(text.charCodeAt(end));
        if (state === "return") cleaned += "\n";
        index = end + 1;
      } else {
        const following = next(state, text.charCodeAt(index));
        // A character that is not part of the sequence is looked at once more, as text.
        state = following === "again" ? "text" : following;
        if (following !== "again") index++;
      }
    }
    return cleaned;
  };
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

/** The state after a character of a sequence; `again` when the character is not part of it. */
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

/** The state that a character of `sequenceStart` leads to. */
function getStart(code: number): State {
  if (code === 0x0d) return "return";
  if (code === 0x1b) return "escape";
  return code === 0x9b ? "csi" : "string";
}

const lineFeed = 0x0a;

/** DCS, SOS, OSC, PM, APC as one character. */
const isStringStart = (code: number) =>
  code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;

const replaceRun = (run: string, character: string): string =>
  getStandIn(character).repeat(run.length / character.length);

/** What is shown instead of a hidden character. */
function getStandIn(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code < 0xa0) return "\ufffd";
  // Tags are invisible text.
  if (code > 0xffff) return "";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/**
 * Bytes of a program made into text that is safe to show: no escape sequences, no control characters but tab and line
 * feed, nothing that turns the direction of reading. Streaming, and the same however the bytes are cut.
 */

export interface SafeText {
  push(bytes: Uint8Array): string;
  /** What is left: a code point that never became whole. */
  end(): string;
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

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const suspicious = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\udb40]/;

export function createSafeText(): SafeText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let state: State = "text";
  const clean = (text: string): string => {
    if (state === "text" && !suspicious.test(text)) return text;
    const parts: string[] = [];
    let runFrom = -1;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (state === "text" && isPlain(code)) {
        if (runFrom < 0) runFrom = at;
        continue;
      }
      if (runFrom >= 0) parts.push(text.slice(runFrom, at));
      runFrom = -1;
      if (state === "text" && isLoneControl(code)) {
        // Binary data has long runs of the same byte.
        const from = at;
        while (text.charCodeAt(at + 1) === code) at++;
        parts.push(at === from ? pictures[code]! : pictures[code]!.repeat(at - from + 1));
        continue;
      }
      const step = next(state, code);
      state = step.state;
      if (step.again) at--;
      else if (step.text) parts.push(step.text);
      else if (step.isTag) at += hidesNext(text, at) ? 1 : (parts.push("\udb40"), 0);
    }
    if (runFrom >= 0) parts.push(text.slice(runFrom));
    return parts.join("");
  };
  return {
    push: (bytes) => clean(decoder.decode(bytes, { stream: true })),
    end: () => clean(decoder.decode()),
  };
}

interface Step {
  state: State;
  text?: string;
  /** Looks at the same character again, in the new state. */
  again?: boolean;
  /** The first half of what may be a tag character: invisible text. */
  isTag?: boolean;
}

function next(state: State, code: number): Step {
  switch (state) {
    case "text":
      return startOf(code);
    case "return":
      if (code === 0x0d || code === 0x0a) return { state: code === 0x0d ? "return" : "text" };
      return { state: "text", again: true };
    case "escape":
      return afterEscape(code);
    case "intermediate":
      if (code >= 0x20 && code <= 0x2f) return { state };
      return code >= 0x30 && code <= 0x7e ? { state: "text" } : { state: "text", again: true };
    case "csi":
      if (code >= 0x20 && code <= 0x3f) return { state };
      return code >= 0x40 && code <= 0x7e ? { state: "text" } : { state: "text", again: true };
    case "string":
      if (code === 0x1b) return { state: "string-escape" };
      // A line feed ends it too: one that is never closed must not hide the rest of the output.
      if (code === 0x0a || code === 0x0d) return { state: "text", again: true };
      return { state: code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a ? "text" : "string" };
    case "string-escape":
      return code === 0x5c ? { state: "text" } : { state: "escape", again: true };
  }
}

function afterEscape(code: number): Step {
  if (code === 0x5b) return { state: "csi" };
  if (isStringStart(code + 0x40)) return { state: "string" };
  if (code >= 0x20 && code <= 0x2f) return { state: "intermediate" };
  return code >= 0x30 && code <= 0x7e ? { state: "text" } : { state: "text", again: true };
}

/** A character that is not plain, where text is expected. */
function startOf(code: number): Step {
  if (code === 0x0d) return { state: "return", text: "\n" };
  if (code === 0x1b) return { state: "escape" };
  if (code === 0x9b) return { state: "csi" };
  if (isStringStart(code)) return { state: "string" };
  if (code === 0xdb40) return { state: "text", isTag: true };
  return { state: "text", text: visible(code) };
}

/** DCS, SOS, OSC, PM, APC as one character. */
const isStringStart = (code: number) =>
  code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;

/** A control character of ASCII that begins nothing. */
const isLoneControl = (code: number) => code < 0x20 && code !== 0x1b && code !== 0x0d;

const pictures = Array.from({ length: 0x20 }, (_unused, code) => String.fromCharCode(0x2400 + code));

function visible(code: number): string {
  if (code === 0x7f) return "\u2421";
  if (code < 0xa0) return "\ufffd";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

function isPlain(code: number): boolean {
  if (code < 0x7f) return code >= 0x20 || code === 0x0a || code === 0x09;
  if (code < 0xa0) return false;
  if (code < 0x2000) return code !== 0x061c;
  if (code < 0x2070) {
    return (
      !(code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202e) || code >= 0x2066) || code > 0x2069
    );
  }
  return code !== 0xdb40;
}

/** Whether a tag character stands at `at`. A decoder never cuts between the halves of one. */
function hidesNext(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdc7f;
}

/**
 * Splits what a program writes to a terminal into text and control sequences. Streaming: the same however the bytes are split. Strings
 * (titles, clipboards, queries) are left out, and sequences are limited in length, so that no program can fill the memory.
 */

/** A part of what a program writes. */
export type TerminalAction =
  /** Characters that are shown. */
  | { kind: "text"; text: string }
  /** A C0 or C1 control character. */
  | { kind: "control"; code: number }
  /** `ESC ( 0`: intermediates and the last character. */
  | { kind: "escape"; sequence: string }
  /** `CSI ? 25 h`: a missing parameter is 0. `mark` is the private mark and the intermediates, such as `?`. */
  | { kind: "csi"; final: string; mark: string; parameters: readonly number[] };

type State = "text" | "escape" | "csi" | "csi-ignored" | "string" | "string-escape";

const maxParameters = 32;
const maxParameter = 9_999;
const maxMarks = 4;

export class EscapeParser {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #state: State = "text";
  #marks = "";
  #parameters: number[] = [0];

  push(bytes: Uint8Array): TerminalAction[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const actions: TerminalAction[] = [];
    let start = 0;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#state === "text" && !isControl(code)) continue;
      if (this.#state === "text" && index > start) actions.push({ kind: "text", text: text.slice(start, index) });
      const action = this.#next(code, text[index]!);
      if (action) actions.push(action);
      start = index + 1;
    }
    if (this.#state === "text" && text.length > start) actions.push({ kind: "text", text: text.slice(start) });
    return actions;
  }

  #next(code: number, char: string): TerminalAction | undefined {
    if (this.#state === "string" || this.#state === "string-escape") return this.#inString(code, char);
    // A sequence may have controls inside, which apply at once.
    if (code === 0x1b) return this.#begin("escape");
    if (code === 0x18 || code === 0x1a) return this.#begin("text");
    if (code >= 0x80 && code <= 0x9f) return this.#afterC1(code);
    if (code < 0x20) return { kind: "control", code };
    if (code === 0x7f) return undefined;
    return this.#state === "escape" ? this.#inEscape(code, char) : this.#inCsi(code, char);
  }

  #begin(state: State): undefined {
    this.#state = state;
    this.#marks = "";
    this.#parameters = [0];
  }

  #afterC1(code: number): TerminalAction | undefined {
    if (code === 0x9b) return this.#begin("csi");
    if (stringStarts.has(code)) return this.#begin("string");
    this.#begin("text");
    return { kind: "control", code };
  }

  #inEscape(code: number, char: string): TerminalAction | undefined {
    if (code >= 0x20 && code <= 0x2f) {
      if (this.#marks.length < maxMarks) this.#marks += char;
      return undefined;
    }
    const sequence = this.#marks + char;
    if (sequence === "[") return this.#begin("csi");
    if (this.#marks === "" && stringStarts.has(code + 0x40)) return this.#begin("string");
    this.#begin("text");
    return code < 0x7f ? { kind: "escape", sequence } : undefined;
  }

  #inCsi(code: number, char: string): TerminalAction | undefined {
    if (code >= 0x40) {
      const isIgnored = this.#state === "csi-ignored" || code > 0x7e;
      const [mark, parameters] = [this.#marks, this.#parameters];
      this.#begin("text");
      return isIgnored ? undefined : { kind: "csi", final: char, mark, parameters };
    }
    const last = this.#parameters.length - 1;
    if (code >= 0x30 && code <= 0x39) {
      this.#parameters[last] = Math.min(maxParameter, this.#parameters[last]! * 10 + code - 0x30);
    } else if (char === ";" || char === ":") {
      if (this.#parameters.length < maxParameters) this.#parameters.push(0);
      else this.#state = "csi-ignored";
    } else if (this.#marks.length < maxMarks) this.#marks += char;
    else this.#state = "csi-ignored";
    return undefined;
  }

  #inString(code: number, char: string): TerminalAction | undefined {
    if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a) return this.#begin("text");
    if (code === 0x1b) this.#state = "string-escape";
    else if (this.#state === "string-escape") {
      this.#begin("escape");
      // `ESC \` ends it, and any other escape too.
      return char === "\\" ? this.#begin("text") : this.#next(code, char);
    }
    return undefined;
  }
}

/** DCS, SOS, OSC, PM and APC. */
const stringStarts: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code <= 0x9f);

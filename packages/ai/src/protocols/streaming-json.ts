/**
 * Parses a JSON object that arrives in pieces and updates the resulting object in place. Each character is read once,
 * however many pieces there are, so the total work is linear in the input.
 *
 * Errors of models that do not change the meaning are accepted: raw control characters in strings, unknown escapes,
 * text after the object. Anything else that is not JSON is an error.
 */

import { setOwnProperty, tryParseJson } from "../json.ts";

/** Deeper arguments are rejected: real arguments are not that deep, and recursion over them could overflow the stack. */
export const maxJsonDepth = 64;

type Container = { kind: "object"; value: Record<string, unknown>; key: string } | { kind: "array"; value: unknown[] };

type Expect = "value" | "value-or-end" | "key-or-end" | "key" | "colon" | "comma-or-end" | "done";

/** The token that is being read, if it is not complete. */
type Token =
  | { kind: "none" }
  | { kind: "string"; isKey: boolean; text: string; escape: string }
  | { kind: "scalar"; text: string };

const scalarPattern = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const simpleEscapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

export class StreamingJson {
  readonly #root: Record<string, unknown>;
  readonly #stack: Container[] = [];
  #expect: Expect = "value";
  #token: Token = { kind: "none" };
  #error: string | undefined;
  /** The text so far, if it does not begin an object. */
  #plainText: string | undefined;

  /** `target` is filled in place while the text arrives. */
  constructor(target: Record<string, unknown> = {}) {
    this.#root = target;
  }

  /** The object parsed so far. It includes incomplete strings. */
  get value(): Record<string, unknown> {
    return this.#root;
  }

  /** The whole text, if it is not an object and came to its end. A text in quotes of JSON is given without them. */
  get plainText(): string | undefined {
    const parsed = this.#plainText === undefined ? undefined : tryParseJson(this.#plainText);
    return typeof parsed === "string" ? parsed : this.#plainText;
  }

  push(text: string): void {
    if (this.#plainText !== undefined) this.#plainText += text;
    if (this.#error !== undefined) return;
    let index = 0;
    while (index < text.length && this.#error === undefined) {
      if (this.#token.kind === "string") index = this.#readString(text, index, this.#token);
      else if (this.#token.kind === "scalar") index = this.#readScalar(text, index, this.#token);
      else index = this.#readStructure(text, index);
    }
    if (this.#token.kind === "string" && !this.#token.isKey) this.#setValue(this.#token.text, "partial");
  }

  /** Call after the last piece. Returns why the text is not a JSON object, or undefined if it is one. */
  end(): string | undefined {
    if (this.#error === undefined && this.#expect !== "done" && !this.#isBlank()) {
      this.#error = "the JSON ends in the middle";
    }
    return this.#error;
  }

  /** Marks the text as incomplete, even if it looks complete. */
  cut(): void {
    this.#plainText = undefined;
    this.#fail("the stream ended before they were complete");
  }

  #isBlank(): boolean {
    return this.#expect === "value" && this.#stack.length === 0 && this.#token.kind === "none";
  }

  #readStructure(text: string, start: number): number {
    const char = text[start]!;
    const next = start + 1;
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return next;
    switch (this.#expect) {
      case "done":
        // Text after the object is ignored.
        return text.length;
      case "colon":
        if (char === ":") this.#expect = "value";
        else this.#fail(`a colon was expected, not ${JSON.stringify(char)}`);
        return next;
      case "comma-or-end":
        if (char === ",") this.#expect = this.#stack.at(-1)?.kind === "object" ? "key" : "value";
        else this.#close(char);
        return next;
      case "key-or-end":
      case "key":
        if (char === '"') this.#token = { kind: "string", isKey: true, text: "", escape: "" };
        else if (char === "}" && this.#expect === "key-or-end") this.#close(char);
        else this.#fail(`a property name was expected, not ${JSON.stringify(char)}`);
        return next;
      case "value-or-end":
      case "value":
        if (char !== "]" || this.#expect === "value") return this.#openValue(text, start);
        this.#close(char);
        return next;
    }
  }

  #openValue(text: string, start: number): number {
    const char = text[start]!;
    if (this.#stack.length === 0) {
      if (char === "{") this.#push({ kind: "object", value: this.#root, key: "" }, "key-or-end");
      else {
        this.#fail(`an object was expected, not ${JSON.stringify(char)}`);
        this.#plainText = text.slice(start);
      }
      return start + 1;
    }
    if (char === "{" || char === "[") {
      if (this.#stack.length >= maxJsonDepth) {
        this.#fail(`the JSON is nested deeper than ${maxJsonDepth} levels`);
        return start + 1;
      }
      const container: Container = char === "{" ? { kind: "object", value: {}, key: "" } : { kind: "array", value: [] };
      this.#setValue(container.value, "whole");
      this.#push(container, char === "{" ? "key-or-end" : "value-or-end");
      return start + 1;
    }
    if (char === '"') {
      this.#token = { kind: "string", isKey: false, text: "", escape: "" };
      this.#setValue("", "whole");
      return start + 1;
    }
    if (!/[-\dtfn]/.test(char)) {
      this.#fail(`a value was expected, not ${JSON.stringify(char)}`);
      return start + 1;
    }
    this.#token = { kind: "scalar", text: "" };
    return start;
  }

  #readString(text: string, start: number, token: Token & { kind: "string" }): number {
    let index = start;
    while (index < text.length) {
      if (token.escape) {
        index = this.#readEscape(text, index, token);
        continue;
      }
      let end = index;
      while (end < text.length && text[end] !== '"' && text[end] !== "\\") end++;
      if (end > index) token.text += text.slice(index, end);
      if (end === text.length) return end;
      index = end + 1;
      if (text[end] === "\\") {
        token.escape = "\\";
        continue;
      }
      this.#token = { kind: "none" };
      if (token.isKey) {
        (this.#stack.at(-1) as Container & { kind: "object" }).key = token.text;
        this.#expect = "colon";
      } else {
        this.#setValue(token.text, "partial");
        this.#expect = "comma-or-end";
      }
      return index;
    }
    return index;
  }

  #readEscape(text: string, index: number, token: Token & { kind: "string" }): number {
    token.escape += text[index];
    if (token.escape[1] === "u") {
      if (token.escape.length < 6) {
        // An invalid \u escape is kept as text, so that nothing is lost.
        if (token.escape.length > 2 && !/[0-9a-fA-F]/.test(token.escape.at(-1)!)) {
          token.text += token.escape.slice(0, -1);
          token.escape = "";
          return index;
        }
        return index + 1;
      }
      token.text += /^[0-9a-fA-F]{4}$/.test(token.escape.slice(2))
        ? String.fromCharCode(Number.parseInt(token.escape.slice(2), 16))
        : token.escape;
    } else {
      const char = token.escape[1]!;
      token.text += simpleEscapes[char] ?? (char === '"' || char === "\\" || char === "/" ? char : token.escape);
    }
    token.escape = "";
    return index + 1;
  }

  #readScalar(text: string, start: number, token: Token & { kind: "scalar" }): number {
    let end = start;
    while (end < text.length && /[-+.\w]/.test(text[end]!)) end++;
    token.text += text.slice(start, end);
    if (token.text.length > 1_000) this.#fail("a number is longer than 1,000 characters");
    if (end === text.length) return end;
    this.#token = { kind: "none" };
    if (!scalarPattern.test(token.text)) this.#fail(`${JSON.stringify(token.text.slice(0, 40))} is not a JSON value`);
    else {
      this.#setValue(JSON.parse(token.text), "whole");
      this.#expect = "comma-or-end";
    }
    return end;
  }

  #push(container: Container, expect: Expect): void {
    this.#stack.push(container);
    this.#expect = expect;
  }

  #close(char: string): void {
    const container = this.#stack.at(-1);
    if (char !== (container?.kind === "object" ? "}" : "]")) {
      this.#fail(`a comma or the end was expected, not ${JSON.stringify(char)}`);
      return;
    }
    this.#stack.pop();
    this.#expect = this.#stack.length === 0 ? "done" : "comma-or-end";
  }

  /** Sets the value at the current position. `partial` replaces the beginning of a string that is already there. */
  #setValue(value: unknown, mode: "whole" | "partial"): void {
    const container = this.#stack.at(-1)!;
    if (container.kind === "object") setOwnProperty(container.value, container.key, value);
    else if (mode === "whole") container.value.push(value);
    else container.value[container.value.length - 1] = value;
  }

  #fail(reason: string): void {
    this.#error ??= reason;
  }
}

/** Parses the beginning of a JSON object. Always returns an object; text that is not JSON gives an empty one. */
export function parseStreamingJson<T = Record<string, unknown>>(text: string | undefined): T {
  const parser = new StreamingJson();
  parser.push(text ?? "");
  return parser.value as T;
}

/** Whether a parsed value is nested deeper than `levels`. */
export function isTooDeep(value: unknown, levels = maxJsonDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

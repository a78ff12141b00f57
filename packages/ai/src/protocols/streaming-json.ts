/**
 * Reads a JSON object that arrives in pieces, and keeps the object read so far up to date in place. Each character is
 * looked at once, however many pieces there are, so the total work is linear in the input.
 *
 * It is lenient where models are sloppy and nothing can be lost by it: raw control characters in strings, unknown
 * escapes, text after the object. It is strict where guessing would change what is meant: anything else is an error.
 */

/** Deeper arguments are refused: nothing real is that deep, and recursion over them would overflow the stack. */
export const deepestJson = 64;

type Container = { kind: "object"; value: Record<string, unknown>; key: string } | { kind: "array"; value: unknown[] };

type Expect = "value" | "value-or-end" | "key-or-end" | "key" | "colon" | "comma-or-end" | "done";

/** What is being read right now, if a token is unfinished. */
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
  #length = 0;

  /** `target` is filled in place as the text arrives. */
  constructor(target: Record<string, unknown> = {}) {
    this.#root = target;
  }

  /** The object as far as it is known. Strings that are still arriving are there with what has come. */
  get value(): Record<string, unknown> {
    return this.#root;
  }

  /** Why the text so far cannot become a JSON object, if it cannot. */
  get error(): string | undefined {
    return this.#error;
  }

  push(text: string): void {
    this.#length += text.length;
    if (this.#error !== undefined) return;
    let at = 0;
    while (at < text.length && this.#error === undefined) {
      if (this.#token.kind === "string") at = this.#readString(text, at, this.#token);
      else if (this.#token.kind === "scalar") at = this.#readScalar(text, at, this.#token);
      else at = this.#readStructure(text, at);
    }
    if (this.#token.kind === "string" && !this.#token.isKey) this.#place(this.#token.text, "partial");
  }

  /** Call when no more text will come. Returns why the text is not a JSON object, or nothing if it is one. */
  end(): string | undefined {
    if (this.#error === undefined && this.#expect !== "done" && this.#length > 0 && !this.#isBlank()) {
      this.#error = "the JSON ends in the middle";
    }
    return this.#error;
  }

  /** Says that more should have come, whatever the text looks like. */
  cut(): void {
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
        // Whatever a model adds after its object says nothing about the arguments.
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
        if (char === "]") {
          this.#close(char);
          return next;
        }
        return this.#openValue(char, start);
      case "value":
        return this.#openValue(char, start);
    }
  }

  #openValue(char: string, start: number): number {
    if (this.#stack.length === 0) {
      if (char === "{") this.#push({ kind: "object", value: this.#root, key: "" }, "key-or-end");
      else this.#fail(`an object was expected, not ${JSON.stringify(char)}`);
      return start + 1;
    }
    if (char === "{" || char === "[") {
      if (this.#stack.length >= deepestJson) {
        this.#fail(`the JSON is nested deeper than ${deepestJson} levels`);
        return start + 1;
      }
      const container: Container = char === "{" ? { kind: "object", value: {}, key: "" } : { kind: "array", value: [] };
      this.#place(container.value, "whole");
      this.#push(container, char === "{" ? "key-or-end" : "value-or-end");
      return start + 1;
    }
    if (char === '"') {
      this.#token = { kind: "string", isKey: false, text: "", escape: "" };
      this.#open("");
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
    let at = start;
    while (at < text.length) {
      if (token.escape) {
        at = this.#readEscape(text, at, token);
        continue;
      }
      let end = at;
      while (end < text.length && text[end] !== '"' && text[end] !== "\\") end++;
      if (end > at) token.text += text.slice(at, end);
      if (end === text.length) return end;
      at = end + 1;
      if (text[end] === "\\") {
        token.escape = "\\";
        continue;
      }
      this.#token = { kind: "none" };
      if (token.isKey) {
        (this.#stack.at(-1) as Container & { kind: "object" }).key = token.text;
        this.#expect = "colon";
      } else {
        this.#place(token.text, "partial");
        this.#expect = "comma-or-end";
      }
      return at;
    }
    return at;
  }

  #readEscape(text: string, at: number, token: Token & { kind: "string" }): number {
    token.escape += text[at];
    if (token.escape[1] === "u") {
      if (token.escape.length < 6) {
        // A broken \u escape is kept as it was written, so that nothing is lost.
        if (token.escape.length > 2 && !/[0-9a-fA-F]/.test(token.escape.at(-1)!)) {
          token.text += token.escape.slice(0, -1);
          token.escape = "";
          return at;
        }
        return at + 1;
      }
      token.text += /^[0-9a-fA-F]{4}$/.test(token.escape.slice(2))
        ? String.fromCharCode(Number.parseInt(token.escape.slice(2), 16))
        : token.escape;
    } else {
      const char = token.escape[1]!;
      token.text += simpleEscapes[char] ?? (char === '"' || char === "\\" || char === "/" ? char : token.escape);
    }
    token.escape = "";
    return at + 1;
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
      this.#place(JSON.parse(token.text), "whole");
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

  /** Makes room for a string that is about to arrive. */
  #open(text: string): void {
    this.#place(text, "whole");
  }

  /** Puts a value where the reader stands. `partial` replaces the string that was opened there. */
  #place(value: unknown, how: "whole" | "partial"): void {
    const container = this.#stack.at(-1)!;
    if (container.kind === "object") setOwn(container.value, container.key, value);
    else if (how === "whole") container.value.push(value);
    else container.value[container.value.length - 1] = value;
  }

  #fail(reason: string): void {
    this.#error ??= reason;
  }
}

/** Sets a property as data. Plain assignment to `__proto__` would change the prototype instead. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** Reads what there is of a JSON object. Always returns an object; an unreadable text gives an empty one. */
export function parseStreamingJson<T = Record<string, unknown>>(text: string | undefined): T {
  const parser = new StreamingJson();
  parser.push(text ?? "");
  return parser.value as T;
}

/** Whether a value that did not come through `StreamingJson` is too deep to be handled safely. */
export function isTooDeep(value: unknown, levels = deepestJson): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

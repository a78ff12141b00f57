/**
 * Reads TOML 1.0, which codex is configured with. Strict: what it does not understand is an error with its line. Dates are
 * kept as text. Objects have no prototype, so that every name is only a name. Pure.
 */

type TomlOutcome =
  | { kind: "document"; value: Record<string, unknown> }
  /** The message never quotes the text, which may hold secrets. */
  | { kind: "damaged"; line: number; message: string };

type Table = Record<string, unknown>;

export function parseToml(text: string): TomlOutcome {
  const reader = new TomlReader(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
  try {
    return { kind: "document", value: reader.read() };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { kind: "damaged", line: reader.line, message: error.message };
  }
}

class TomlError extends Error {}

const createTable = (): Table => Object.create(null) as Table;
const maxDepth = 64;

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

class TomlReader {
  readonly #text: string;
  #position = 0;
  /** Tables that a header named, which a second header may not name again. */
  readonly #named = new Set<Table>();
  /** Inline tables and arrays, to which nothing can be added. */
  readonly #closed = new Set<unknown>();

  constructor(text: string) {
    this.#text = text;
  }

  get line(): number {
    return this.#text.slice(0, this.#position).split("\n").length;
  }

  read(): Table {
    const root = createTable();
    let current = root;
    for (this.#skipBlank(true); this.#position < this.#text.length; this.#skipBlank(true)) {
      if (this.#peek() === "[") current = this.#readHeader(root);
      else this.#readPair(current, 0);
      this.#endLine();
    }
    return root;
  }

  #readHeader(root: Table): Table {
    const isList = this.#text.startsWith("[[", this.#position);
    this.#position += isList ? 2 : 1;
    const path = this.#readKey();
    this.#expect(isList ? "]]" : "]");
    const name = path.pop()!;
    const parent = this.#descend(root, path);
    const existing = parent[name];
    if (isList) {
      const list = existing ?? (parent[name] = []);
      if (!Array.isArray(list) || this.#closed.has(list)) throw new TomlError("This name is used already.");
      const table = createTable();
      list.push(table);
      return table;
    }
    const table = existing ?? (parent[name] = createTable());
    if (!isTable(table) || this.#named.has(table) || this.#closed.has(table)) {
      throw new TomlError("This name is used already.");
    }
    this.#named.add(table);
    return table;
  }

  /** The table at a path. Of a list of tables, the last one. */
  #descend(table: Table, path: readonly string[]): Table {
    if (path.length > maxDepth) throw new TomlError(`This is nested more than ${maxDepth} levels deep.`);
    let current = table;
    for (const name of path) {
      const next = current[name] ?? (current[name] = createTable());
      const inner: unknown = Array.isArray(next) ? next.at(-1) : next;
      if (!isTable(inner) || this.#closed.has(next)) throw new TomlError("This name is used already.");
      current = inner;
    }
    return current;
  }

  #readPair(table: Table, depth: number): void {
    const path = this.#readKey();
    this.#expect("=");
    const name = path.pop()!;
    const parent = this.#descend(table, path);
    if (name in parent) throw new TomlError("This name is used already.");
    this.#skipSpaces();
    parent[name] = this.#readValue(depth);
  }

  #readKey(): string[] {
    const path: string[] = [];
    do {
      this.#skipSpaces();
      const quote = this.#peek();
      if (quote === '"' || quote === "'") path.push(this.#readString(quote));
      else path.push(this.#match(/[A-Za-z0-9_-]+/y) ?? this.#fail("A name is missing."));
      this.#skipSpaces();
    } while (this.#take("."));
    return path;
  }

  #readValue(depth: number): unknown {
    if (depth > maxDepth) throw new TomlError(`This is nested more than ${maxDepth} levels deep.`);
    const first = this.#peek();
    if (first === '"' || first === "'") {
      return this.#text.startsWith(first.repeat(3), this.#position)
        ? this.#readLongString(first)
        : this.#readString(first);
    }
    if (first === "[") return this.#readList(depth);
    if (first === "{") return this.#readInlineTable(depth);
    const word = this.#match(/[A-Za-z0-9+\-_.:]+(?: \d\d:[\d:.+\-Zz]+)?/y) ?? this.#fail("A value is missing.");
    return parseWord(word) ?? this.#fail("This is not a value of TOML. Put text in quotes.");
  }

  #readList(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#closed.add(list);
    this.#expect("[");
    for (this.#skipBlank(true); !this.#take("]"); this.#skipBlank(true)) {
      list.push(this.#readValue(depth + 1));
      this.#skipBlank(true);
      if (this.#peek() !== "]") this.#expect(",");
    }
    return list;
  }

  #readInlineTable(depth: number): Table {
    const table = createTable();
    this.#expect("{");
    for (this.#skipBlank(true); !this.#take("}"); this.#skipBlank(true)) {
      this.#readPair(table, depth + 1);
      this.#skipBlank(true);
      if (this.#peek() !== "}") this.#expect(",");
    }
    this.#closed.add(table);
    return table;
  }

  #readString(quote: string): string {
    const end = quote === '"' ? /"((?:[^"\\\n]|\\.)*)"/y : /'([^'\n]*)'/y;
    const raw = this.#match(end) ?? this.#fail("A text has no closing quote.");
    return quote === '"' ? this.#unescape(raw.slice(1, -1)) : raw.slice(1, -1);
  }

  #readLongString(quote: string): string {
    const pattern =
      quote === '"' ? /"""((?:[^"\\]|\\[\s\S]|"(?!"")|""(?!"))*)("{3,5})/y : /'''((?:[^']|'(?!'')|''(?!'))*)('{3,5})/y;
    const raw = this.#match(pattern) ?? this.#fail("A text has no closing quotes.");
    const inner = raw.slice(3, -3).replace(/^\n/, "");
    // A backslash at the end of a line joins it with the next text.
    return quote === '"' ? this.#unescape(inner.replaceAll(/\\[ \t]*\n\s*/g, "")) : inner;
  }

  #unescape(text: string): string {
    return text.replaceAll(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S])/g, (_whole, code: string) => {
      if (code.length === 1) return escapes[code] ?? this.#fail("There is no such escape.");
      const point = Number.parseInt(code.slice(1), 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : this.#fail("There is no such character.");
    });
  }

  #peek(): string {
    return this.#text[this.#position] ?? "";
  }

  #take(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#position);
    if (isThere) this.#position += text.length;
    return isThere;
  }

  #expect(text: string): void {
    this.#skipSpaces();
    if (!this.#take(text)) throw new TomlError(`${JSON.stringify(text)} is missing.`);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const [match] = pattern.exec(this.#text) ?? [];
    if (match !== undefined) this.#position += match.length;
    return match;
  }

  #skipSpaces(): void {
    this.#match(/[ \t]*/y);
  }

  #skipBlank(withLines: boolean): void {
    this.#match(withLines ? /(?:[ \t\n]|#[^\n]*)*/y : /[ \t]*(?:#[^\n]*)?/y);
  }

  #endLine(): void {
    this.#skipBlank(false);
    if (this.#position < this.#text.length && !this.#take("\n")) throw new TomlError("A line has more than one value.");
  }

  #fail(message: string): never {
    throw new TomlError(message);
  }
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined if it is neither a number, a date nor a boolean. */
function parseWord(word: string): unknown {
  if (word === "true") return true;
  if (word === "false") return false;
  if (/^\d{4}-\d\d-\d\d|^\d\d:\d\d/.test(word)) return word;
  const number = word.replaceAll(/(?<=\d)_(?=[\da-fA-F])/g, "");
  if (/^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(number)) return Number(number);
  if (/^0x[\da-fA-F]+$|^0o[0-7]+$|^0b[01]+$/.test(number)) return Number(number);
  if (/^[+-]?inf$/.test(number)) return number.startsWith("-") ? -Infinity : Infinity;
  return /^[+-]?nan$/.test(number) ? Number.NaN : undefined;
}

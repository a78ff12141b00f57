/** Colours code line by line, so that a block that is being written costs what was added. */
import type { Theme, ThemeColor } from "@tau/tui";
import type { Token } from "prismjs";

/** A language that is loaded. */
interface Language {
  tokenize: (text: string) => (string | Token)[];
  /** The tokens of single lines: about every third line of code was there before. */
  known: Map<string, (string | Token)[]>;
}

const colors: Readonly<Record<string, ThemeColor>> = {
  comment: "syntaxComment",
  prolog: "syntaxComment",
  keyword: "syntaxKeyword",
  atrule: "syntaxKeyword",
  important: "syntaxKeyword",
  function: "syntaxFunction",
  "class-name": "syntaxType",
  builtin: "syntaxType",
  tag: "syntaxType",
  variable: "syntaxVariable",
  property: "syntaxVariable",
  "attr-name": "syntaxVariable",
  key: "syntaxVariable",
  parameter: "syntaxVariable",
  string: "syntaxString",
  char: "syntaxString",
  regex: "syntaxString",
  "attr-value": "syntaxString",
  "template-string": "syntaxString",
  number: "syntaxNumber",
  boolean: "syntaxNumber",
  constant: "syntaxNumber",
  operator: "syntaxOperator",
  punctuation: "syntaxPunctuation",
  inserted: "toolDiffAdded",
  deleted: "toolDiffRemoved",
};

const names: Readonly<Record<string, string>> = {
  ts: "typescript",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  mts: "typescript",
  cts: "typescript",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  py: "python",
  rs: "rust",
  rb: "ruby",
  yml: "yaml",
  html: "markup",
  xml: "markup",
  svg: "markup",
  htm: "markup",
  h: "c",
  "c++": "cpp",
  cc: "cpp",
  hpp: "cpp",
  "c#": "csharp",
  cs: "csharp",
  dotnet: "csharp",
  kt: "kotlin",
  kts: "kotlin",
  md: "markdown",
  dockerfile: "docker",
  make: "makefile",
  jsonc: "json",
};

/** Lines that belong to something that has not ended, such as a comment. */
interface LineState {
  open: readonly string[];
}

const nothingOpen: LineState = { open: [] };

/** A token that is longer is drawn as plain text from then on. */
const maxOpenLines = 40;

/** How many lines are remembered for each language. */
const maxKnownLines = 1_000;

/** Longer lines are plain: some grammars take quadratic time, and a line that is being written is drawn again and again. */
const maxLineLength = 1_000;

const importPrism = () => import("./prism.ts");

export class Highlighter {
  readonly #theme: Theme;
  readonly #onLoad: () => void;
  readonly #importPrism: typeof importPrism;
  /** By name. Undefined while it is loaded, and if there is none. */
  readonly #languages = new Map<string, Language | undefined>();

  /** `onLoad` is called when code that was drawn plain can be drawn in colours. */
  constructor(theme: Theme, onLoad: () => void, load = importPrism) {
    this.#theme = theme;
    this.#onLoad = onLoad;
    this.#importPrism = load;
  }

  /** Highlights one line, with what the line before left, as Markdown asks for it. */
  highlightLine = (line: string, name: string | undefined, state: unknown): { line: string; state: unknown } => {
    const language = this.#findLanguage((name ?? "").toLowerCase());
    if (!language || line.length > maxLineLength) {
      return { line: this.#theme.fg("mdCodeBlock", line), state: nothingOpen };
    }
    const { open } = (state as LineState | undefined) ?? nothingOpen;
    const isAlone = open.length === 0;
    const tokens = isAlone ? tokenizeLine(language, line) : language.tokenize([...open, line].join("\n"));
    const drawn = this.#draw(tokens);
    const isOpen = endsInside(tokens.at(-1)) && open.length < maxOpenLines;
    return {
      line: isAlone ? drawn : drawn.split("\n").slice(open.length).join("\n"),
      state: isOpen ? { open: [...open, line] } : nothingOpen,
    };
  };

  #findLanguage(nameOrAlias: string): Language | undefined {
    const name = (Object.hasOwn(names, nameOrAlias) && names[nameOrAlias]) || nameOrAlias;
    if (name !== "" && !this.#languages.has(name)) {
      this.#languages.set(name, undefined);
      // An update may have replaced the files of the program since it was started. The code is plain then.
      this.#load(name).catch(() => {});
    }
    return this.#languages.get(name);
  }

  async #load(name: string): Promise<void> {
    const { loadGrammar, tokenize } = await this.#importPrism();
    const grammar = await loadGrammar(name);
    if (!grammar) return;
    this.#languages.set(name, { tokenize: (text) => tokenize(text, grammar), known: new Map() });
    this.#onLoad();
  }

  #draw(tokens: readonly (string | Token)[]): string {
    const pieces: Piece[] = [];
    for (const token of tokens) addPieces(token, "mdCodeBlock", pieces);
    let drawn = "";
    for (const { text, color } of pieces) drawn += this.#style(text, color);
    return drawn;
  }

  /** Each line is styled alone, since lines are drawn alone. */
  #style(text: string, color: ThemeColor): string {
    if (!text.includes("\n")) return this.#theme.fg(color, text);
    const lines = text.split("\n");
    return lines.map((line) => (line === "" ? "" : this.#theme.fg(color, line))).join("\n");
  }
}

function tokenizeLine({ tokenize, known }: Language, line: string): (string | Token)[] {
  let tokens = known.get(line);
  if (tokens) return tokens;
  tokens = tokenize(line);
  if (known.size >= maxKnownLines) known.clear();
  known.set(line, tokens);
  return tokens;
}

interface Piece {
  text: string;
  color: ThemeColor;
}

/** Neighbours of one color become one piece, and blanks belong to what is before them. */
function addPieces(content: string | Token | (string | Token)[], color: ThemeColor, pieces: Piece[]): void {
  if (Array.isArray(content)) for (const part of content) addPieces(part, color, pieces);
  else if (typeof content !== "string") addPieces(content.content, getColor(content) ?? color, pieces);
  else {
    const last = pieces.at(-1);
    if (last && (last.color === color || content.trim() === "")) last.text += content;
    else pieces.push({ text: content, color });
  }
}

function getColor({ type, alias = [] }: Token): ThemeColor | undefined {
  const color = colors[type];
  if (color !== undefined) return color;
  if (typeof alias === "string") return colors[alias];
  const name = alias.find((other) => colors[other] !== undefined);
  return name === undefined ? undefined : colors[name];
}

/** Whether a text ends in a comment or a text over several lines that has not ended. */
function endsInside(last: string | Token | undefined): boolean {
  if (last === undefined || typeof last === "string") return false;
  const text = getText(last);
  if (last.type === "comment") return text.startsWith("/*") && !text.endsWith("*/");
  return (last.type === "template-string" || last.type === "string") && /^(?:`|"""|''')/.test(text) && !isClosed(text);
}

function isClosed(text: string): boolean {
  const quote = text.startsWith("`") ? "`" : text.slice(0, 3);
  return text.length >= 2 * quote.length && text.endsWith(quote);
}

function getText(content: string | Token | (string | Token)[]): string {
  if (Array.isArray(content)) return content.map(getText).join("");
  return typeof content === "string" ? content : getText(content.content);
}

/** Reads LaTeX and draws each part as soon as it is read. */
import { type Box, isOneLine, joinBeside, stack, toBox, toGrid } from "./box.ts";
import { enclose, parenthesize } from "./brackets.ts";
import { addScripts, drawFraction, joinPieces, type Piece, type Scripts, type Style, toPlain } from "./pieces.ts";
import { toSuperscript } from "./scripts.ts";
import {
  accents,
  blanks,
  bracketSizes,
  doubleStruck,
  type Environment,
  environments,
  fonts,
  functions,
  functionsWithLimits,
  ignored,
  largeOperators,
  relations,
  signs,
  textFonts,
} from "./symbols.ts";
import { type LatexToken, tokenize } from "./tokens.ts";

const maxDepth = 50;
/** A grid of more cells is larger than any screen. */
const maxCells = 2_000;
const roots = new Map([
  ["3", "∛"],
  ["4", "∜"],
]);
const cellEnds = new Set(["&", "\\\\", "\\end"]);
const nothing = toPlain("");

/** How a token ends a part: characters as they are, commands with their backslash. */
const toKey = (token: LatexToken | undefined): string =>
  token?.kind === "character" ? token.text : token?.kind === "command" ? `\\${token.name}` : "";

export class LatexReader {
  readonly #tokens: readonly LatexToken[];
  #index = 0;
  #depth = 0;
  /** Whether everything so far is known and complete. */
  #isKnown = true;

  constructor(source: string) {
    this.#tokens = tokenize(source);
  }

  /** Undefined if it is not complete, or has something that is not known. */
  read(style: Style): Box | undefined {
    const box = this.#readAligned(style);
    return this.#isKnown && this.#index === this.#tokens.length ? box : undefined;
  }

  get #next(): LatexToken | undefined {
    return this.#tokens[this.#index];
  }

  #fail(): Piece {
    this.#isKnown = false;
    // Nothing more is read.
    this.#index = this.#tokens.length;
    return nothing;
  }

  #take(key: string): boolean {
    if (toKey(this.#next) !== key) return false;
    this.#index++;
    return true;
  }

  #expect(key: string): void {
    if (!this.#take(key)) this.#fail();
  }

  #skipBlanks(): void {
    while (this.#next?.kind === "blank") this.#index++;
  }

  #readRow(style: Style, ends: ReadonlySet<string>): Box {
    const pieces: Piece[] = [];
    for (let token = this.#next; token && !ends.has(toKey(token)); token = this.#next) {
      pieces.push(this.#readScripts(this.#readPiece(token, style), style));
    }
    return joinPieces(pieces, style);
  }

  /** Cells of rows, up to the end of the environment or of the source. */
  #readRows(style: Style): Box[][] {
    const rows: Box[][] = [[]];
    while (this.#next && toKey(this.#next) !== "\\end") {
      rows.at(-1)?.push(this.#readRow(style, cellEnds));
      if (this.#take("\\\\")) {
        if (toKey(this.#next) === "[") this.#readOptional(style);
        rows.push([]);
      } else if (!this.#take("&")) break;
    }
    if (rows.length * Math.max(...rows.map(({ length }) => length)) > maxCells) return [[this.#fail().box]];
    const last = rows.at(-1) ?? [];
    return last.every(({ width }) => width === 0) && rows.length > 1 ? rows.slice(0, -1) : rows;
  }

  #readAligned(style: Style): Box {
    const rows = this.#readRows(style);
    const [first = []] = rows;
    if (rows.length === 1 && first.length <= 1) return first[0] ?? toBox("");
    return toGrid(rows, " ", (column) =>
      column % 2 === 0 && rows.some(({ length }) => length > 1) ? "right" : "left",
    );
  }

  #readPiece(token: LatexToken, style: Style): Piece {
    if (++this.#depth > maxDepth) return this.#fail();
    const piece = this.#readToken(token, style);
    this.#depth--;
    return piece;
  }

  #readToken(token: LatexToken, style: Style): Piece {
    // A script without something before it.
    if (token.kind === "character" && /^[\^_]$/.test(token.text)) return nothing;
    this.#index++;
    if (token.kind === "blank") return { box: toBox(" "), kind: "blank" };
    if (token.kind === "command") return this.#readCommand(token.name, style);
    if (token.text === "{") return { box: this.#readGroup(style), kind: "plain" };
    if (/^[}&]$/.test(token.text)) return this.#fail();
    if (/^[=<>]$/.test(token.text)) return { box: toBox(token.text), kind: "relation" };
    return toPlain(token.text === "'" ? "′" : token.text);
  }

  /** After its opening brace. */
  #readGroup(style: Style): Box {
    const box = this.#readRow(style, new Set(["}"]));
    this.#expect("}");
    return box;
  }

  #readArgument(style: Style): Box {
    this.#skipBlanks();
    const token = this.#next;
    if (!token || toKey(token) === "}") return this.#fail().box;
    return this.#readPiece(token, style).box;
  }

  #readOptional(style: Style): Box | undefined {
    if (!this.#take("[")) return undefined;
    const box = this.#readRow(style, new Set(["]"]));
    this.#expect("]");
    return box;
  }

  /** The characters of an argument, with their blanks. */
  #readText(): string {
    this.#skipBlanks();
    this.#expect("{");
    let text = "";
    for (let depth = 0, token = this.#next; token; token = this.#next) {
      const key = toKey(token);
      if (key === "}" && depth === 0) break;
      this.#index++;
      if (key === "{") depth++;
      else if (key === "}") depth--;
      else if (token.kind === "blank") text += " ";
      else if (token.kind === "character") text += token.text;
      else text += signs.get(token.name) ?? blanks.get(token.name) ?? this.#fail().box.lines[0];
    }
    this.#expect("}");
    return text;
  }

  #readScripts(base: Piece, style: Style): Piece {
    const scripts: { -readonly [Key in keyof Scripts]: Scripts[Key] } = {};
    for (;;) {
      const start = this.#index;
      if (base.kind !== "blank") this.#skipBlanks();
      if (this.#take("\\limits") || this.#take("\\nolimits")) continue;
      const isAbove = toKey(this.#next) === "^";
      if (!isAbove && toKey(this.#next) !== "_") {
        this.#index = this.#isKnown ? start : this.#index;
        break;
      }
      this.#index++;
      const script = this.#readArgument({ isDisplay: false, isTight: true });
      if (scripts[isAbove ? "above" : "below"]) return this.#fail();
      scripts[isAbove ? "above" : "below"] = script;
    }
    return scripts.above || scripts.below ? addScripts(base, scripts, style) : base;
  }

  #readCommand(name: string, style: Style): Piece {
    const sign = signs.get(name);
    if (sign !== undefined) return toPlain(sign);
    const relation = relations.get(name);
    if (relation !== undefined) return { box: toBox(relation), kind: "relation" };
    const operator = largeOperators.get(name);
    if (operator !== undefined) return { box: toBox(operator), kind: "function", hasLimits: true };
    if (functions.has(name)) return { box: toBox(name), kind: "function" };
    if (functionsWithLimits.has(name)) return { box: toBox(name), kind: "function", hasLimits: true };
    const blank = blanks.get(name);
    if (blank !== undefined) return blank === " " ? { box: toBox(" "), kind: "blank" } : toPlain(blank);
    if (ignored.has(name) || bracketSizes.has(name)) return nothing;
    const accent = accents.get(name);
    if (accent !== undefined) return this.#readAccent(accent, style);
    if (textFonts.has(name)) return toPlain(this.#readText());
    if (fonts.has(name)) return { box: this.#readArgument(style), kind: "plain" };
    return this.#readStructure(name, style);
  }

  #readStructure(name: string, style: Style): Piece {
    const isInline = { ...style, isDisplay: false };
    const toPiece = (box: Box): Piece => ({ box, kind: "plain" });
    switch (name) {
      case "frac":
      case "dfrac":
      case "cfrac":
        return drawFraction(this.#readArgument(isInline), this.#readArgument(isInline), style);
      case "tfrac":
        return drawFraction(this.#readArgument(isInline), this.#readArgument(isInline), isInline);
      case "binom":
      case "dbinom":
      case "tbinom":
        return toPiece(drawBinomial(this.#readArgument(isInline), this.#readArgument(isInline), style));
      case "sqrt":
        return toPiece(drawRoot(this.#readOptional({ isDisplay: false, isTight: true }), this.#readArgument(style)));
      case "left":
        return this.#readFence(style);
      case "begin":
        return this.#readEnvironment(style);
      case "mathbb":
        return toPlain(Array.from(this.#readText(), (letter) => doubleStruck.get(letter) ?? letter).join(""));
      case "operatorname":
      case "operatorname*":
        return { box: toBox(this.#readText()), kind: "function", hasLimits: true };
      case "not":
        return this.#readNegated(style);
      case "stackrel":
      case "overset": {
        const above = this.#readArgument({ isDisplay: false, isTight: true });
        return addScripts(
          { ...toPiece(this.#readArgument(style)), kind: "relation", hasLimits: true },
          { above },
          style,
        );
      }
      case "underset": {
        const below = this.#readArgument({ isDisplay: false, isTight: true });
        return addScripts({ ...toPiece(this.#readArgument(style)), hasLimits: true }, { below }, style);
      }
      case "xrightarrow":
      case "xleftarrow": {
        const above = this.#readArgument({ isDisplay: false, isTight: true });
        const arrow: Piece = { box: toBox(name === "xleftarrow" ? "←" : "→"), kind: "relation", hasLimits: true };
        return addScripts(arrow, { above }, style);
      }
      case "underbrace":
      case "overbrace":
        return { ...toPiece(this.#readArgument(style)), hasLimits: true };
      case "boxed":
        return toPiece(enclose("[", this.#readArgument(style), "]"));
      case "pmod":
        return toPiece(joinBeside([toBox("(mod "), this.#readArgument(isInline), toBox(")")]));
      case "tag":
        return toPlain(`  (${this.#readText()})`);
      case "label":
      case "vspace":
        this.#readText();
        return nothing;
      case "hspace":
        this.#readText();
        return { box: toBox(" "), kind: "blank" };
      default:
        return this.#fail();
    }
  }

  #readAccent(mark: string, style: Style): Piece {
    const box = this.#readArgument(style);
    if (!isOneLine(box)) return this.#fail();
    // Marks that are on a character already stay with it.
    const marked = (box.lines[0] as string).replaceAll(/[^\s\p{M}]\p{M}*/gu, (character) => character + mark);
    return toPlain(marked.normalize("NFC"));
  }

  #readNegated(style: Style): Piece {
    this.#skipBlanks();
    const token = this.#next;
    if (!token) return this.#fail();
    const piece = this.#readPiece(token, style);
    if (!isOneLine(piece.box)) return this.#fail();
    return { ...piece, box: toBox(`${piece.box.lines[0]}\u0338`.normalize("NFC")) };
  }

  #readFence(style: Style): Piece {
    const open = this.#readBracket();
    const body = this.#readRow(style, new Set(["\\right"]));
    this.#expect("\\right");
    return { box: enclose(open, body, this.#readBracket()), kind: "plain" };
  }

  /** Empty for a dot, which is no bracket. */
  #readBracket(): string {
    this.#skipBlanks();
    const token = this.#next;
    this.#index++;
    if (token?.kind === "character" && /^[()[\]|/<>.]$/.test(token.text)) return token.text === "." ? "" : token.text;
    return (token?.kind === "command" ? signs.get(token.name) : undefined) ?? (this.#fail().box.lines[0] as string);
  }

  #readEnvironment(style: Style): Piece {
    const name = this.#readText();
    const environment = environments.get(name.replace(/\*$/, ""));
    if (!environment) return this.#fail();
    if (environment.hasArgument) this.#readText();
    const box = this.#drawEnvironment(environment, style);
    this.#expect("\\end");
    return this.#readText() === name ? { box, kind: "plain" } : this.#fail();
  }

  #drawEnvironment({ kind, open, close }: Environment, style: Style): Box {
    if (kind === "aligned") return this.#readAligned(style);
    const rows = this.#readRows({ ...style, isDisplay: false });
    const grid = toGrid(rows, "  ", () => (kind === "cases" ? "left" : "center"));
    return enclose(open, grid, close, " ");
  }
}

function drawBinomial(top: Box, bottom: Box, { isDisplay }: Style): Box {
  if (isDisplay || !isOneLine(top) || !isOneLine(bottom)) return enclose("(", stack([top, bottom], 0), ")");
  return toBox(`(${top.lines[0]} choose ${bottom.lines[0]})`);
}

function drawRoot(index: Box | undefined, body: Box): Box {
  const text = index?.lines[0] ?? "";
  const sign = text === "" ? "√" : (roots.get(text) ?? `${toSuperscript(text) ?? `${parenthesize(text)}`}√`);
  if (!isOneLine(body)) return joinBeside([toBox(sign), enclose("(", body, ")")]);
  return toBox(sign + parenthesize(body.lines[0] as string));
}

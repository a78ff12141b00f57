/** The text of a page: its operators are followed, and where text is shown decides about spaces and lines. */
import { type PdfDocument, toDict } from "./document.ts";
import { type Font, readFont } from "./fonts.ts";
import { endOfBytes, PdfParser } from "./parser.ts";
import { decodeUtf16 } from "./cmap.ts";
import { encodings } from "./glyph-names.ts";
import { type PdfBudget, type PdfDict, PdfName, PdfStream, PdfString, type PdfValue, PdfWord } from "./values.ts";

/** `[a b c d e f]`: x' = a x + c y + e, y' = b x + d y + f. */
type Matrix = readonly [number, number, number, number, number, number];

const identity: Matrix = [1, 0, 0, 1, 0, 0];

const multiply = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[1] * n[2],
  m[0] * n[1] + m[1] * n[3],
  m[2] * n[0] + m[3] * n[2],
  m[2] * n[1] + m[3] * n[3],
  m[4] * n[0] + m[5] * n[2] + n[4],
  m[4] * n[1] + m[5] * n[3] + n[5],
];

interface GraphicsState {
  matrix: Matrix;
  font: Font | undefined;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
  rise: number;
}

interface PageText {
  readonly text: string;
  /** Glyphs whose meaning is not known. */
  readonly unknown: number;
  readonly known: number;
  readonly hasImages: boolean;
}

const maxForms = 12;
const maxOperands = 100_000;
const maxSaved = 1_000;
const operatorsInStep = 500;

interface PageParts {
  readonly document: PdfDocument;
  readonly budget: PdfBudget;
  /** The fonts that were read so far, by their dictionaries. */
  readonly fonts: Map<PdfDict, Font>;
  readonly maxChars: number;
}

export class PageReader {
  readonly #document: PdfDocument;
  readonly #budget: PdfBudget;
  readonly #fonts: Map<PdfDict, Font>;
  #lines: LineWriter;
  #state: GraphicsState = createState();
  #textMatrix = identity;
  #lineMatrix = identity;
  #unknown = 0;
  #known = 0;
  #hasImages = false;
  /** Marked parts that are open; a text of its own replaces what is in a part, and is shown where that begins. */
  #marked: { readonly isReplaced: boolean; text?: string | undefined }[] = [];

  constructor({ document, budget, fonts, maxChars }: PageParts) {
    this.#document = document;
    this.#budget = budget;
    this.#fonts = fonts;
    this.#lines = new LineWriter(maxChars);
  }

  /** Pauses now and then, so that others can work. */
  *read(page: PdfDict, resources: PdfDict): Generator<void, PageText> {
    yield* this.#run(this.#readContents(page), resources, 0);
    return {
      text: this.#lines.getText(),
      unknown: this.#unknown,
      known: this.#known,
      hasImages: this.#hasImages,
    };
  }

  #readContents(page: PdfDict): Uint8Array {
    const contents = this.#document.get(page, "Contents");
    const streams = Array.isArray(contents) ? (contents as PdfValue[]) : [contents];
    const parts = streams.slice(0, 10_000).flatMap((each) => {
      const stream = this.#document.resolve(each);
      const bytes = stream instanceof PdfStream ? this.#document.decode(stream) : undefined;
      return bytes ? [bytes, Buffer.from("\n")] : [];
    });
    return Buffer.concat(parts);
  }

  *#run(content: Uint8Array, resources: PdfDict, depth: number): Generator<void, void> {
    const parser = new PdfParser(content, this.#budget);
    let operators = 0;
    const saved: GraphicsState[] = [];
    let operands: PdfValue[] = [];
    for (;;) {
      const value = parser.read();
      if (value === endOfBytes) return;
      if (!(value instanceof PdfWord)) {
        if (operands.length < maxOperands) operands.push(value);
        continue;
      }
      if (++operators % operatorsInStep === 0) yield;
      switch (value.word) {
        case "q":
          if (saved.length < maxSaved) saved.push({ ...this.#state });
          break;
        case "Q":
          this.#state = saved.pop() ?? this.#state;
          break;
        case "ID":
          parser.skipInlineImage();
          this.#hasImages = true;
          break;
        case "Do":
          yield* this.#draw(operands[0], resources, depth);
          break;
        case "Tf":
          this.#setFont(operands, resources);
          break;
        case "BDC":
          this.#beginMarked(operands[1], resources);
          break;
        default:
          this.#operate(value.word, operands);
      }
      operands = [];
    }
  }

  #operate(operator: string, operands: readonly PdfValue[]): void {
    const state = this.#state;
    const number = (index: number): number => {
      const value = operands[index];
      return typeof value === "number" && Number.isFinite(value) ? value : 0;
    };
    switch (operator) {
      case "cm":
        state.matrix = multiply(toMatrix(operands), state.matrix);
        break;
      case "BT":
        this.#textMatrix = this.#lineMatrix = identity;
        break;
      case "Tc":
        state.charSpace = number(0);
        break;
      case "Tw":
        state.wordSpace = number(0);
        break;
      case "Tz":
        state.scale = number(0) / 100;
        break;
      case "TL":
        state.leading = number(0);
        break;
      case "Ts":
        state.rise = number(0);
        break;
      case "Td":
        this.#moveLine(number(0), number(1));
        break;
      case "TD":
        state.leading = -number(1);
        this.#moveLine(number(0), number(1));
        break;
      case "Tm":
        this.#textMatrix = this.#lineMatrix = toMatrix(operands);
        break;
      case "T*":
        this.#moveLine(0, -state.leading);
        break;
      case "Tj":
        this.#show(operands[0]);
        break;
      case "'":
        this.#moveLine(0, -state.leading);
        this.#show(operands[0]);
        break;
      case '"':
        state.wordSpace = number(0);
        state.charSpace = number(1);
        this.#moveLine(0, -state.leading);
        this.#show(operands[2]);
        break;
      case "TJ":
        this.#showList(operands[0]);
        break;
      case "BMC":
        this.#marked.push({ isReplaced: false });
        break;
      case "EMC":
        this.#marked.pop();
        break;
      default:
    }
  }

  #moveLine(x: number, y: number): void {
    this.#textMatrix = this.#lineMatrix = multiply([1, 0, 0, 1, x, y], this.#lineMatrix);
  }

  #setFont(operands: readonly PdfValue[], resources: PdfDict): void {
    const [name, size] = operands;
    this.#state.size = typeof size === "number" ? size : 0;
    if (!(name instanceof PdfName)) return;
    const dict = toDict(this.#document.get(this.#document.getDict(resources, "Font"), name.name));
    const known = this.#fonts.get(dict);
    this.#state.font = known ?? readFont(this.#document, dict, this.#budget);
    if (!known) this.#fonts.set(dict, this.#state.font);
  }

  *#draw(name: PdfValue | undefined, resources: PdfDict, depth: number): Generator<void, void> {
    if (!(name instanceof PdfName) || depth >= maxForms) return;
    const form = this.#document.get(this.#document.getDict(resources, "XObject"), name.name);
    if (!(form instanceof PdfStream)) return;
    if (this.#document.getName(form.dict, "Subtype") !== "Form") {
      this.#hasImages = true;
      return;
    }
    const bytes = this.#document.decode(form);
    if (!bytes) return;
    const before = this.#state;
    const matrix = this.#document.getList(form.dict, "Matrix");
    this.#state = {
      ...before,
      matrix: matrix.length === 6 ? multiply(toMatrix(matrix), before.matrix) : before.matrix,
    };
    const own = this.#document.getDict(form.dict, "Resources");
    yield* this.#run(bytes, own.size > 0 ? own : resources, depth + 1);
    this.#state = before;
  }

  /** A marked part may say what its glyphs mean. */
  #beginMarked(properties: PdfValue | undefined, resources: PdfDict): void {
    const dict =
      properties instanceof PdfName
        ? toDict(this.#document.get(this.#document.getDict(resources, "Properties"), properties.name))
        : toDict(properties);
    const actual = this.#document.get(dict, "ActualText");
    const isReplaced = actual instanceof PdfString && !this.#findReplaced();
    this.#marked.push({ isReplaced, ...(isReplaced && { text: decodeTextString(actual.bytes) }) });
  }

  #findReplaced() {
    return this.#marked.find((each) => each.isReplaced);
  }

  #showList(list: PdfValue | undefined): void {
    if (!Array.isArray(list)) return;
    for (const item of list as PdfValue[]) {
      if (typeof item === "number") this.#advance((-item / 1_000) * this.#state.size * this.#state.scale);
      else this.#show(item);
    }
  }

  #show(value: PdfValue | undefined): void {
    const { font, size, charSpace, wordSpace, scale } = this.#state;
    if (!(value instanceof PdfString) || !font) return;
    for (const { text, width, isSpace, isUnknown } of font.decode(value.bytes)) {
      const shift = (width * size + charSpace + (isSpace ? wordSpace : 0)) * scale;
      if (isUnknown) this.#unknown++;
      else this.#known++;
      const part = this.#findReplaced();
      const shown = part ? part.text : text;
      if (part) part.text = undefined;
      if (shown === undefined) this.#lines.extend(this.#getPlace(width * size * scale).endX);
      else if (shown !== "") this.#lines.add(shown, this.#getPlace(width * size * scale));
      this.#advance(shift);
    }
  }

  #advance(x: number): void {
    this.#textMatrix = multiply([1, 0, 0, 1, x, 0], this.#textMatrix);
  }

  /** Where the next glyph is, along and across the direction of its line. */
  #getPlace(width: number): GlyphPlace {
    const whole = multiply(this.#textMatrix, this.#state.matrix);
    const angle = Math.round((Math.atan2(whole[1], whole[0]) * 180) / Math.PI);
    const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
    const x = whole[4] * cos + whole[5] * sin;
    return {
      x,
      y: whole[5] * cos - whole[4] * sin,
      endX: x + width * Math.hypot(whole[0], whole[1]),
      angle,
      size: Math.max(0.01, Math.abs(this.#state.size) * Math.hypot(whole[2], whole[3])),
    };
  }
}

const createState = (): GraphicsState => ({
  matrix: identity,
  font: undefined,
  size: 0,
  charSpace: 0,
  wordSpace: 0,
  scale: 1,
  leading: 0,
  rise: 0,
});

function toMatrix(values: readonly PdfValue[]): Matrix {
  const numbers = Array.from({ length: 6 }, (_unused, index) => {
    const value = values[index];
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  });
  return numbers as unknown as Matrix;
}

/** A text of the document itself: UTF-16 or UTF-8 with a mark, else close to Latin-1. */
function decodeTextString(bytes: Uint8Array): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeUtf16(bytes.subarray(2));
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return Buffer.from(bytes.subarray(3)).toString("utf8");
  return Array.from(bytes, (byte) => encodings["WinAnsiEncoding"]![byte] ?? "").join("");
}

interface GlyphPlace {
  readonly x: number;
  readonly y: number;
  readonly endX: number;
  readonly angle: number;
  readonly size: number;
}

/** Puts glyphs together to lines, in the order in which the page shows them. */
class LineWriter {
  readonly #parts: string[] = [];
  readonly #maxChars: number;
  #length = 0;
  #last: GlyphPlace | undefined;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  add(text: string, place: GlyphPlace): void {
    if (this.#length > this.#maxChars) return;
    const separator = this.#last ? chooseSeparator(this.#last, place) : "";
    const isSpaced = separator === " " && (/^\s/.test(text) || /\s$/.test(this.#parts.at(-1) ?? ""));
    this.#parts.push(isSpaced ? text : separator + text);
    this.#length += text.length + separator.length;
    this.#last = place;
  }

  /** Extends the last glyph up to here. */
  extend(endX: number): void {
    if (this.#last) this.#last = { ...this.#last, endX };
  }

  getText(): string {
    return this.#parts
      .join("")
      .normalize("NFC")
      .replaceAll(/[ﬀﬁﬂﬃﬄﬅﬆ]/g, (ligature) => ligature.normalize("NFKC"))
      .replaceAll(/[^\S\n]+/g, " ")
      .replaceAll(/ ?\n ?/g, "\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
  }
}

/** Decides what is between two glyphs: nothing, a space, a line break, or an empty line. */
function chooseSeparator(last: GlyphPlace, next: GlyphPlace): "" | " " | "\n" | "\n\n" {
  const size = Math.max(last.size, next.size);
  if (last.angle !== next.angle) return "\n";
  const down = Math.abs(next.y - last.y);
  if (down > size * 1.7) return "\n\n";
  // Indices are a little above or below their line.
  if (down > size * 0.6) return "\n";
  const gap = next.x - last.endX;
  if (gap < -size * 2 && next.x < last.x - size * 2) return down > size * 0.2 ? "\n" : " ";
  return gap > Math.min(last.size, next.size) * 0.16 ? " " : "";
}

/** Fonts of a PDF: what their codes say, and how wide they are. */
import { type CodeMap, decodeUtf16, parseCodeMap, toKey } from "./cmap.ts";
import { type PdfDocument, toDict } from "./document.ts";
import { encodings, getGlyphText } from "./glyph-names.ts";
import { type PdfBudget, type PdfDict, PdfName, PdfStream, type PdfValue } from "./values.ts";

interface Glyph {
  /** Empty if nothing says what the code means. */
  readonly text: string;
  /** A part of the font size. */
  readonly width: number;
  /** Whether it is the single-byte code 32, which words are spaced by. */
  readonly isSpace: boolean;
  /** Whether it is not known what the code means. */
  readonly isUnknown: boolean;
}

export interface Font {
  decode(bytes: Uint8Array): Glyph[];
}

const noCodes: CodeMap = { texts: new Map(), lengths: [] };

export function readFont(document: PdfDocument, dict: PdfDict, budget: PdfBudget): Font {
  const mapped = document.get(dict, "ToUnicode");
  const bytes = mapped instanceof PdfStream ? document.decode(mapped) : undefined;
  const codes = bytes ? parseCodeMap(bytes, budget) : noCodes;
  return document.getName(dict, "Subtype") === "Type0"
    ? readCompositeFont(document, dict, codes)
    : readSimpleFont(document, dict, codes);
}

function readSimpleFont(document: PdfDocument, dict: PdfDict, codes: CodeMap): Font {
  const texts = readEncoding(document, dict);
  const first = document.getNumber(dict, "FirstChar") ?? 0;
  const widths = document.getList(dict, "Widths");
  const isType3 = document.getName(dict, "Subtype") === "Type3";
  const [scale] = isType3 ? document.getList(dict, "FontMatrix") : [0.001];
  const unit = typeof scale === "number" && scale > 0 ? scale : 0.001;
  const missing = document.getNumber(document.getDict(dict, "FontDescriptor"), "MissingWidth");
  const isFixed = /courier|mono/i.test(document.getName(dict, "BaseFont") ?? "");
  const decodeCode = (code: number): Glyph => {
    const text = codes.texts.get(toKey(1, code)) ?? texts[code] ?? "";
    const width = document.resolve(widths[code - first]);
    const known = typeof width === "number" ? width * unit : undefined;
    return {
      text: isControl(text) ? "" : text,
      width: known ?? (missing === undefined || missing === 0 ? estimateWidth(text, isFixed) : missing * unit),
      isSpace: code === 32,
      isUnknown: text === "",
    };
  };
  const glyphs = new Map<number, Glyph>();
  const get = (code: number): Glyph => {
    const known = glyphs.get(code);
    if (known) return known;
    const glyph = decodeCode(code);
    glyphs.set(code, glyph);
    return glyph;
  };
  return { decode: (bytes) => Array.from(bytes, get) };
}

const isControl = (text: string): boolean => /^[\p{Cc}\p{Co}\uFFFD]$/u.test(text);

function readEncoding(document: PdfDocument, dict: PdfDict): readonly string[] {
  const encoding = document.get(dict, "Encoding");
  const name = encoding instanceof PdfName ? encoding.name : document.getName(toDict(encoding), "BaseEncoding");
  const baseFont = document.getName(dict, "BaseFont") ?? "";
  const isSymbol = /(?:^|\+)Symbol/.test(baseFont);
  const texts = [
    ...(encodings[name ?? ""] ??
      (isSymbol
        ? encodings["Symbol"]!
        : document.getName(dict, "Subtype") === "TrueType"
          ? encodings["WinAnsiEncoding"]!
          : encodings["StandardEncoding"]!)),
  ];
  let code = 0;
  for (const item of document.getList(toDict(encoding), "Differences")) {
    const value = document.resolve(item);
    if (typeof value === "number") code = value;
    else if (value instanceof PdfName) {
      if (code >= 0 && code < 256) texts[code] = getGlyphText(value.name) ?? "";
      code++;
    }
  }
  return texts;
}

/** Fonts that every program has come without widths. */
function estimateWidth(text: string, isFixed: boolean): number {
  if (isFixed) return 0.6;
  if (/^[ijlI.,:;'!|ftr ()[\]-]$/.test(text)) return 0.28;
  if (/^[mwMW@%—]$/.test(text)) return 0.85;
  return /^[A-Z]$/.test(text) ? 0.67 : 0.53;
}

function readCompositeFont(document: PdfDocument, dict: PdfDict, codes: CodeMap): Font {
  const descendant = toDict(document.resolve(document.getList(dict, "DescendantFonts")[0]));
  const widths = readCidWidths(document, descendant);
  const defaultWidth = (document.getNumber(descendant, "DW") ?? 1_000) / 1_000;
  const encoding = document.getName(dict, "Encoding") ?? "";
  const isUnicode = /UCS2|UTF16/.test(encoding);
  const lengths = codes.lengths.length > 0 ? codes.lengths : [2];
  return {
    decode(bytes) {
      const glyphs: Glyph[] = [];
      for (let position = 0; position < bytes.length;) {
        const length = findLength(bytes, position, { codes, lengths });
        const part = bytes.subarray(position, position + length);
        position += length;
        const code = part.reduce((sum, byte) => sum * 256 + byte, 0);
        const text = codes.texts.get(toKey(length, code)) ?? (isUnicode ? decodeUtf16(part) : "");
        glyphs.push({
          text: isControl(text) ? "" : text,
          width: widths.get(code) ?? defaultWidth,
          isSpace: length === 1 && code === 32,
          isUnknown: text === "",
        });
      }
      return glyphs;
    },
  };
}

/** Codes may have several lengths; the first that the map knows is used. */
function findLength(
  bytes: Uint8Array,
  position: number,
  { codes, lengths }: { codes: CodeMap; lengths: readonly number[] },
): number {
  if (lengths.length === 1) return lengths[0]!;
  const known = lengths.find((length) => {
    const code = bytes.subarray(position, position + length).reduce((sum, byte) => sum * 256 + byte, 0);
    return codes.texts.has(toKey(length, code));
  });
  return known ?? lengths.at(-1)!;
}

const maxWidths = 100_000;

function readCidWidths(document: PdfDocument, descendant: PdfDict): Map<number, number> {
  const widths = new Map<number, number>();
  const list: readonly PdfValue[] = document.getList(descendant, "W");
  for (let index = 0; index + 1 < list.length && widths.size < maxWidths;) {
    const first = Number(document.resolve(list[index]));
    const second = document.resolve(list[index + 1]);
    if (Array.isArray(second)) {
      for (const [step, width] of (second as PdfValue[]).entries()) {
        const value = document.resolve(width);
        if (typeof value === "number") widths.set(first + step, value / 1_000);
      }
      index += 2;
      continue;
    }
    const width = document.resolve(list[index + 2]);
    const last = Math.min(Number(second), first + maxWidths);
    if (typeof width === "number") for (let code = first; code <= last; code++) widths.set(code, width / 1_000);
    index += 3;
  }
  return widths;
}

/** Maps from the codes of a font to text, as a font has them in `ToUnicode`. */
import { endOfBytes, PdfParser } from "./parser.ts";
import { type PdfBudget, PdfString, type PdfValue, PdfWord } from "./values.ts";

export interface CodeMap {
  /** By length in bytes and code: `length * 2 ** 32 + code`. */
  readonly texts: ReadonlyMap<number, string>;
  /** The lengths of codes, the shortest first. Empty if the map does not say. */
  readonly lengths: readonly number[];
}

const maxRange = 65_536;
const maxEntries = 500_000;

export const toKey = (length: number, code: number): number => length * 2 ** 32 + code;

const toNumber = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0);

/** Decodes UTF-16 with the most significant byte first. */
export function decodeUtf16(bytes: Uint8Array): string {
  if (bytes.length === 1) return String.fromCharCode(bytes[0]!);
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");
}

/** Reads a map. Parts that cannot be read are left out. */
export function parseCodeMap(bytes: Uint8Array, budget: PdfBudget): CodeMap {
  const parser = new PdfParser(bytes, budget);
  const texts = new Map<number, string>();
  const lengths = new Set<number>();
  let operands: PdfValue[] = [];
  for (;;) {
    const value = parser.read();
    if (value === endOfBytes || texts.size > maxEntries) break;
    if (!(value instanceof PdfWord)) {
      operands.push(value);
      continue;
    }
    if (value.word === "endcodespacerange")
      for (const each of operands)
        if (each instanceof PdfString && each.bytes.length <= 4) lengths.add(each.bytes.length);
    if (value.word === "endbfchar") addCharacters(texts, operands);
    if (value.word === "endbfrange") addRanges(texts, operands);
    operands = [];
  }
  return { texts, lengths: [...lengths].filter((length) => length > 0).toSorted((left, right) => left - right) };
}

function addCharacters(texts: Map<number, string>, operands: readonly PdfValue[]): void {
  for (let index = 0; index + 1 < operands.length; index += 2) {
    const [code, text] = [operands[index], operands[index + 1]];
    if (code instanceof PdfString && text instanceof PdfString && code.bytes.length <= 4)
      texts.set(toKey(code.bytes.length, toNumber(code.bytes)), decodeUtf16(text.bytes));
  }
}

function addRanges(texts: Map<number, string>, operands: readonly PdfValue[]): void {
  for (let index = 0; index + 2 < operands.length; index += 3) {
    const [first, last, target] = [operands[index], operands[index + 1], operands[index + 2]];
    if (!(first instanceof PdfString) || !(last instanceof PdfString) || first.bytes.length > 4) continue;
    const [from, to] = [toNumber(first.bytes), toNumber(last.bytes)];
    const count = Math.min(to - from + 1, maxRange, maxEntries - texts.size);
    for (let step = 0; step < count; step++) {
      const text = getRangeText(target!, step);
      if (text !== undefined) texts.set(toKey(first.bytes.length, from + step), text);
    }
  }
}

/** The last character of the text is counted up, or a list has all of them. */
function getRangeText(target: PdfValue, step: number): string | undefined {
  if (Array.isArray(target)) {
    const item = (target as PdfValue[])[step];
    return item instanceof PdfString ? decodeUtf16(item.bytes) : undefined;
  }
  if (!(target instanceof PdfString) || target.bytes.length === 0) return undefined;
  const points = [...decodeUtf16(target.bytes)];
  const last = points.pop()?.codePointAt(0);
  return last === undefined || last + step > 0x10_ffff
    ? undefined
    : points.join("") + String.fromCodePoint(last + step);
}

/** The objects of a PDF: where they are, and what they refer to. */
import { type Decryption, type ObjectId, openEncryption } from "./encryption.ts";
import { decodeStream, type FilterStep } from "./filters.ts";
import { endOfBytes, PdfParser } from "./parser.ts";
import {
  type PdfBudget,
  type PdfDict,
  PdfFailure,
  PdfName,
  PdfRef,
  PdfStream,
  PdfString,
  type PdfValue,
  PdfWord,
} from "./values.ts";

/** At a position of the file, or the object with this index in a stream of objects. */
type Place =
  | { readonly kind: "file"; readonly position: number }
  | { readonly kind: "stream"; readonly stream: number; readonly index: number };

const maxObjects = 2_000_000;
const maxSections = 1_000;
const maxChain = 20;
/** How many rows or objects are looked at before others may work. */
const partsInStep = 1_000;
const empty: PdfDict = new Map();

export class PdfDocument {
  readonly #bytes: Buffer;
  readonly #budget: PdfBudget;
  readonly #places = new Map<number, Place>();
  readonly #objects = new Map<number, PdfValue>();
  readonly #objectStreams = new Map<number, readonly PdfValue[]>();
  readonly #reading = new Set<number>();
  /** The objects that streams are, by which their keys are made. */
  readonly #streamIds = new WeakMap<PdfStream, ObjectId>();
  #decryption: Decryption | undefined;
  #streamEnds: readonly number[] | undefined;
  readonly #trailer = new Map<string, PdfValue>();

  private constructor(bytes: Uint8Array, budget: PdfBudget) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#budget = budget;
  }

  /** Pauses now and then, so that others can work. */
  static *open(bytes: Uint8Array, budget: PdfBudget): Generator<void, PdfDocument> {
    const document = new PdfDocument(bytes, budget);
    yield* document.#readSections();
    document.#openEncryption();
    if (!document.#hasPages()) yield* document.#findObjects();
    if (!document.#hasPages()) throw new PdfFailure("damaged", "It has no pages that can be found.");
    return document;
  }

  get trailer(): PdfDict {
    return this.#trailer;
  }

  /** Follows references. */
  resolve(value: PdfValue | undefined): PdfValue {
    let current = value ?? null;
    for (let count = 0; current instanceof PdfRef; count++) {
      if (count > maxChain) return null;
      current = this.#readObject(current.number);
    }
    return current;
  }

  get(dict: PdfDict, key: string): PdfValue {
    return this.resolve(dict.get(key));
  }

  getDict(dict: PdfDict, key: string): PdfDict {
    return toDict(this.get(dict, key));
  }

  getNumber(dict: PdfDict, key: string): number | undefined {
    const value = this.get(dict, key);
    return typeof value === "number" ? value : undefined;
  }

  getName(dict: PdfDict, key: string): string | undefined {
    const value = this.get(dict, key);
    return value instanceof PdfName ? value.name : undefined;
  }

  getList(dict: PdfDict, key: string): readonly PdfValue[] {
    const value = this.get(dict, key);
    return Array.isArray(value) ? (value as PdfValue[]) : [];
  }

  /** Undefined for an image, or a stream that cannot be decoded. */
  decode(stream: PdfStream): Uint8Array | undefined {
    const { dict, raw } = stream;
    const names = toList(this.get(dict, dict.has("Filter") ? "Filter" : "F"));
    const parameters = toList(this.get(dict, dict.has("DecodeParms") ? "DecodeParms" : "DP"));
    const steps = names.map((each, index): FilterStep => {
      const name = this.resolve(each);
      const own = toDict(this.resolve(parameters[index]));
      const resolved = new Map([...own].map(([key, value]) => [key, this.resolve(value)]));
      return { name: name instanceof PdfName ? name.name : "", parameters: resolved };
    });
    const id = this.#streamIds.get(stream);
    // A stream may say itself that it is not encrypted.
    const isPlain = !id || this.#isTable(dict) || steps[0]?.name === "Crypt";
    const bytes = this.#decryption && !isPlain ? this.#decryption.decryptStream(raw, id) : raw;
    return decodeStream(bytes, steps[0]?.name === "Crypt" ? steps.slice(1) : steps, this.#budget);
  }

  /** Tables of objects are never encrypted. */
  #isTable(dict: PdfDict): boolean {
    return this.getName(dict, "Type") === "XRef";
  }

  /** Throws if a password is needed. */
  #openEncryption(): void {
    const dict = this.getDict(this.trailer, "Encrypt");
    if (this.#decryption || !this.trailer.has("Encrypt")) return;
    const [first] = this.getList(this.trailer, "ID");
    const id = this.resolve(first);
    const fileId = id instanceof PdfString ? id.bytes : new Uint8Array();
    this.#decryption = openEncryption(dict, { get: (from, key) => this.get(from, key), fileId });
    // What was read before has its texts encrypted.
    this.#objects.clear();
  }

  #hasPages(): boolean {
    const root = this.getDict(this.trailer, "Root");
    return this.getDict(root, "Pages").size > 0;
  }

  #readObject(number: number): PdfValue {
    const known = this.#objects.get(number);
    if (known !== undefined) return known;
    const place = this.#places.get(number);
    // An object that needs itself to be read is damaged.
    if (!place || this.#reading.has(number)) return null;
    this.#reading.add(number);
    try {
      const value =
        place.kind === "file"
          ? this.#readAt(place.position)
          : (this.#readObjectStream(place.stream)[place.index] ?? null);
      this.#objects.set(number, value);
      return value;
    } finally {
      this.#reading.delete(number);
    }
  }

  #readAt(position: number): PdfValue {
    const parser = new PdfParser(this.#bytes, this.#budget, position);
    const [number, generation, word] = [parser.read(), parser.read(), parser.read()];
    if (typeof number !== "number" || typeof generation !== "number" || !isWord(word, "obj")) return null;
    const value = this.#readBody(parser);
    if (value instanceof PdfStream) this.#streamIds.set(value, { number, generation });
    return this.#decryption ? decryptStrings(value, this.#decryption, { number, generation }) : value;
  }

  #readBody(parser: PdfParser): PdfValue {
    return parser.readObject({
      getLength: (length) => {
        const value = this.resolve(length);
        return typeof value === "number" ? value : undefined;
      },
      findEnd: (start) => this.#findStreamEnd(start),
    });
  }

  /** All ends are found at once: a file may have many streams and no end. */
  #findStreamEnd(start: number): number {
    this.#streamEnds ??= findAll(this.#bytes, "endstream");
    let [low, high] = [0, this.#streamEnds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#streamEnds[middle]! < start) low = middle + 1;
      else high = middle;
    }
    return this.#streamEnds[low] ?? this.#bytes.length;
  }

  #readObjectStream(number: number): readonly PdfValue[] {
    const known = this.#objectStreams.get(number);
    if (known) return known;
    const stream = this.#readObject(number);
    const bytes = stream instanceof PdfStream ? this.decode(stream) : undefined;
    const values: PdfValue[] = [];
    if (stream instanceof PdfStream && bytes) {
      const count = Math.min(this.getNumber(stream.dict, "N") ?? 0, maxObjects);
      const first = this.getNumber(stream.dict, "First") ?? 0;
      const header = new PdfParser(bytes, this.#budget);
      const offsets: number[] = [];
      for (let index = 0; index < count && !header.isAtEnd; index++) {
        header.read();
        const offset = header.read();
        offsets.push(typeof offset === "number" ? offset : 0);
      }
      for (const offset of offsets) values.push(new PdfParser(bytes, this.#budget, first + offset).read());
    }
    this.#objectStreams.set(number, values);
    return values;
  }

  /** Reads the tables of objects, the newest first. */
  *#readSections(): Generator<void, void> {
    const tail = this.#bytes.lastIndexOf("startxref");
    if (tail === -1) return;
    const start = new PdfParser(this.#bytes, this.#budget, tail + "startxref".length).read();
    const seen = new Set<number>();
    const waiting = typeof start === "number" ? [start] : [];
    while (waiting.length > 0 && seen.size < maxSections) {
      const position = waiting.shift()!;
      if (seen.has(position) || position < 0 || position >= this.#bytes.length) continue;
      seen.add(position);
      const trailer = yield* this.#readSection(position);
      if (!trailer) continue;
      for (const [key, value] of trailer) if (!this.#trailer.has(key)) this.#trailer.set(key, value);
      for (const key of ["XRefStm", "Prev"]) {
        const next = trailer.get(key);
        if (typeof next === "number") waiting.push(next);
      }
    }
  }

  *#readSection(position: number): Generator<void, PdfDict | undefined> {
    const parser = new PdfParser(this.#bytes, this.#budget, position);
    if (isWord(parser.read(), "xref")) return yield* this.#readTable(parser);
    const stream = this.#readAt(position);
    if (!(stream instanceof PdfStream)) return undefined;
    this.#readTableStream(stream);
    return stream.dict;
  }

  *#readTable(parser: PdfParser): Generator<void, PdfDict | undefined> {
    for (;;) {
      const first = parser.read();
      if (isWord(first, "trailer")) return toDict(parser.read());
      const count = parser.read();
      if (typeof first !== "number" || typeof count !== "number") return undefined;
      for (let index = 0; index < Math.min(count, maxObjects); index++) {
        const [position, generation, kind] = [parser.read(), parser.read(), parser.read()];
        if (typeof position !== "number" || typeof generation !== "number") return undefined;
        if (index % partsInStep === 0) yield;
        if (isWord(kind, "n")) this.#addPlace(first + index, { kind: "file", position });
        else if (!isWord(kind, "f")) return undefined;
      }
    }
  }

  #readTableStream(stream: PdfStream): void {
    const bytes = this.decode(stream);
    const widths = this.getList(stream.dict, "W").map((width) => (typeof width === "number" ? width : 0));
    const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
    const row = typeWidth + secondWidth + thirdWidth;
    if (!bytes || row <= 0 || row > 32 || widths.some((width) => width < 0 || width > 8)) return;
    const ranges = this.getList(stream.dict, "Index").map(Number);
    const list = ranges.length > 0 ? ranges : [0, this.getNumber(stream.dict, "Size") ?? 0];
    let position = 0;
    const take = (width: number): number => {
      let value = 0;
      for (let index = 0; index < width; index++) value = value * 256 + bytes[position++]!;
      return value;
    };
    for (let index = 0; index + 1 < list.length; index += 2) {
      for (let count = 0; count < list[index + 1]! && position + row <= bytes.length; count++) {
        const type = typeWidth === 0 ? 1 : take(typeWidth);
        const [second, third] = [take(secondWidth), take(thirdWidth)];
        const number = list[index]! + count;
        if (type === 1) this.#addPlace(number, { kind: "file", position: second });
        if (type === 2) this.#addPlace(number, { kind: "stream", stream: second, index: third });
      }
    }
  }

  /** Newer tables are read first. */
  #addPlace(number: number, place: Place): void {
    if (this.#places.size < maxObjects && !this.#places.has(number)) this.#places.set(number, place);
  }

  /** For files whose tables are missing or wrong: looks for objects in the whole file. */
  *#findObjects(): Generator<void, void> {
    this.#places.clear();
    this.#objects.clear();
    this.#objectStreams.clear();
    const streams: number[] = [];
    for (let from = 0, count = 0; ; count++) {
      const found = this.#bytes.indexOf("obj", from);
      if (found === -1) break;
      if (count % partsInStep === 0) yield;
      from = found + 3;
      const before = this.#bytes.toString("latin1", Math.max(0, found - 24), found);
      const match = /(?:^|[^\d])(\d{1,10})\s+(\d{1,5})\s+$/.exec(before);
      if (!match) continue;
      const number = Number(match[1]);
      const position = found - (before.length - match.index - (/^\d/.test(match[0]) ? 0 : 1));
      // The last one of a number is the newest.
      this.#places.set(number, { kind: "file", position });
      if (/\/ObjStm\b/.test(this.#bytes.toString("latin1", found, found + 300))) streams.push(number);
      if (this.#places.size > maxObjects) break;
    }
    yield* this.#findTrailer();
    this.#openEncryption();
    for (const number of streams) {
      yield;
      this.#addFromStream(number);
    }
    if (streams.length > 0) yield* this.#findTrailer();
  }

  #addFromStream(number: number): void {
    const stream = this.#readObject(number);
    const bytes = stream instanceof PdfStream ? this.decode(stream) : undefined;
    if (!(stream instanceof PdfStream) || !bytes) return;
    const parser = new PdfParser(bytes, this.#budget);
    const count = Math.min(this.getNumber(stream.dict, "N") ?? 0, maxObjects);
    for (let index = 0; index < count && !parser.isAtEnd; index++) {
      const id = parser.read();
      parser.read();
      if (typeof id === "number") this.#addPlace(id, { kind: "stream", stream: number, index });
    }
  }

  *#findTrailer(): Generator<void, void> {
    this.#trailer.clear();
    const add = (dict: PdfDict) => {
      for (const [key, value] of dict) this.#trailer.set(key, value);
    };
    for (let from = 0, count = 0; ; count++) {
      const found = this.#bytes.indexOf("trailer", from);
      if (found === -1) break;
      if (count % partsInStep === 0) yield;
      from = found + 7;
      add(toDict(new PdfParser(this.#bytes, this.#budget, from).read()));
    }
    let count = 0;
    for (const number of this.#places.keys()) {
      if (count++ % partsInStep === 0) yield;
      const value = this.#readObject(number);
      const dict = value instanceof PdfStream ? value.dict : toDict(value);
      const type = dict.get("Type");
      if (!(type instanceof PdfName)) continue;
      if (type.name === "XRef") add(dict);
      if (type.name === "Catalog" && !this.#trailer.has("Root")) this.#trailer.set("Root", new PdfRef(number));
    }
  }
}

/** Streams are decrypted when they are read. */
function decryptStrings(value: PdfValue, decryption: Decryption, id: ObjectId): PdfValue {
  if (value instanceof PdfString) return new PdfString(decryption.decryptString(value.bytes, id));
  if (Array.isArray(value)) return value.map((each: PdfValue) => decryptStrings(each, decryption, id));
  if (!(value instanceof Map)) return value;
  return new Map([...(value as PdfDict)].map(([key, each]) => [key, decryptStrings(each, decryption, id)]));
}

function findAll(bytes: Buffer, word: string): number[] {
  const positions: number[] = [];
  for (let found = bytes.indexOf(word); found !== -1; found = bytes.indexOf(word, found + word.length))
    positions.push(found);
  return positions;
}

const isWord = (value: PdfValue, word: string): boolean =>
  value instanceof PdfWord && value !== endOfBytes && value.word === word;

export const toDict = (value: PdfValue | undefined): PdfDict => (value instanceof Map ? (value as PdfDict) : empty);

/** A single value is a list of one. */
const toList = (value: PdfValue): readonly PdfValue[] =>
  value === null ? [] : Array.isArray(value) ? (value as PdfValue[]) : [value];

/**
 * The index of a file of facts: for each word the lines that have it, so that a search looks only at those. It is a file beside the
 * facts, with a mark of the file that it was made from; one that does not fit, or cannot be read, is made again. Pure.
 */
import { createHash } from "node:crypto";
import { getNormalization, getRarity, scoreTerm } from "../kit/tool-search/bm25.ts";
import { tokenize } from "../kit/tool-search/search-index.ts";
import { parseLine } from "./fact.ts";

const format = 0x7461_7532;
const headerWords = 6;
const countUnit = 2 ** 24;
const maxCount = 255;
const markBytes = 32;

/** Positions in the file of facts. */
interface FactPlace {
  readonly start: number;
  readonly end: number;
}

interface FoundPlace extends FactPlace {
  readonly score: number;
}

export interface FactIndex {
  readonly size: number;
  /** Returns the best first, and of equal ones the newest. */
  search(query: string, limit: number): FoundPlace[];
  /** Returns the newest first. */
  listNewest(limit: number): FactPlace[];
}

/** Plurals are found by their singular and the other way round. */
const toTerm = (word: string): string => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word);

export const toTerms = (text: string): string[] => tokenize(text).map(toTerm);

const encodeMark = (mark: string): Buffer => createHash("sha256").update(mark).digest();

/** Makes the bytes of an index. `mark` identifies the state of the file. */
export function buildIndex(file: Buffer, mark: string): Buffer {
  const places: number[] = [];
  const lengths: number[] = [];
  const postings = new Map<string, number[]>();
  let start = 0;
  while (start < file.length) {
    const newline = file.indexOf(10, start);
    const end = newline === -1 ? file.length : newline;
    const fact = parseLine(file.toString("utf8", start, end).replace(/\r$/, ""));
    if (fact) {
      const terms = toTerms(fact.text);
      addPostings(postings, lengths.length, terms);
      places.push(start, end);
      lengths.push(terms.length);
    }
    start = end + 1;
  }
  return encode({ mark: encodeMark(mark), places, lengths, postings });
}

/** Each posting is the number of a fact, and above it how often the fact has the word. */
function addPostings(postings: Map<string, number[]>, fact: number, terms: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  for (const [term, count] of counts) {
    const posting = fact + Math.min(count, maxCount) * countUnit;
    const list = postings.get(term);
    if (list) list.push(posting);
    else postings.set(term, [posting]);
  }
}

interface IndexParts {
  readonly mark: Buffer;
  readonly places: readonly number[];
  readonly lengths: readonly number[];
  readonly postings: ReadonlyMap<string, readonly number[]>;
}

/** The words are sorted by their bytes, so that one is found by halving. */
function encode({ mark, places, lengths, postings }: IndexParts): Buffer {
  const terms = [...postings.keys()].map((term) => ({ term, bytes: Buffer.from(term) }));
  terms.sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  const termStarts = [0];
  const postingStarts = [0];
  const all: number[] = [];
  for (const { term, bytes } of terms) {
    for (const value of postings.get(term)!) all.push(value);
    termStarts.push(termStarts.at(-1)! + bytes.length);
    postingStarts.push(all.length);
  }
  const text = Buffer.concat(terms.map(({ bytes }) => bytes));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const header = [format, lengths.length, terms.length, all.length, text.length, total];
  const words = Uint32Array.from([...header, ...places, ...lengths, ...termStarts, ...postingStarts].concat(all));
  return Buffer.concat([mark, Buffer.from(words.buffer), text]);
}

/** Undefined if the bytes are not an index of the file in this state. */
export function openIndex(bytes: Buffer, mark: string): FactIndex | undefined {
  if (bytes.length < markBytes + headerWords * 4 || !bytes.subarray(0, markBytes).equals(encodeMark(mark)))
    return undefined;
  const words = toWords(bytes.subarray(markBytes));
  const [kind, size = 0, termCount = 0, postingCount = 0, textBytes = 0, total = 0] = words.subarray(0, headerWords);
  const wordCount = headerWords + size * 3 + (termCount + 1) * 2 + postingCount;
  if (kind !== format || bytes.length !== markBytes + wordCount * 4 + textBytes) return undefined;
  let position = headerWords;
  const take = (count: number): Uint32Array => words.subarray(position, (position += count));
  const [places, lengths, termStarts, postingStarts, postings] = [
    take(size * 2),
    take(size),
    take(termCount + 1),
    take(termCount + 1),
    take(postingCount),
  ];
  const text = bytes.subarray(markBytes + wordCount * 4);
  const averageLength = total / size || 1;
  const findTerm = (term: Buffer): number => {
    let [low, high] = [0, termCount - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = text.compare(term, 0, term.length, termStarts[middle]!, termStarts[middle + 1]!);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  };
  const getPlace = (fact: number): FactPlace => ({ start: places[fact * 2]!, end: places[fact * 2 + 1]! });
  return {
    size,
    search(query, limit) {
      const scores = new Float64Array(size);
      for (const term of new Set(toTerms(query))) {
        const found = findTerm(Buffer.from(term));
        if (found === -1) continue;
        const [from, to] = [postingStarts[found]!, postingStarts[found + 1]!];
        const rarity = getRarity(size, to - from);
        for (let index = from; index < to; index++) {
          const posting = postings[index]!;
          const fact = posting % countUnit;
          const normalization = getNormalization(lengths[fact]! / averageLength);
          scores[fact]! += rarity * scoreTerm(Math.floor(posting / countUnit), normalization);
        }
      }
      return findHighest(scores, limit).map((fact) => ({ ...getPlace(fact), score: scores[fact]! }));
    },
    listNewest: (limit) =>
      Array.from({ length: Math.min(size, limit) }, (_unused, index) => getPlace(size - 1 - index)),
  };
}

/** Numbers can be read in place only at some addresses. */
function toWords(bytes: Buffer): Uint32Array {
  const count = bytes.length >> 2;
  return bytes.byteOffset % 4 === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, count)
    : new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count * 4));
}

/** The positions of the highest scores above 0, the highest first, and of equal ones the last. */
function findHighest(scores: Float64Array, limit: number): number[] {
  const best: number[] = [];
  const compare = (left: number, right: number) => scores[right]! - scores[left]! || right - left;
  for (let position = scores.length - 1; position >= 0; position--) {
    const score = scores[position]!;
    if (score === 0 || (best.length >= limit && score <= scores[best.at(-1)!]!)) continue;
    best.push(position);
    best.sort(compare);
    if (best.length > limit) best.pop();
  }
  return best.slice(0, Math.max(0, limit));
}

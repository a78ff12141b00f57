/** What one answer may hold: all that a tool returns or throws stays within the common limits, all parts together. Pure. */
import { countBreaks, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";

export class Room {
  #lines: number;
  #bytes: number;

  constructor(lines = defaultMaxLines, bytes = defaultMaxBytes) {
    this.#lines = lines;
    this.#bytes = bytes;
  }

  /** Whether a text, and a line break after it, has room; then that is taken. */
  take(text: string): boolean {
    const lines = countBreaks(text) + 1;
    const bytes = Buffer.byteLength(text) + 1;
    if (lines > this.#lines || bytes > this.#bytes) return false;
    this.#lines -= lines;
    this.#bytes -= bytes;
    return true;
  }

  /** As much as this has left, divided by `count`. What is taken of it is not taken of this. */
  part(count: number): Room {
    return new Room(Math.floor(this.#lines / count), Math.floor(this.#bytes / count));
  }

  /** The same, but at most `bytes`. */
  upTo(bytes: number): Room {
    return new Room(this.#lines, Math.min(this.#bytes, bytes));
  }

  /** Whether not even a short line has room. */
  get isFull(): boolean {
    return this.#lines < 1 || this.#bytes < 20;
  }
}

/** The first few of many, and what is said of the others. */
export function getFirst(texts: readonly string[], most: number, others: (count: number) => string): string[] {
  return texts.length <= most ? [...texts] : [...texts.slice(0, most), others(texts.length - most)];
}

/** With more parts, none would be large enough to be of use. */
const maxParts = 10;

/** Texts of equal weight, each made for its part of the room. Those that find none are only counted. */
export function shareRoom(makers: readonly ((room: Room) => string)[], others: (count: number) => string): string {
  // The rest is for what is said of the others.
  const room = new Room(defaultMaxLines - 10, defaultMaxBytes - 1024);
  const texts: string[] = [];
  for (const [at, make] of makers.slice(0, maxParts).entries()) {
    const text = make(room.part(Math.min(makers.length, maxParts) - at));
    if (!room.take(`${text}\n`)) break;
    texts.push(text);
  }
  const left = makers.length - texts.length;
  return (left === 0 ? texts : [...texts, others(left)]).join("\n\n");
}

/** Decodes and encodes UTF-8 by code points, without strings. Invalid bytes become U+FFFD, as in browsers. */

export interface Utf8Decoder {
  /** Whether it is between two code points. */
  readonly isBetween: boolean;
  push(byte: number): void;
  /** Ends a code point that never became whole. */
  end(): void;
}

const invalid = 0xfffd;

/** Whether a byte can be the first of several. */
export const canBegin = (byte: number): boolean => byte >= 0xc2 && byte <= 0xf4;

export function createDecoder(take: (code: number) => void): Utf8Decoder {
  let code = 0;
  /** How many bytes the code point still needs, and between what the next one has to be. */
  let missing = 0;
  let lowest = 0x80;
  let highest = 0xbf;
  const begin = (bits: number, more: number) => {
    code = bits;
    missing = more;
  };
  const start = (byte: number) => {
    if (!canBegin(byte)) return take(byte < 0x80 ? byte : invalid);
    if (byte <= 0xdf) return begin(byte & 0x1f, 1);
    if (byte <= 0xef) {
      // Neither longer than it has to be, nor half of a surrogate pair.
      if (byte === 0xe0) lowest = 0xa0;
      if (byte === 0xed) highest = 0x9f;
      return begin(byte & 0x0f, 2);
    }
    if (byte === 0xf0) lowest = 0x90;
    if (byte === 0xf4) highest = 0x8f;
    begin(byte & 0x07, 3);
  };
  return {
    get isBetween() {
      return missing === 0;
    },
    push(byte) {
      if (missing === 0) return start(byte);
      const isPart = byte >= lowest && byte <= highest;
      lowest = 0x80;
      highest = 0xbf;
      if (!isPart) {
        missing = 0;
        take(invalid);
        return start(byte);
      }
      code = (code << 6) | (byte & 0x3f);
      if (--missing === 0) take(code);
    },
    end() {
      if (missing > 0) take(invalid);
      missing = 0;
    },
  };
}

/** Writes a code point at `index`, and returns where the next one goes. */
export function encode(code: number, into: Uint8Array, index: number): number {
  if (code < 0x80) {
    into[index++] = code;
    return index;
  }
  if (code < 0x800) {
    into[index++] = 0xc0 | (code >> 6);
  } else if (code < 0x10000) {
    into[index++] = 0xe0 | (code >> 12);
    into[index++] = 0x80 | ((code >> 6) & 0x3f);
  } else {
    into[index++] = 0xf0 | (code >> 18);
    into[index++] = 0x80 | ((code >> 12) & 0x3f);
    into[index++] = 0x80 | ((code >> 6) & 0x3f);
  }
  into[index++] = 0x80 | (code & 0x3f);
  return index;
}

/** The first index from `from` on where a code point begins. */
export function nextBoundary(bytes: Uint8Array, from: number): number {
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;
  return from;
}

/** The last index up to `to` where a code point begins, or the end. */
export function lastBoundary(bytes: Uint8Array, to: number): number {
  if (to >= bytes.length) return bytes.length;
  while (to > 0 && (bytes[to]! & 0xc0) === 0x80) to--;
  return to;
}

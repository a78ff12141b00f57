/**
 * Messages between the host and the process of an extension: a length of four bytes, then JSON. Each side takes the other for
 * an enemy: a frame that is too long or no JSON ends the connection, and so does a key that would name a prototype.
 */

/** The limit of what the process of an extension sends at once: more than the largest result that a model could be shown. */
export const maxFrameBytes = 32 * 1024 * 1024;

const headerBytes = 4;

/** Why a connection cannot continue. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

export const encodeFrame = (message: unknown): Buffer => encodeText(JSON.stringify(message));

/** Frames a message that is JSON already. Throws `FrameError` for a message that the other side would refuse. */
export function encodeText(json: string): Buffer {
  const length = Buffer.byteLength(json);
  if (length > maxFrameBytes) throw new FrameError(`A message of ${length} bytes is too large to be passed on.`);
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame.writeUInt32BE(length);
  frame.write(json, headerBytes);
  return frame;
}

/** Deeper values make code fail that walks through them. */
const maxDepth = 64;

/** A message of 30 MB can have ten million values, which take 800 MB of memory and seconds to read. */
export const maxValues = 500_000;

/** A message of this size cannot have too many values: each takes two bytes at least. */
const maxUncountedBytes = 2 * maxValues;

/** Puts frames together that arrive in pieces. */
export class FrameReader {
  readonly #isBounded: boolean;
  #pieces: Buffer[] = [];
  #length = 0;
  #values = 0;

  /** `isBounded`: a message may have at most 64 levels and `maxValues` values. Default false. */
  constructor({ isBounded = false } = {}) {
    this.#isBounded = isBounded;
  }

  /** How many values all messages so far had. Only where it is bounded. */
  get values(): number {
    return this.#values;
  }

  /** The messages that are whole now. Throws `FrameError`, after which the connection must be closed. */
  push(piece: Buffer): unknown[] {
    // Most frames arrive whole and alone.
    if (this.#length === 0 && piece.length >= headerBytes && piece.length === headerBytes + readLength(piece)) {
      return [this.#parse(piece.subarray(headerBytes))];
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
    const messages: unknown[] = [];
    for (;;) {
      if (this.#length < headerBytes) return messages;
      const end = headerBytes + readLength(this.#join(headerBytes));
      if (this.#length < end) return messages;
      const bytes = this.#join(end);
      messages.push(this.#parse(bytes.subarray(headerBytes, end)));
      this.#pieces = bytes.length > end ? [bytes.subarray(end)] : [];
      this.#length -= end;
    }
  }

  #parse(json: Buffer): unknown {
    if (!this.#isBounded) return parseMessage(json.toString("utf8"));
    // Before it is read: reading it is what takes the time and the memory.
    if (json.length > maxUncountedBytes && countSeparators(json) > maxValues)
      throw new FrameError("It sent a message with too many values.");
    const message = parseMessage(json.toString("utf8"));
    this.#values += countValues(message, maxDepth);
    return message;
  }

  /** The first piece, made at least so long. Pieces are joined once for a frame, not once for each piece. */
  #join(length: number): Buffer {
    if (this.#pieces[0]!.length < length) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }
}

/** Throws `FrameError` if it has more levels. */
function countValues(value: unknown, levels: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (levels === 0) throw new FrameError("It sent a message with too many levels.");
  let count = 1;
  for (const field of Array.isArray(value) ? value : Object.values(value)) count += countValues(field, levels - 1);
  return count;
}

const [quote, backslash, comma, bracket, brace] = Buffer.from(`"\\,[{`);

/** Commas and opening brackets outside of texts: as many as there are values, and an empty list or object counts twice. */
function countSeparators(json: Buffer): number {
  let count = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (byte === quote) index = findTextEnd(json, index + 1);
    else if (byte === comma || byte === bracket || byte === brace) count++;
  }
  return count;
}

/** The index of the quote that ends a text; the length of the whole if none does. */
function findTextEnd(json: Buffer, start: number): number {
  for (let from = start; ;) {
    const end = json.indexOf(quote!, from);
    if (end === -1) return json.length;
    let backslashes = 0;
    while (json[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
    from = end + 1;
  }
}

function readLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  if (length > maxFrameBytes) throw new FrameError(`It sent a message of ${length} bytes, which is too large.`);
  return length;
}

/** A cheap look first: few messages have the word in them, or escapes that could hide it. */
const mayNamePrototype = (json: string): boolean => json.includes("__proto__") || json.includes("\\u00");

/** Throws `FrameError` for what is no JSON, and for a key `__proto__`, which would become a prototype when copied. */
export function parseMessage(json: string): unknown {
  try {
    return mayNamePrototype(json) ? JSON.parse(json, refusePrototype) : JSON.parse(json);
  } catch (error) {
    if (error instanceof FrameError) throw error;
    throw new FrameError("It sent a message that is not JSON.", { cause: error });
  }
}

function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new FrameError("It sent a message with the key __proto__.");
  return value;
}

/**
 * Messages between the host and the process of an extension: a length of four bytes, then JSON. Each side takes the other for
 * an enemy: a frame that is too long or no JSON ends the connection, and so does a key that would name a prototype.
 */

/** What the process of an extension may send at once: the largest result that a model could be shown, and more. */
export const maxFrameBytes = 32 * 1024 * 1024;

const headerBytes = 4;

/** Why a connection cannot go on. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

export const encodeFrame = (message: unknown): Buffer => encodeText(JSON.stringify(message));

/** Of a message that is JSON already. Throws `FrameError` for one that the other side would refuse. */
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

/** Puts frames together that arrive in pieces. */
export class FrameReader {
  readonly #isBounded: boolean;
  #pieces: Buffer[] = [];
  #length = 0;

  /** `isBounded`: values may have at most 64 levels. Default false. */
  constructor({ isBounded = false } = {}) {
    this.#isBounded = isBounded;
  }

  /** The messages that are whole now. Throws `FrameError`, after which the connection must be closed. */
  push(piece: Buffer): unknown[] {
    // Most frames arrive whole and alone.
    if (this.#length === 0 && piece.length >= headerBytes && piece.length === headerBytes + readLength(piece)) {
      return [this.#parse(piece.toString("utf8", headerBytes))];
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
    const messages: unknown[] = [];
    for (;;) {
      if (this.#length < headerBytes) return messages;
      const end = headerBytes + readLength(this.#join(headerBytes));
      if (this.#length < end) return messages;
      const bytes = this.#join(end);
      messages.push(this.#parse(bytes.toString("utf8", headerBytes, end)));
      this.#pieces = bytes.length > end ? [bytes.subarray(end)] : [];
      this.#length -= end;
    }
  }

  #parse(json: string): unknown {
    const message = parseMessage(json);
    if (this.#isBounded && isTooDeep(message, maxDepth))
      throw new FrameError("It sent a message with too many levels.");
    return message;
  }

  /** The first piece, made at least so long. Pieces are joined once for a frame, not once for each piece. */
  #join(length: number): Buffer {
    if (this.#pieces[0]!.length < length) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const field of Array.isArray(value) ? value : Object.values(value))
    if (isTooDeep(field, levels - 1)) return true;
  return false;
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

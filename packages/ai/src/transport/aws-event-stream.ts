/**
 * Parses AWS's binary event stream. A message has lengths, headers, a payload and two checksums.
 * https://smithy.io/2.0/aws/amazon-eventstream.html describes the layout.
 */
import { getErrorMessage } from "../errors.ts";
import type { Frame, Framer } from "../protocols/protocol.ts";
import { asRecord, asString } from "../json.ts";

/** Total length, header length, and the checksum of these two. */
const preludeBytes = 12;
const checksumBytes = 4;
/** AWS's limit; a longer message means that the stream is damaged. */
const maxMessageLength = 24 * 1024 * 1024;

/**
 * Splits bytes into frames. The frame of an event has its type and its parsed payload; an exception or an error becomes
 * `{ event: "exception", data: { type, message } }`. Never throws on invalid input: `damage` then says what is wrong,
 * and all further input is ignored.
 */
export class AwsEventStreamFramer implements Framer {
  readonly #pending = new ByteQueue();
  /** The number of bytes needed for the next prelude or, once that is read, for the whole message. */
  #neededBytes = preludeBytes;
  #damage: string | undefined;

  get damage(): string | undefined {
    return this.#damage;
  }

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    if (this.#damage !== undefined) return frames;
    this.#pending.push(chunk);
    while (this.#damage === undefined && this.#pending.length >= this.#neededBytes) {
      if (this.#neededBytes === preludeBytes) {
        this.#readPrelude(this.#pending.peek(preludeBytes));
        continue;
      }
      const message = this.#pending.take(this.#neededBytes);
      this.#neededBytes = preludeBytes;
      const frame = readMessage(message);
      if (typeof frame === "string") this.#damage = `The event stream is damaged: ${frame}.`;
      else frames.push(frame);
    }
    return frames;
  }

  end(): Frame[] {
    if (this.#pending.length > 0) this.#damage ??= "The event stream ends in the middle of a message.";
    return [];
  }

  #readPrelude(prelude: Uint8Array): void {
    const view = createView(prelude);
    const total = view.getUint32(0);
    const headers = view.getUint32(4);
    const fits = total <= maxMessageLength && headers <= total - preludeBytes - checksumBytes;
    if (fits && crc32(prelude.subarray(0, 8)) === view.getUint32(8)) this.#neededBytes = total;
    else this.#damage = "The event stream is damaged: the head of a message does not match its checksum.";
  }
}

/** Reads a complete message whose prelude was already checked. Returns its frame, or what is wrong with it. */
function readMessage(message: Uint8Array): Frame | string {
  const view = createView(message);
  const payloadStart = preludeBytes + view.getUint32(4);
  const end = message.length - checksumBytes;
  if (crc32(message.subarray(0, end)) !== view.getUint32(end)) return "a message does not match its checksum";
  const headers = readHeaders(message.subarray(preludeBytes, payloadStart));
  if (!headers) return "the headers of a message cannot be read";
  const payload = decoder.decode(message.subarray(payloadStart, end));
  const failure = headers.get(":exception-type") ?? headers.get(":error-code");
  if (failure !== undefined || headers.get(":message-type") === "error") {
    return { event: "exception", data: { type: failure ?? "", message: describeError(headers, payload) } };
  }
  const event = headers.get(":event-type") ?? "";
  if (payload === "" || !isJson(headers)) return { event, data: payload };
  const json = parseJson(payload);
  return "problem" in json
    ? `the payload of ${JSON.stringify(event)} is not JSON (${json.problem})`
    : { event, ...json };
}

const isJson = (headers: ReadonlyMap<string, string>): boolean =>
  (headers.get(":content-type") ?? "application/json").startsWith("application/json");

function describeError(headers: ReadonlyMap<string, string>, payload: string): string {
  const json = parseJson(payload);
  const error = "problem" in json ? {} : asRecord(json.data);
  const message = asString(error["message"]) || asString(error["Message"]) || payload;
  return headers.get(":error-message") ?? message.slice(0, 2_000);
}

function parseJson(source: string): { data: unknown } | { problem: string } {
  try {
    return { data: JSON.parse(source) as unknown };
  } catch (error) {
    // Besides a SyntaxError, deep nesting may overflow the stack.
    return { problem: getErrorMessage(error) };
  }
}

/** The sizes of header values by type. Types 6 (bytes) and 7 (string) have a length prefix instead. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const stringType = 7;

/** The string headers; undefined if the header block is truncated or has an unknown type. */
function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  const view = createView(bytes);
  const headers = new Map<string, string>();
  let offset = 0;
  while (offset < bytes.length) {
    const nameEnd = offset + 1 + view.getUint8(offset);
    if (nameEnd + 1 > bytes.length) return undefined;
    const type = view.getUint8(nameEnd);
    let valueStart = nameEnd + 1;
    let size = fixedSizes[type];
    if (type === 6 || type === stringType) {
      if (valueStart + 2 > bytes.length) return undefined;
      size = view.getUint16(valueStart);
      valueStart += 2;
    }
    if (size === undefined || valueStart + size > bytes.length) return undefined;
    if (type === stringType) {
      const name = decoder.decode(bytes.subarray(offset + 1, nameEnd));
      headers.set(name, decoder.decode(bytes.subarray(valueStart, valueStart + size)));
    }
    offset = valueStart + size;
  }
  return headers;
}

const decoder = new TextDecoder();

const createView = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A byte buffer for incomplete messages. The work is linear in the bytes, however small the chunks. */
class ByteQueue {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#reserve(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The first bytes, without removing them. Valid until the next call. */
  peek(count: number): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#start + count);
  }

  /** Removes and returns the first bytes. Valid until the next call. */
  take(count: number): Uint8Array {
    const taken = this.peek(count);
    this.#start += count;
    return taken;
  }

  #reserve(additionalBytes: number): void {
    const { length } = this;
    const capacity = (length + additionalBytes) * 2;
    // The buffer is reused only if it is at most half full, so that bytes are not moved again and again.
    const target = capacity <= this.#bytes.length ? this.#bytes : new Uint8Array(capacity);
    target.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = target;
    this.#start = 0;
    this.#end = length;
  }
}

let table: Uint32Array | undefined;

/** CRC-32 as in zlib. `zlib.crc32` exists since Node 20.15, but not in browsers. */
function crc32(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_unused, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

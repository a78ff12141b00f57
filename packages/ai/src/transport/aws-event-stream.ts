/**
 * AWS's binary event stream: lengths, headers and a payload, each message guarded by two checksums.
 * https://smithy.io/2.0/aws/amazon-eventstream.html describes the layout.
 */
import { getErrorMessage } from "../errors.ts";
import type { Frame } from "../protocols/protocol.ts";
import { asRecord, asString } from "../protocols/read.ts";

/** Total length, header length, and the checksum of these two. */
const preludeBytes = 12;
const checksumBytes = 4;
/** The longest message that AWS allows; more is damage. */
const maxMessageLength = 24 * 1024 * 1024;

/**
 * Cuts bytes into frames. An event's frame carries its type and its parsed payload; an exception or an error becomes
 * `{ event: "exception", data: { type, message } }`. Never throws on what a server sends: `damage` says what is wrong,
 * and from then on nothing more is read.
 */
export class AwsEventStreamFramer {
  readonly #pending = new ByteQueue();
  /** How many bytes the next message, or at first its prelude, still needs before there is something to read. */
  #wanted = preludeBytes;
  #damage: string | undefined;

  get damage(): string | undefined {
    return this.#damage;
  }

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    if (this.#damage !== undefined) return frames;
    this.#pending.push(chunk);
    while (this.#damage === undefined && this.#pending.length >= this.#wanted) {
      if (this.#wanted === preludeBytes) {
        this.#readPrelude(this.#pending.peek(preludeBytes));
        continue;
      }
      const message = this.#pending.take(this.#wanted);
      this.#wanted = preludeBytes;
      const read = readMessage(message);
      if (typeof read === "string") this.#damage = `The event stream is damaged: ${read}.`;
      else frames.push(read);
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
    if (fits && crc32(prelude.subarray(0, 8)) === view.getUint32(8)) this.#wanted = total;
    else this.#damage = "The event stream is damaged: the head of a message does not match its checksum.";
  }
}

/** One whole message whose prelude is known to be right, or what is wrong with the rest. */
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
    return { event: "exception", data: { type: failure ?? "", message: explain(headers, payload) } };
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

function explain(headers: ReadonlyMap<string, string>, payload: string): string {
  const json = parseJson(payload);
  const said =
    "problem" in json ? payload : asString(asRecord(json.data)["message"]) || asString(asRecord(json.data)["Message"]);
  return headers.get(":error-message") ?? (said || payload).slice(0, 2_000);
}

function parseJson(source: string): { data: unknown } | { problem: string } {
  try {
    return { data: JSON.parse(source) as unknown };
  } catch (error) {
    // Not only a SyntaxError: nesting that overflows the stack is no better.
    return { problem: getErrorMessage(error) };
  }
}

/** Bytes of a header's value by its type, where the type fixes them. Type 6 is bytes and 7 a string, with a length. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const stringType = 7;

/** The headers that are strings; undefined where the block is cut or of a kind that nobody knows. */
function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  const view = createView(bytes);
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + view.getUint8(at);
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
      const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
      headers.set(name, decoder.decode(bytes.subarray(valueStart, valueStart + size)));
    }
    at = valueStart + size;
  }
  return headers;
}

const decoder = new TextDecoder();

const createView = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes that wait for the rest of their message. Each is copied a fixed number of times, however small the chunks. */
class ByteQueue {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The first bytes, which stay. Valid until the next call. */
  peek(count: number): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#start + count);
  }

  /** The first bytes, which go. Valid until the next call. */
  take(count: number): Uint8Array {
    const taken = this.peek(count);
    this.#start += count;
    return taken;
  }

  #makeRoom(more: number): void {
    const { length } = this;
    // Moving to the front is cheap only while what waits is a small part of the room.
    const room = (length + more) * 2 <= this.#bytes.length ? this.#bytes : new Uint8Array((length + more) * 2);
    room.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = room;
    this.#start = 0;
    this.#end = length;
  }
}

let table: Uint32Array | undefined;

/** CRC-32 as zlib computes it. Node has it natively only from 20.15 on, and a browser not at all. */
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

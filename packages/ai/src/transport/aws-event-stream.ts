/**
 * AWS's binary event stream: a length, a header block and a payload, each message guarded by two checksums.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html describes the layout.
 */
import type { Frame } from "../protocols/protocol.ts";

const preludeBytes = 12;
const checksumBytes = 4;
/** AWS allows 16 MiB of payload; more is damage. */
const longestMessage = 24 * 1024 * 1024;

/** Cuts bytes into frames. `event` is the event's or the exception's type; exceptions are told apart by their `data`. */
export class AwsEventStreamFramer {
  #pending: Uint8Array = new Uint8Array(0);
  #damage: string | undefined;

  get damage(): string | undefined {
    return this.#damage;
  }

  push(chunk: Uint8Array): Frame[] {
    this.#pending = this.#pending.length === 0 ? chunk : concat(this.#pending, chunk);
    const frames: Frame[] = [];
    while (this.#damage === undefined && this.#pending.length >= preludeBytes) {
      const view = viewOf(this.#pending);
      const total = view.getUint32(0);
      if (crc32(this.#pending.subarray(0, 8)) !== view.getUint32(8) || total < 16 || total > longestMessage) {
        this.#damage = "The event stream is damaged: a message's head does not match its checksum.";
        break;
      }
      if (this.#pending.length < total) break;
      const frame = this.#readMessage(this.#pending.subarray(0, total));
      this.#pending = this.#pending.subarray(total);
      if (frame) frames.push(frame);
    }
    return frames;
  }

  end(): Frame[] {
    if (this.#pending.length > 0) this.#damage ??= "The event stream ends in the middle of a message.";
    return [];
  }

  #readMessage(message: Uint8Array): Frame | undefined {
    const view = viewOf(message);
    const headersEnd = preludeBytes + view.getUint32(4);
    const end = message.length - checksumBytes;
    if (headersEnd > end || crc32(message.subarray(0, end)) !== view.getUint32(end)) {
      this.#damage = "The event stream is damaged: a message does not match its checksum.";
      return undefined;
    }
    const headers = readHeaders(message.subarray(preludeBytes, headersEnd));
    const payload = new TextDecoder().decode(message.subarray(headersEnd, end));
    const data = parsePayload(payload);
    const exception = headers[":exception-type"] ?? headers[":error-code"];
    if (exception) return { event: "exception", data: { type: exception, message: headers[":error-message"] ?? data } };
    return { event: headers[":event-type"] ?? "", data };
  }
}

function parsePayload(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (error) {
    if (error instanceof SyntaxError) return payload;
    throw error;
  }
}

/** Sizes of the fixed-length header types; type 6 is bytes and 7 is a string, both with a 16-bit length. */
const fixedSizes: Record<number, number> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

function readHeaders(bytes: Uint8Array): Record<string, string> {
  const view = viewOf(bytes);
  const headers: Record<string, string> = {};
  const decoder = new TextDecoder();
  let at = 0;
  while (at < bytes.length) {
    const nameLength = view.getUint8(at);
    const name = decoder.decode(bytes.subarray(at + 1, at + 1 + nameLength));
    at += 1 + nameLength;
    const type = view.getUint8(at++);
    const fixed = fixedSizes[type];
    if (fixed !== undefined) {
      at += fixed;
      continue;
    }
    const length = view.getUint16(at);
    at += 2;
    if (type === 7) headers[name] = decoder.decode(bytes.subarray(at, at + length));
    at += length;
  }
  return headers;
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

let table: Uint32Array | undefined;

/** CRC-32 as zlib computes it. Node has it natively only from 20.15 on, and a browser not at all. */
export function crc32(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_unused, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

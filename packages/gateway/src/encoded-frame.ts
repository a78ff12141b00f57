/**
 * Frames as bytes, with the header of a WebSocket message before them. `ws` would make a header for each client and write it
 * as a piece of its own, which costs more than all else that the gateway does for an event with many followers.
 */
import { stringifyJson } from "@tau/ai/internal";
import type { EventFrame, ResponseFrame } from "@tau/protocol/gateway";

/** A frame that is encoded once, and shared by all clients that get it. */
export interface EncodedFrame {
  readonly json: Buffer;
  /** The bytes of `json` as a text message of a server: whole, without a mask and not compressed (RFC 6455, 5.2). */
  readonly message: Buffer;
}

export const encodeFrame = (frame: EventFrame | ResponseFrame): EncodedFrame => encodeJson(stringifyJson(frame));

export function encodeJson(json: string | Uint8Array): EncodedFrame {
  const bytes = Buffer.from(json);
  const header = createHeader(bytes.length);
  const message = Buffer.concat([header, bytes]);
  return { json: message.subarray(header.length), message };
}

const lastFragmentOfText = 0x81;

function createHeader(length: number): Buffer {
  if (length < 126) return Buffer.from([lastFragmentOfText, length]);
  if (length < 2 ** 16) {
    const header = Buffer.from([lastFragmentOfText, 126, 0, 0]);
    header.writeUInt16BE(length, 2);
    return header;
  }
  const header = Buffer.from([lastFragmentOfText, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

import { EventStreamCodec } from "@smithy/eventstream-codec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Frame } from "../protocols/protocol.ts";
import { awsEvent, awsMessage } from "../testing/dialects/bedrock-converse-stream.ts";
import { AwsEventStreamFramer } from "./aws-event-stream.ts";

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
);

const string = (value: string) => ({ type: "string" as const, value });

/** A message encoded by AWS's own codec. */
const encode = (headers: Parameters<typeof codec.encode>[0]["headers"], payload: string) =>
  codec.encode({ headers, body: new TextEncoder().encode(payload) });

const event = (type: string, payload: unknown) =>
  encode(
    { ":event-type": string(type), ":content-type": string("application/json"), ":message-type": string("event") },
    JSON.stringify(payload),
  );

function read(chunks: Iterable<Uint8Array>): { frames: Frame[]; damage: string | undefined } {
  const framer = new AwsEventStreamFramer();
  const frames: Frame[] = [];
  for (const chunk of chunks) frames.push(...framer.push(chunk));
  frames.push(...framer.end());
  return { frames, damage: framer.damage };
}

const concat = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

const expectedFrames: Frame[] = [
  { event: "messageStart", data: { role: "assistant" } },
  { event: "contentBlockDelta", data: { contentBlockIndex: 0, delta: { text: "Grüße 🌍" } } },
  { event: "messageStop", data: { stopReason: "end_turn" } },
];
const bytes = concat(...expectedFrames.map(({ event: type, data }) => event(type!, data)));

describe("compatibility with AWS's own codec", () => {
  test("messages encoded by the codec are read", () => {
    expect(read([bytes])).toEqual({ frames: expectedFrames, damage: undefined });
  });

  test("messages of the test server equal those of the codec, byte for byte", () => {
    for (const { event: type, data } of expectedFrames) {
      expect(new Uint8Array(awsEvent(type!, data as object))).toEqual(event(type!, data));
      const { headers, body } = codec.decode(awsEvent(type!, data as object));
      expect(headers[":event-type"]).toEqual(string(type!));
      expect(JSON.parse(new TextDecoder().decode(body))).toEqual(data);
    }
  });

  test("headers of every type are skipped", () => {
    const message = encode(
      {
        yes: { type: "boolean", value: true },
        no: { type: "boolean", value: false },
        byte: { type: "byte", value: 1 },
        short: { type: "short", value: 2 },
        integer: { type: "integer", value: 3 },
        binary: { type: "binary", value: new Uint8Array([1, 2, 3]) },
        when: { type: "timestamp", value: new Date(0) },
        uuid: { type: "uuid", value: "00000000-0000-0000-0000-000000000000" },
        ":event-type": string("late"),
      },
      "{}",
    );
    expect(read([message])).toEqual({ frames: [{ event: "late", data: {} }], damage: undefined });
  });
});

describe("it makes no difference how a stream is split", () => {
  test("at every byte", () => {
    for (let offset = 0; offset <= bytes.length; offset++) {
      expect(read([bytes.subarray(0, offset), bytes.subarray(offset)])).toEqual({
        frames: expectedFrames,
        damage: undefined,
      });
    }
  });

  test("into single bytes", () => {
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ frames: expectedFrames, damage: undefined });
  });

  test("a stream that ends inside a message is damaged, and the messages before it are kept", () => {
    const firstLength = event("messageStart", expectedFrames[0]!.data).length;
    for (let end = firstLength + 1; end < firstLength + 30; end++) {
      const { frames, damage } = read([bytes.subarray(0, end)]);
      expect(frames).toEqual(expectedFrames.slice(0, 1));
      expect(damage).toMatch(/ends in the middle/);
    }
  });
});

describe("errors and invalid input", () => {
  test("exceptions and errors have their type and message", () => {
    const exception = encode(
      { ":message-type": string("exception"), ":exception-type": string("throttlingException") },
      '{"message":"slow down"}',
    );
    const error = encode(
      {
        ":message-type": string("error"),
        ":error-code": string("InternalFailure"),
        ":error-message": string("it broke"),
      },
      "",
    );
    const bare = awsMessage({ ":message-type": "exception", ":exception-type": "oddException" }, "<not json>");
    expect(read([exception, error, bare]).frames).toEqual([
      { event: "exception", data: { type: "throttlingException", message: "slow down" } },
      { event: "exception", data: { type: "InternalFailure", message: "it broke" } },
      { event: "exception", data: { type: "oddException", message: "<not json>" } },
    ]);
  });

  test("a flipped bit anywhere is detected, and nothing after it is read", () => {
    const message = event("contentBlockDelta", expectedFrames[1]!.data);
    for (let index = 0; index < message.length; index++) {
      const broken = Uint8Array.from(message);
      broken[index]! ^= 0x10;
      const { frames, damage } = read([broken, message]);
      expect(frames).toEqual([]);
      expect(damage).toBeDefined();
    }
  });

  test("truncated header blocks with matching checksums are detected", () => {
    const [head] = headerBlock({ ":event-type": "contentBlockDelta", ":message-type": "event" });
    for (let length = 1; length < head.length; length++) {
      const { frames, damage } = read([createMessage(head.subarray(0, length), "{}")]);
      if (damage === undefined) expect(frames).toEqual([{ event: "contentBlockDelta", data: {} }]);
      else expect(damage).toMatch(/headers/);
    }
  });

  test("a header of an unknown type is detected", () => {
    expect(read([createMessage(Uint8Array.of(1, 65, 99), "{}")]).damage).toMatch(/headers/);
  });

  test("impossible lengths are detected at once, without waiting for gigabytes", () => {
    for (const [total, headers] of [
      [0, 0],
      [15, 0],
      [16, 1],
      [100, 90],
      [0xffffffff, 0],
    ] as const) {
      const prelude = new Uint8Array(12);
      const view = new DataView(prelude.buffer);
      view.setUint32(0, total);
      view.setUint32(4, headers);
      view.setUint32(8, getCrc(prelude.subarray(0, 8)));
      const framer = new AwsEventStreamFramer();
      expect(framer.push(prelude)).toEqual([]);
      expect(framer.damage).toBeDefined();
    }
  });

  test("an invalid JSON payload is detected; an empty payload and other content types are accepted", () => {
    expect(read([awsMessage({ ":event-type": "x" }, "{")]).damage).toMatch(/not JSON/);
    expect(read([awsMessage({ ":event-type": "x" }, "")]).frames).toEqual([{ event: "x", data: "" }]);
    const plain = awsMessage({ ":event-type": "x", ":content-type": "text/plain" }, "hello");
    expect(read([plain]).frames).toEqual([{ event: "x", data: "hello" }]);
  });

  test("100,000 levels of JSON and `__proto__` keys are harmless", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(() => read([awsMessage({ ":event-type": "x" }, deep)])).not.toThrow();
    const { frames } = read([awsMessage({ ":event-type": "__proto__", __proto__x: "y" }, '{"__proto__":{"bad":1}}')]);
    expect(frames).toHaveLength(1);
    expect(({} as { bad?: number }).bad).toBeUndefined();
  });

  test("random bytes, with and without valid checksums, never throw", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (chunks) => {
        read(chunks);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.string(), (head, payload) => {
        read([createMessage(head, payload)]);
      }),
    );
  });
});

test("the work is linear in the number of bytes, however small the chunks", () => {
  const measureCpu = (size: number): number => {
    const message = event("contentBlockDelta", { delta: { text: "x".repeat(size) } });
    const framer = new AwsEventStreamFramer();
    const before = process.cpuUsage();
    let frames = 0;
    for (let start = 0; start < message.length; start += 16) {
      frames += framer.push(message.subarray(start, start + 16)).length;
    }
    expect(frames).toBe(1);
    const spent = process.cpuUsage(before);
    return spent.user + spent.system;
  };
  measureCpu(1_000_000);
  const small = Math.min(measureCpu(1_000_000), measureCpu(1_000_000));
  const large = Math.min(measureCpu(8_000_000), measureCpu(8_000_000));
  // Eight times the bytes. Copying the whole buffer for every chunk would be sixty-four times the work.
  expect(large).toBeLessThan(small * 24);
});

/** A message with the given header block and matching checksums. */
function createMessage(head: Uint8Array, payload: string): Uint8Array {
  const body = new TextEncoder().encode(payload);
  const message = new Uint8Array(16 + head.length + body.length);
  const view = new DataView(message.buffer);
  view.setUint32(0, message.length);
  view.setUint32(4, head.length);
  view.setUint32(8, getCrc(message.subarray(0, 8)));
  message.set(head, 12);
  message.set(body, 12 + head.length);
  view.setUint32(message.length - 4, getCrc(message.subarray(0, -4)));
  return message;
}

/** A block of string headers, extracted from a message of AWS's codec. */
function headerBlock(headers: Record<string, string>): [Uint8Array] {
  const message = encode(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, string(value)])), "");
  return [message.subarray(12, -4)];
}

/** CRC-32 by its definition, independent of the code under test. */
function getCrc(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return (crc ^ 0xffffffff) >>> 0;
}

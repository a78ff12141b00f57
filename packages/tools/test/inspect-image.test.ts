/** Images and what is written in them, among them broken and hostile ones. */
import { deflateSync } from "node:zlib";
import { systemClock } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inspectImage } from "../src/index.ts";
import { readExif } from "../src/files/exif.ts";
import { getPalette } from "../src/files/palette.ts";

const inspect = (bytes: Uint8Array) => inspectImage(bytes, { clock: systemClock, signal: undefined, path: "a" });

type Value = string | number | readonly [number, number];
type Tags = readonly (readonly [tag: number, value: Value])[];

/** A block of EXIF with two tables: `second` is the one that the first points to. */
function createExif(first: Tags, second: Tags = []): Buffer {
  const all = second.length > 0 ? [...first, [0x8769, 8 + tableLength(first.length + 1)] as const] : first;
  const tables = [all, second].filter((tags) => tags.length > 0);
  const start = 8 + tables.reduce((length, tags) => length + tableLength(tags.length), 0);
  const extra: Buffer[] = [];
  const end = () => start + extra.reduce((length, { length: more }) => length + more, 0);
  const table = (tags: Tags) => {
    const bytes = Buffer.alloc(tableLength(tags.length));
    bytes.writeUInt16LE(tags.length, 0);
    for (const [index, [tag, value]] of tags.entries()) {
      const at = 2 + index * 12;
      bytes.writeUInt16LE(tag, at);
      if (typeof value === "number") {
        bytes.writeUInt16LE(4, at + 2);
        bytes.writeUInt32LE(1, at + 4);
        bytes.writeUInt32LE(value, at + 8);
        continue;
      }
      const data = typeof value === "string" ? Buffer.from(`${value}\0`) : Buffer.alloc(8);
      if (typeof value !== "string") {
        data.writeUInt32LE(value[0], 0);
        data.writeUInt32LE(value[1], 4);
      }
      bytes.writeUInt16LE(typeof value === "string" ? 2 : 5, at + 2);
      bytes.writeUInt32LE(typeof value === "string" ? data.length : 1, at + 4);
      if (data.length <= 4) data.copy(bytes, at + 8);
      else {
        bytes.writeUInt32LE(end(), at + 8);
        extra.push(data);
      }
    }
    return bytes;
  };
  return Buffer.concat([Buffer.from("49492a0008000000", "hex"), ...tables.map(table), ...extra]);
}

const tableLength = (entries: number) => 2 + entries * 12 + 4;

const photo = createExif(
  [
    [0x010f, "Camera Works"],
    [0x0110, "X-1"],
    [0x8825, 26],
  ],
  [
    [0x829a, [1, 250]],
    [0x829d, [28, 10]],
    [0x8827, 400],
    [0x9003, "2026:01:02 03:04:05"],
  ],
);
const exifFields = [
  ["make", "Camera Works"],
  ["model", "X-1"],
  ["exposure time", "1/250"],
  ["f-number", "2.8"],
  ["iso", "400"],
  ["taken", "2026:01:02 03:04:05"],
];

function chunk(name: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(name), data, crc(Buffer.concat([Buffer.from(name), data]))]);
}

function crc(data: Buffer): Buffer {
  let value = 0xffffffff;
  for (const byte of data) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (0xedb88320 & -(value & 1));
  }
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((value ^ 0xffffffff) >>> 0);
  return bytes;
}

/** A picture whose upper half is red and whose lower half is blue. */
function createPng(width: number, height: number, ...more: Buffer[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: height }, (_, row) =>
    Buffer.concat([
      Buffer.of(0),
      ...Array.from({ length: width }, () => Buffer.of(row < height / 2 ? 255 : 0, 0, row < height / 2 ? 0 : 255)),
    ]),
  );
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    ...more,
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The header of a JPEG up to its data, which is missing. */
const createJpeg = (exif: Buffer, width = 30, height = 20): Buffer => {
  const block = Buffer.concat([Buffer.from("Exif\0\0"), exif]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(block.length + 2);
  const frame = Buffer.from("ffc0000b0800000000010111000", "hex").subarray(0, 13);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([
    Buffer.from("ffd8ffe1", "hex"),
    length,
    block,
    frame,
    Buffer.from("ffda0008", "hex"),
    Buffer.alloc(8),
  ]);
};

const tiff = createExif([
  [0x0100, 640],
  [0x0101, 480],
  [0x0131, "Scanner"],
]);

test("a picture has its size, what the camera wrote, and its colours, without the location", async () => {
  const facts = await inspect(createPng(40, 20, chunk("eXIf", photo)));
  expect(facts).toMatchObject({ type: "image/png", width: 40, height: 20 });
  expect(facts.exif).toEqual({ fields: exifFields, hasLocation: true });
  expect(facts.palette).toEqual([
    { colour: "#ff0000", share: 0.5 },
    { colour: "#0000ff", share: 0.5 },
  ]);
});

test("a JPEG and a TIFF are described by their headers, also if their pixels cannot be read", async () => {
  expect(await inspect(createJpeg(photo))).toEqual({
    type: "image/jpeg",
    width: 30,
    height: 20,
    exif: { fields: exifFields, hasLocation: true },
    palette: undefined,
  });
  expect(await inspect(tiff)).toMatchObject({
    type: "image/tiff",
    width: 640,
    height: 480,
    exif: { fields: [["software", "Scanner"]], hasLocation: false },
  });
});

test.each([
  ["gif", "47494638396102000300800000ff0000000000", { type: "image/gif", width: 2, height: 3 }],
  [
    "webp",
    `52494646${"1e000000"}57454250565038580a000000000000000100000200000000`,
    { type: "image/webp", width: 2, height: 3 },
  ],
  [
    "bmp",
    `424d${"00".repeat(12)}28000000${"02000000"}${"fdffffff"}${"00".repeat(28)}`,
    { type: "image/bmp", width: 2, height: 3 },
  ],
])("the size of a %s is in its header", async (_what, hex, facts) => {
  expect(await inspect(Buffer.from(hex, "hex"))).toMatchObject(facts);
});

describe("broken files", () => {
  const png = createPng(4, 4, chunk("eXIf", photo));
  const lying = createPng(4, 4);
  lying.writeUInt32BE(0x7fffffff, 16);
  lying.writeUInt32BE(0x7fffffff, 20);
  const loop = createExif([[0x010f, "Loop"]], [[0x8827, 1]]);
  loop.writeUInt32LE(8, 8 + 2 + 12 + 8);
  const outside = createExif([[0x010f, "Long enough"]]);
  outside.writeUInt32LE(0xffffffff, 8 + 2 + 8);
  const many = Buffer.from("49492a0008000000ffff", "hex");

  test.each<[what: string, bytes: Uint8Array, message: RegExp]>([
    ["an empty file", new Uint8Array(0), /not an image/],
    ["a text", Buffer.from("hello"), /not an image/],
    ["the signature of a PNG alone", png.subarray(0, 8), /damaged/],
    ["half a header", png.subarray(0, 20), /damaged/],
    ["a TIFF that points outside", Buffer.from("49492a00ffffffff", "hex"), /damaged/],
    ["a TIFF with more entries than bytes", many, /damaged/],
    ["a JPEG without a frame", Buffer.from("ffd8ffda0008", "hex"), /damaged/],
  ])("%s is refused", async (_what, bytes, message) => {
    await expect(inspect(bytes)).rejects.toThrow(message);
  });

  test.each<[what: string, bytes: Uint8Array]>([
    ["whose header lies about its size", lying],
    ["that was cut in its data", png.subarray(0, png.length - 30)],
    ["with EXIF that is no block", createPng(4, 4, chunk("eXIf", Buffer.from("nothing")))],
    ["with a table that points to itself", createPng(4, 4, chunk("eXIf", loop))],
    ["with a value outside of the block", createPng(4, 4, chunk("eXIf", outside))],
    [
      "with a chunk that is longer than the file",
      Buffer.concat([png.subarray(0, 33), Buffer.from("ffffffff65584966", "hex")]),
    ],
  ])("an image %s is described as far as it can be read", async (_what, bytes) => {
    expect(await inspect(bytes)).toMatchObject({ type: "image/png" });
  });

  test("no bytes make the reader of EXIF throw or return more than it may", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.boolean(),
        fc.array(fc.nat(400), { maxLength: 20 }),
        (bytes, isPlain, changes) => {
          const block = isPlain ? Buffer.concat([Buffer.from("49492a0008000000", "hex"), bytes]) : Buffer.from(photo);
          for (const index of changes) if (index < block.length) block[index] = bytes[0] ?? 0;
          const exif = readExif(block);
          expect(exif?.fields.length ?? 0).toBeLessThanOrEqual(400);
          for (const [, value] of exif?.fields ?? []) expect(value.length).toBeLessThanOrEqual(200);
        },
      ),
    );
  });
});

test("a palette counts similar colours together, and nothing that cannot be seen", () => {
  const pixels = Uint8Array.from(
    [
      [250, 0, 0, 255],
      [252, 2, 0, 255],
      [0, 0, 255, 255],
      [9, 9, 9, 0],
    ].flat(),
  );
  expect(getPalette(pixels)).toEqual([
    { colour: "#fb0100", share: 2 / 3 },
    { colour: "#0000ff", share: 1 / 3 },
  ]);
  expect(getPalette(new Uint8Array(0))).toEqual([]);
});

import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { deflateSync } from "node:zlib";
import { PhotonImage } from "@silvia-odwyer/photon-node";
import type { Clock, ImageContent, TextContent } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readOrientation } from "../src/files/image-orientation.ts";
import { readImageSize } from "../src/files/image-size.ts";
import { shrinkImage } from "../src/files/image-worker.ts";
import { isWholeImage } from "../src/files/image-whole.ts";
import { createReadTool } from "../src/files/read.ts";
import { limitMemory } from "../src/files/wasm-memory.ts";
import { type ImageType, detectImageType } from "../src/files/sniff.ts";
import type { FileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { countReads } from "./direct-file-system.ts";
import { blank, chunk, measureShowing } from "./pictures.ts";
import { scratch } from "./scratch.ts";

const draw = (width: number, height: number, noise = false) => {
  const pixels = new Uint8Array(width * height * 4).fill(200);
  if (noise) for (let at = 0; at < pixels.length; at++) pixels[at] = (at * 2_654_435_761) >>> 13;
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  return new PhotonImage(pixels, width, height);
};

/** Writes a file that is gone after the test, and names it. */
function write(bytes: Uint8Array): string {
  const path = join(scratch(), "picture");
  writeFileSync(path, bytes);
  return path;
}

interface ShowOptions {
  clock?: Clock;
  signal?: AbortSignal;
  /** The size of the file, in bytes; the rest of it is a hole. */
  size?: number;
  fileSystem?: FileSystem;
  getImageLimits?: Parameters<typeof createReadTool>[0]["getImageLimits"];
}

const show = async (bytes: Uint8Array, options: ShowOptions = {}) => {
  const path = write(bytes);
  if (options.size !== undefined) truncateSync(path, options.size);
  const files = createFiles(options.fileSystem ? { fileSystem: options.fileSystem } : {});
  // However slow the machine is, the time limit comes only when a test brings it about.
  const tool = createReadTool({
    cwd: "/",
    files,
    clock: options.clock ?? createFakeClock(),
    getImageLimits: options.getImageLimits,
  });
  const { content } = await tool.execute("id", { path }, options.signal);
  return { note: (content[0] as TextContent).text, image: content[1] as ImageContent };
};

/** The threads that are started while `work` runs. */
async function getThreads(work: () => Promise<unknown>): Promise<Worker[]> {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => threads.push(worker);
  process.on("worker", onWorker);
  try {
    await work();
  } finally {
    process.off("worker", onWorker);
  }
  return threads;
}

/** The next thread that is started. */
const nextThread = () => new Promise<Worker>((resolve) => process.once("worker", resolve));

const decode = ({ data, mimeType }: ImageContent) => {
  const bytes = Buffer.from(data, "base64");
  expect(detectImageType(bytes)).toBe(mimeType);
  return readImageSize(bytes, mimeType as ImageType);
};

/** A bitmap of one colour: the one format that has to be written by hand. */
function bitmap(width: number, height: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const file = Buffer.alloc(54 + row * height);
  file.write("BM");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  return file;
}

/** A JPEG with a remark of the camera about how it was held. */
function withOrientation(jpeg: Uint8Array, number: number, isLittle: boolean): Buffer {
  const tiff = Buffer.alloc(22);
  const [short, long] = isLittle
    ? ([tiff.writeUInt16LE, tiff.writeUInt32LE] as const)
    : ([tiff.writeUInt16BE, tiff.writeUInt32BE] as const);
  tiff.write(isLittle ? "II" : "MM");
  for (const [value, index] of [
    [42, 2],
    [1, 8],
    [0x0112, 10],
    [3, 12],
    [number, 18],
  ] as const)
    short.call(tiff, value, index);
  for (const [value, index] of [
    [8, 4],
    [1, 14],
  ] as const)
    long.call(tiff, value, index);
  const segment = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 8 + tiff.length), Buffer.from("Exif\0\0"), tiff]);
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
}

/** A picture that hardly compresses: encoding it takes a second, so that it is made once. */
let noisy: Uint8Array | undefined;
const getNoisy = () => (noisy ??= draw(1_300, 1_300, true).get_bytes());

const gif = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

describe("what is shown", () => {
  test.each([
    ["png", () => draw(30, 20).get_bytes(), "image/png"],
    ["jpeg", () => draw(30, 20).get_bytes_jpeg(80), "image/jpeg"],
    ["webp", () => draw(30, 20).get_bytes_webp(), "image/webp"],
  ])("a small %s goes out as it is", async (_name, make, mimeType) => {
    const bytes = make();
    const { image, note } = await show(bytes);
    expect(image).toEqual({ type: "image", data: Buffer.from(bytes).toString("base64"), mimeType });
    expect(decode(image)).toEqual({ width: 30, height: 20 });
    expect(note).not.toContain("original");
  });

  test("a small one needs no decoder, so no thread is started for it", async () => {
    const small = [draw(30, 20).get_bytes(), draw(30, 20).get_bytes_jpeg(80), draw(30, 20).get_bytes_webp(), gif];
    for (const bytes of small) expect(await getThreads(() => show(bytes))).toEqual([]);
    expect(await getThreads(() => show(bitmap(3, 3)))).toHaveLength(1);
  });

  test("a small gif goes out as it is, and a bitmap as a png", async () => {
    expect((await show(gif)).image.mimeType).toBe("image/gif");
    const clock = createFakeClock();
    const { image, note } = await show(bitmap(7, 5), { clock });
    expect(clock.waiting).toBe(0);
    expect(note).toBe("[Shown as image/png; the original is image/bmp.]");
    expect(image.mimeType).toBe("image/png");
    expect(decode(image)).toEqual({ width: 7, height: 5 });
  });

  test("a large one is made to fit, keeps its shape, and says so", async () => {
    const { image, note } = await show(draw(2_400, 600).get_bytes());
    expect(decode(image)).toEqual({ width: 2_000, height: 500 });
    expect(note).toBe("[Shown as 2000×500 pixels; the original has 2400×600.]");
  });

  test("the limits of a model for each side, the bytes and the quality are kept", async () => {
    const limits = { getImageLimits: () => ({ maxWidth: 1_000, maxHeight: 100 }) };
    expect(decode((await show(draw(1_200, 300).get_bytes(), limits)).image)).toEqual({ width: 400, height: 100 });
    const small = { getImageLimits: () => ({ maxBytes: 2_000, jpegQuality: 10 }) };
    const { image } = await show(draw(900, 900).get_bytes(), small);
    expect(Buffer.from(image.data, "base64").length).toBeLessThanOrEqual(2_000);
  });

  /** Where the parts of the picture "AB CD EF" are when it stands upright. Each one is a thread. */
  const usual = [
    [5, "ACE BDF"],
    [6, "ECA FDB"],
  ] as const;
  const others = [
    [1, "AB CD EF"],
    [2, "BA DC FE"],
    [3, "FE DC BA"],
    [4, "EF CD AB"],
    [7, "FDB ECA"],
    [8, "BDF ACE"],
    [9, "AB CD EF"],
  ] as const;
  test.each([...usual, ...(process.env["TAU_LONG"] ? others : [])])(
    "a photograph with the orientation %i that is made to fit stands upright",
    async (number, expected) => {
      const shades = [0, 50, 100, 150, 200, 250];
      const [columns, rows] = [2, 3];
      const cell = 16;
      const pixels = Buffer.alloc(columns * rows * cell * cell * 4, 255);
      for (let index = 0; index < pixels.length / 4; index++) {
        const [x, y] = [index % (columns * cell), Math.floor(index / (columns * cell))];
        pixels.fill(shades[Math.floor(y / cell) * columns + Math.floor(x / cell)]!, 4 * index, 4 * index + 3);
      }
      const jpeg = new PhotonImage(pixels, columns * cell, rows * cell).get_bytes_jpeg(100);
      const bytes = withOrientation(jpeg, number, number % 2 === 0);
      const orientation = readOrientation(bytes, "image/jpeg");
      const limits = { clock: createFakeClock(), signal: undefined, path: "photo" };
      const small = (await shrinkImage(
        { bytes, maxSidePixels: 100, maxBytes: 1_000_000, jpegQuality: 80, orientation },
        limits,
      ))!;
      const image = PhotonImage.new_from_byteslice(small.bytes);
      const raw = image.get_raw_pixels();
      const toLetter = (x: number, y: number) => {
        const shade = raw[4 * ((y * cell + cell / 2) * small.width + x * cell + cell / 2)]!;
        return "ABCDEF"[Math.round(shade / 50)];
      };
      const lines = Array.from({ length: small.height / cell }, (_row, y) =>
        Array.from({ length: small.width / cell }, (_cell, x) => toLetter(x, y)).join(""),
      );
      expect(lines.join(" ")).toBe(expected);
    },
  );

  test("a photograph that lies on its side is named by its size when it stands upright", async () => {
    const { image, note } = await show(withOrientation(draw(2_200, 22).get_bytes_jpeg(80), 6, true));
    expect(decode(image)).toEqual({ width: 20, height: 2_000 });
    expect(note).toBe("[Shown as 20×2000 pixels; the original has 22×2200.]");
  });

  test("one that hardly compresses still fits into the limit", async () => {
    const { image } = await show(getNoisy());
    expect(image.data.length).toBeLessThanOrEqual(4.5 * 1024 * 1024);
    expect(decode(image)!.width).toBeLessThanOrEqual(2_000);
  });
});

/** A PNG that claims to be enormous in a few bytes. */
function claiming(width: number, height: number): Buffer {
  const png = Buffer.concat([Buffer.from(draw(1, 1).get_bytes()), deflateSync(Buffer.alloc(10))]);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

describe("what is refused", () => {
  test("an image that claims to be enormous is refused by its header, without decoding it", async () => {
    const threads = await getThreads(async () => {
      await expect(show(claiming(40_000, 40_000))).rejects.toMatchObject({
        code: "too_large",
        message: expect.stringMatching(/40000×40000 pixels; at most 25,000,000/) as string,
      });
      await expect(show(claiming(5_001, 5_000))).rejects.toMatchObject({ code: "too_large" });
    });
    expect(threads).toEqual([]);
  });

  test("a jpeg of 200 MB is refused before it is read", async () => {
    const { fileSystem, getBytesRead } = countReads();
    const size = 200 * 1024 ** 2;
    await expect(show(draw(30, 20).get_bytes_jpeg(80), { size, fileSystem })).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/is an image of 200\.0 MB; at most 50\.0 MB/) as string,
    });
    expect(getBytesRead()).toBeLessThan(1024 ** 2);
  });

  test.each([
    ["png", () => draw(30, 20).get_bytes()],
    ["jpeg", () => draw(30, 20).get_bytes_jpeg(80)],
    ["gif", () => gif],
    ["webp", () => draw(30, 20).get_bytes_webp()],
  ])("a %s that is cut short is not whole, wherever it is cut", async (_name, make) => {
    const bytes = Buffer.from(make());
    const type = detectImageType(bytes)!;
    expect(isWholeImage(bytes, type)).toBe(true);
    // A PNG's last checksum says nothing, since nothing comes before it.
    for (let end = 0; end < bytes.length - 4; end++) expect(isWholeImage(bytes.subarray(0, end), type)).toBe(false);
  });

  test("a png without data is not whole, though it has an end", () => {
    const [header, end] = [blank(3, 3).subarray(0, 33), chunk("IEND", Buffer.alloc(0))];
    const empty = chunk("IDAT", Buffer.alloc(0));
    expect(isWholeImage(Buffer.concat([header, end]), "image/png")).toBe(false);
    expect(isWholeImage(Buffer.concat([header, empty, end]), "image/png")).toBe(false);
  });

  test("a png that is only a header is refused in words, though its size would do", async () => {
    await expect(show(Buffer.from(draw(30, 20).get_bytes()).subarray(0, 24))).rejects.toMatchObject({
      code: "binary",
      message: expect.stringMatching(/is a damaged image: it cannot be decoded/) as string,
    });
  });

  test("a damaged one is refused in words", async () => {
    await expect(show(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))).rejects.toThrow(/damaged/);
    await expect(show(claiming(3_000, 10))).rejects.toThrow(/cannot be decoded/);
  });
});

const short = (value: number) => [value >> 8, value & 255];
const segment = (marker: number, body: readonly number[]) => [0xff, marker, ...short(body.length + 2), ...body];
const frame = (side: number) => segment(0xc0, [8, ...short(side), ...short(side), 1, 1, 0x11, 0]);

/** A grey JPEG of many pixels in few bytes, with `before` between its beginning and the first segment. */
function greyJpeg(side: number, before: readonly number[]): Buffer {
  const table = (kind: number) => segment(0xc4, [kind << 4, 1, ...Array<number>(15).fill(0), 0]);
  const quantities = segment(0xdb, [0, ...Array<number>(64).fill(1)]);
  const scan = segment(0xda, [1, 1, 0, 0, 63, 0]);
  const head = [0xff, 0xd8, ...before, ...quantities, ...frame(side), ...table(0), ...table(1), ...scan];
  const blocks = Math.ceil(side / 8) ** 2;
  return Buffer.concat([Buffer.from(head), Buffer.alloc(Math.ceil(blocks / 4) + 8), Buffer.of(0xff, 0xd9)]);
}

describe("a header that lies", () => {
  /** Holds a frame that is seen only when the bytes before it are taken for a segment. */
  const fake = [...segment(0xef, [...frame(10), 0, 0, 0, 0])];

  test.each([
    ["a marker that is none", [0xff, 0x00, ...short(6), ...fake]],
    ["a restart", [0xff, 0xd0, ...short(6), ...fake]],
    ["an end", [0xff, 0xd9, ...short(6), ...fake]],
    ["a length that is too small", [0xff, 0xe0, ...short(1), ...fake]],
    ["something between the segments", [0, ...fake]],
  ])("%s before the data of a jpeg is damage, and nothing is decoded", async (_name, before) => {
    const bytes = greyJpeg(20, before);
    expect(readImageSize(bytes, "image/jpeg")).toBeUndefined();
    expect(isWholeImage(bytes, "image/jpeg")).toBe(false);
  });

  test("of two frames of a jpeg the larger counts, wherever it stands", () => {
    expect(readImageSize(greyJpeg(9_000, frame(10)), "image/jpeg")).toEqual({ width: 9_000, height: 9_000 });
    expect(readImageSize(greyJpeg(10, frame(9_000)), "image/jpeg")).toEqual({ width: 9_000, height: 9_000 });
  });

  test("a picture inside that is larger than the one announced meets the decoder's limit", async () => {
    const inner = Buffer.from(draw(1, 1).get_bytes_webp()).subarray(12);
    expect(inner.toString("latin1", 0, 4)).toBe("VP8L");
    const side = 16_384 - 1;
    inner.writeUInt32LE(((inner.readUInt32LE(9) & 0xf0000000) | side | (side << 14)) >>> 0, 9);
    const outer = Buffer.alloc(18);
    outer.write("VP8X");
    outer.writeUInt32LE(10, 4);
    // Too long to go out as it is, too flat to be made much of.
    outer.writeUIntLE(3_000 - 1, 12, 3);
    outer.writeUIntLE(10 - 1, 15, 3);
    const body = Buffer.concat([Buffer.from("WEBP"), outer, inner]);
    const head = Buffer.from("RIFF\0\0\0\0", "latin1");
    head.writeUInt32LE(body.length, 4);
    const picture = Buffer.concat([head, body]);
    const shown = write(Buffer.alloc(0));
    expect(await measureShowing(write(picture), shown)).toBeLessThan(1_200 * 1024 ** 2);
    expect(readFileSync(shown, "utf8")).toMatch(/damaged image: it cannot be decoded/);
  });

  test("a module that declares its memory in another way is not run", () => {
    const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    expect([...limitMemory(Uint8Array.of(...head, 1, 1, 0, 5, 3, 1, 0, 2, 10, 1, 0), 16_384)]).toEqual([
      ...head,
      ...Buffer.from("01 01 00 05 06 01 01 02 80 80 01 0a 01 00".replaceAll(" ", ""), "hex"),
    ]);
    for (const memory of [[], [5, 4, 1, 1, 2, 9], [5, 1, 0]]) {
      expect(() => limitMemory(Uint8Array.of(...head, ...memory), 16_384)).toThrow(/does not declare/);
    }
  });
});

describe("the largest image that is shown", () => {
  const largest = blank(5_000, 5_000);

  test("is made smaller, in bounded memory", async () => {
    const shown = write(Buffer.alloc(0));
    const growth = await measureShowing(write(largest), shown);
    const { content } = JSON.parse(readFileSync(shown, "utf8")) as { content: [TextContent, ImageContent] };
    expect(decode(content[1])).toEqual({ width: 2_000, height: 2_000 });
    expect(growth).toBeGreaterThan(64 * 1024 ** 2);
    expect(growth).toBeLessThan(640 * 1024 ** 2);
  });

  test("has the memory to itself: images are decoded one after the other", async () => {
    let [running, most] = [0, 0];
    const onWorker = (worker: Worker) => {
      most = Math.max(most, ++running);
      worker.once("exit", () => running--);
    };
    process.on("worker", onWorker);
    await Promise.all([show(bitmap(3, 3)), show(bitmap(4, 4)), show(bitmap(5, 5))]);
    process.off("worker", onWorker);
    expect([running, most]).toEqual([0, 1]);
  });

  test("is given up at once, also while it waits for another one, and its thread ends", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const thread = nextThread();
    const failure = (call: Promise<unknown>) => call.catch((error: unknown) => error);
    const running = failure(show(largest, { signal: first.signal }));
    const worker = await thread;
    const exit = new Promise((resolve) => worker.once("exit", resolve));
    await new Promise((resolve) => worker.once("online", resolve));
    const waiting = failure(show(largest, { signal: second.signal }));
    for (const [controller, call] of [
      [second, waiting],
      [first, running],
    ] as const) {
      controller.abort(new Error("enough"));
      expect(await call).toMatchObject({ code: "aborted", cause: { message: "enough" } });
    }
    await exit;
  });

  test("is given up after a time, and its thread ends", async () => {
    const clock = createFakeClock();
    const thread = nextThread();
    const call = show(largest, { clock }).catch((error: unknown) => error);
    const worker = await thread;
    const exit = new Promise((resolve) => worker.once("exit", resolve));
    await new Promise((resolve) => worker.once("online", resolve));
    await clock.advance(20_000);
    await exit;
    expect(await call).toMatchObject({
      code: "timeout",
      message: expect.stringMatching(/within 20 s/) as string,
    });
    expect(clock.waiting).toBe(0);
  });
});

test("no bytes make reading a header throw", () => {
  const types: ImageType[] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...types), (bytes, type) => {
      expect(typeof isWholeImage(bytes, type)).toBe("boolean");
      const size = readImageSize(bytes, type);
      if (size) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});

test("without resizing, images are shown as they are, or the reason why not", async () => {
  const cwd = scratch();
  const wide = draw(2_400, 20).get_bytes();
  writeFileSync(join(cwd, "wide.png"), wide);
  writeFileSync(join(cwd, "heavy.png"), getNoisy());
  const tool = createReadTool({ cwd, files: createFiles(), resizesImages: false });
  const { content } = await tool.execute("id", { path: "wide.png" });
  expect((content[1] as ImageContent).data).toBe(Buffer.from(wide).toString("base64"));
  await expect(tool.execute("id", { path: "heavy.png" })).rejects.toThrow("images are not made smaller");
});

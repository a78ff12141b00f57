import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { PhotonImage } from "@silvia-odwyer/photon-node";
import type { ImageContent, TextContent } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { imageSizeOf } from "../src/files/image-size.ts";
import { createReadTool } from "../src/files/read.ts";
import { type ImageType, imageTypeOf } from "../src/files/sniff.ts";
import { createFiles } from "../src/platform/files.ts";
import { scratch } from "./scratch.ts";

const draw = (width: number, height: number, noise = false) => {
  const pixels = new Uint8Array(width * height * 4).fill(200);
  if (noise) for (let at = 0; at < pixels.length; at++) pixels[at] = (at * 2_654_435_761) >>> 13;
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  return new PhotonImage(pixels, width, height);
};

const show = async (bytes: Uint8Array) => {
  const cwd = scratch();
  writeFileSync(join(cwd, "picture"), bytes);
  const { content } = await createReadTool({ cwd, files: createFiles() }).execute("id", { path: "picture" });
  return { note: (content[0] as TextContent).text, image: content[1] as ImageContent };
};

const decode = ({ data, mimeType }: ImageContent) => {
  const bytes = Buffer.from(data, "base64");
  expect(imageTypeOf(bytes)).toBe(mimeType);
  return imageSizeOf(bytes, mimeType as ImageType);
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

  test("a small gif goes out as it is, and a bitmap as a png", async () => {
    expect((await show(gif)).image.mimeType).toBe("image/gif");
    const { image } = await show(bitmap(7, 5));
    expect(image.mimeType).toBe("image/png");
    expect(decode(image)).toEqual({ width: 7, height: 5 });
  });

  test("a large one is made to fit, keeps its shape, and says so", async () => {
    const { image, note } = await show(draw(4_000, 1_000).get_bytes());
    expect(decode(image)).toEqual({ width: 2_000, height: 500 });
    expect(note).toBe("[Shown as 2000×500 pixels; the original has 4000×1000.]");
  });

  test("one that hardly compresses still fits into the limit", async () => {
    const { image } = await show(draw(1_800, 1_800, true).get_bytes());
    expect(image.data.length).toBeLessThanOrEqual(4.5 * 1024 * 1024);
    expect(decode(image)!.width).toBeLessThanOrEqual(2_000);
  }, 60_000);
});

/** A PNG that claims to be enormous in a few bytes. */
function claiming(width: number, height: number): Buffer {
  const png = Buffer.concat([Buffer.from(draw(1, 1).get_bytes()), deflateSync(Buffer.alloc(10))]);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

describe("what is refused", () => {
  test("an image that claims to be enormous is refused by its header, at once", async () => {
    const started = performance.now();
    await expect(show(claiming(40_000, 40_000))).rejects.toThrow(/40000×40000 pixels/);
    expect(performance.now() - started).toBeLessThan(200);
  });

  test("a damaged one is refused in words", async () => {
    await expect(show(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))).rejects.toThrow(/damaged/);
    await expect(show(claiming(3_000, 10))).rejects.toThrow(/cannot be decoded/);
  });
});

test("no bytes make reading a header throw", () => {
  const types: ImageType[] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...types), (bytes, type) => {
      const size = imageSizeOf(bytes, type);
      if (size) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});

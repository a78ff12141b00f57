import { crc32, deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { formatDimensionNote, resizeImage } from "./images.ts";

/** A black PNG. */
function blank(width: number, height: number): Buffer {
  const chunk = (name: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const data = deflateSync(Buffer.alloc((width * 3 + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

test("an image is made to fit the limits that are given, in the form of 1.5 and the one before", async () => {
  const bytes = blank(400, 100);
  const sizes = { originalWidth: 400, originalHeight: 100 };
  const resized = { ...sizes, width: 200, height: 50, wasResized: true };
  expect(await resizeImage(bytes, "image/png", { maxWidth: 200 })).toMatchObject(resized);
  expect(await resizeImage(bytes, "image/png", { maxHeight: 50 })).toMatchObject(resized);
  const encoded = { data: bytes.toString("base64"), mimeType: "image/png" };
  const image = await resizeImage(encoded, { maxWidth: 200, maxHeight: 60 });
  expect(image).toMatchObject(resized);
  expect(formatDimensionNote(image!)).toContain("original 400x100, displayed at 200x50");
  const same = { ...encoded, ...sizes, width: 400, height: 100, wasResized: false };
  expect(await resizeImage(bytes, "image/png", { maxWidth: 400 })).toEqual(same);
  expect(await resizeImage(encoded)).toEqual(same);
});

test("an image fits the number of bytes, as base64, and what cannot be read or does not fit is null", async () => {
  const bytes = blank(300, 300);
  const image = await resizeImage(bytes, "image/png", { maxBytes: 300 });
  expect(image!.data.length).toBeLessThanOrEqual(300);
  expect(image!.width).toBeLessThan(300);
  expect(await resizeImage(bytes, "image/png", { maxBytes: 20 })).toBeNull();
  expect(await resizeImage(Buffer.from("no image"), "image/png")).toBeNull();
});

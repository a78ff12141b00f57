/** Pictures for tests, and the memory that showing one takes. */
import { crc32, deflateSync } from "node:zlib";
import { measureGrowth } from "./program.ts";

/** A part of a PNG. */
export const chunk = (name: string, data: Uint8Array) => {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
};

/** A black PNG of any size, made without a decoder: a few kilobytes for millions of pixels. */
export function blank(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const data = deflateSync(Buffer.alloc((width * 3 + 1) * height), { level: 1 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

/**
 * How many bytes the memory of a process grows by while it shows the picture in the file `path`, or refuses to. What is
 * shown is written to the file `shown`, as JSON.
 */
export const measureShowing = (path: string, shown: string): Promise<number> =>
  measureGrowth({
    imports: `
      import { writeFileSync } from "node:fs";
      import { createFakeClock } from "@tau/ai/testing";
      import { createReadTool } from "../src/files/read.ts";
      import { createFiles } from "../src/platform/files.ts";
    `,
    work: `
      const tool = createReadTool({ cwd: "/", files: createFiles(), clock: createFakeClock() });
      const result = await tool.execute("id", { path: args[0] }).catch(({ message }) => ({ message }));
      writeFileSync(args[1], JSON.stringify(result));
    `,
    args: [path, shown],
  });

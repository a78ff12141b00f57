import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLines } from "../src/files/lines.ts";
import { createReadTool } from "../src/files/read.ts";
import { detectImageType } from "../src/files/sniff.ts";
import { createFiles } from "../src/platform/files.ts";
import { countReads } from "./direct-file-system.ts";
import { scratch } from "./scratch.ts";

type Args = Parameters<ReturnType<typeof createReadTool>["execute"]>[1];

const read = async (cwd: string, args: Args, files = createFiles()) => {
  const { content, details } = await createReadTool({ cwd, files }).execute("id", args);
  return { text: (content[0] as TextContent).text, details: details! };
};

const withFile = (content: string | Buffer, name = "file.txt") => {
  const cwd = scratch();
  writeFileSync(join(cwd, name), content);
  return cwd;
};

const numbered = (count: number) => Array.from({ length: count }, (_unused, at) => `line ${at + 1}`).join("\n");

describe("what is shown", () => {
  test("a short file is shown whole, without a remark", async () => {
    const cwd = withFile("one\ntwo\r\nthree\n");
    expect(await read(cwd, { path: "file.txt" })).toEqual({
      text: "one\ntwo\nthree",
      details: { path: join(cwd, "file.txt"), firstLine: 1, shownLines: 3, totalLines: 3 },
    });
  });

  test("a part is shown, and how to get the next", async () => {
    const cwd = withFile(numbered(10));
    expect((await read(cwd, { path: "file.txt", offset: 3, limit: 2 })).text).toBe(
      "line 3\nline 4\n\n[Showing lines 3-4. Continue with offset=5.]",
    );
    expect((await read(cwd, { path: "file.txt", offset: 9, limit: 2 })).text).toBe("line 9\nline 10");
  });

  test("the two limits hold, and following the remark leads through the whole file", async () => {
    const content = Array.from({ length: 5_000 }, (_unused, at) => `${at} ${"x".repeat(at % 60)}`).join("\n");
    const cwd = withFile(content);
    const seen: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const { text } = await read(cwd, { path: "file.txt", offset });
      const [body, notice] = text.split("\n\n[");
      expect(body!.split("\n").length).toBeLessThanOrEqual(2_000);
      expect(Buffer.byteLength(body!)).toBeLessThanOrEqual(50 * 1024);
      seen.push(body!);
      const next = /offset=(\d+)/.exec(notice ?? "")?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(seen.join("\n")).toBe(content);
  });

  test("any text, read in parts of any size, is the text", async () => {
    const lines = fc.array(
      fc.string({ unit: "grapheme" }).map((line) => line.replace(/[\r\n\0\ufeff\u0085\u2028\u2029\v\f]/g, "")),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), async (all, limit) => {
        const cwd = withFile(`${all.join("\n")}\n`);
        const parts: string[] = [];
        for (let offset = 1; offset <= all.length; offset += limit) {
          const { details } = await read(cwd, { path: "file.txt", offset, limit });
          parts.push(...Array.from({ length: details.shownLines }, (_unused, at) => all[offset - 1 + at]!));
        }
        expect(parts).toEqual(all);
      }),
      { numRuns: 50 },
    );
  });

  test("whatever the bytes are, at most 2,000 lines and 50 KB are shown, and the remark leads on", async () => {
    const piece = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 12, min: 1 }),
      fc.constantFrom("\n", "\r\n", "\r", "a", "é", "😀", "\ufeff").map((text) => Buffer.from(text)),
      fc.constantFrom([0xff], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc3]).map((bytes) => Buffer.from(bytes)),
    );
    const repeated = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 20_000 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(repeated, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1 }),
        async (all, limit) => {
          const bytes = Buffer.concat(
            all.map(([pieces, times]) => Buffer.alloc(Buffer.concat(pieces).length * times, Buffer.concat(pieces))),
          );
          fc.pre(!detectImageType(bytes) && !/^\xff\xfe|^\xfe\xff/.test(bytes.toString("latin1", 0, 2)));
          const cwd = withFile(bytes);
          const lineCount = bytes.toString("latin1").replace(/\n$/, "").split("\n").length;
          let parts = 0;
          for (let offset: number | undefined = 1; offset !== undefined;) {
            const { text, details } = await read(cwd, { path: "file.txt", offset, limit });
            const notice = /(?:^|\n\n)\[(?:Showing|Line) [^\n]*?(?:offset=(\d+)(, if [^\n]*)?\.)?\]$/.exec(text);
            const body = notice ? text.slice(0, notice.index) : text;
            expect(Buffer.byteLength(body)).toBeLessThanOrEqual(50 * 1024);
            expect(details.shownLines).toBeLessThanOrEqual(Math.min(limit, 2_000));
            expect((notice?.[0] ?? "").length).toBeLessThan(250);
            if (++parts === 4 || (notice?.[2] !== undefined && offset === lineCount)) return;
            offset = notice?.[1] === undefined ? undefined : Number(notice[1]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("bytes that are no UTF-8 count as they are shown", async () => {
    const cwd = withFile(Buffer.concat([Buffer.alloc(17_000, 0xff), Buffer.from("\n"), Buffer.alloc(17_100, 0xff)]));
    expect((await read(cwd, { path: "file.txt" })).text).toBe(
      `${"\ufffd".repeat(17_000)}\n\n[Showing lines 1-1. Continue with offset=2.]`,
    );
    expect((await read(cwd, { path: "file.txt", offset: 2 })).text).toMatch(
      /^\[Line 2 is too long to show: 50\.1 KB[^\n]*c 10000\.\]$/,
    );
  });

  test("a line that fits exactly is shown, with or without a CR before its end", async () => {
    const line = "x".repeat(50 * 1024);
    for (const end of ["", "\n", "\r\n"]) {
      expect((await read(withFile(`${line}${end}`), { path: "file.txt" })).text).toBe(line);
      expect((await read(withFile(`${line}x${end}`), { path: "file.txt" })).text).toMatch(/^\[Line 1 is too long/);
    }
  });

  test("an empty file is called empty", async () => {
    expect((await read(withFile(""), { path: "file.txt" })).text).toBe("(the file is empty)");
  });

  test("a line that is too long is explained, and the lines after it can be read", async () => {
    const cwd = withFile(`short\n${"x".repeat(60_000)}\nafter`);
    expect((await read(cwd, { path: "file.txt" })).text).toBe("short\n\n[Showing lines 1-1. Continue with offset=2.]");
    expect((await read(cwd, { path: "file.txt", offset: 2 })).text).toMatch(/^\[Line 2 is too long .*offset=3\.\]$/);
    expect((await read(cwd, { path: "file.txt", offset: 3 })).text).toBe("after");
  });

  test("after a line that is too long no line is named that is not there", async () => {
    const explain = async (text: string) => (await read(withFile(text), { path: "file.txt" })).text;
    const line = "x".repeat(60_000);
    expect(await explain(`${line}\n`)).toMatch(/^\[Line 1 is too long .*c 10000\.\]$/);
    expect(await explain(`${line}\n\n`)).toMatch(/^\[Line 1 is too long .*offset=2\.\]$/);
    // Its end is not looked for: the line may be as long as the disk.
    expect(await explain(line.repeat(2))).toMatch(/^\[Line 1 is too long .*offset=2, if the file has more lines\.\]$/);
  });

  test("an offset beyond the end is an error that says where the end is", async () => {
    await expect(read(withFile("a\nb"), { path: "file.txt", offset: 9 })).rejects.toThrow(/beyond the end .* 2 lines/);
  });

  test("the first lines of a file of ten gigabytes cost only themselves", async () => {
    const cwd = scratch();
    const handle = openSync(join(cwd, "huge"), "w");
    writeSync(handle, `${numbered(3_000)}\n`);
    ftruncateSync(handle, 10 * 1024 ** 3);
    closeSync(handle);
    const { fileSystem, getBytesRead } = countReads();
    const files = createFiles({ fileSystem });
    expect((await read(cwd, { path: "huge", offset: 1_000, limit: 2 }, files)).text).toMatch(/^line 1000\nline 1001\n/);
    expect(getBytesRead()).toBeLessThan(1024 ** 2);
  });
});

describe("what is refused", () => {
  test.each([
    ["binary", Buffer.from([1, 2, 0, 3]), /is a binary file \(4 B\)/],
    ["UTF-16", Buffer.from("\ufefftext", "utf16le"), /UTF-16/],
  ])("%s", async (_name, content, expected) => {
    await expect(read(withFile(content), { path: "file.txt" })).rejects.toThrow(expected);
  });
});

describe("paths", () => {
  test("mentions, and spellings that macOS uses, lead to the file", async () => {
    const cwd = withFile("x", "Cafe\u0301 5.30\u202fPM’s.txt");
    for (const path of ["Café 5.30 PM's.txt", "@Café 5.30 PM’s.txt", `${cwd}/Cafe\u0301 5.30\u202fPM’s.txt`]) {
      expect((await read(cwd, { path })).text).toBe("x");
    }
  });

  test.each(["", "a\0b"])("%j cannot be a path", async (path) => {
    await expect(read(scratch(), { path })).rejects.toThrow(/cannot be a path/);
  });
});

test("looking for a far line stops when it is told to", async () => {
  const abort = new AbortController();
  const file = {
    realPath: "",
    size: 0,
    stamp: "",
    close: async () => {},
    read: async (buffer: Uint8Array) => {
      abort.abort();
      return buffer.fill(0x0a).length;
    },
  };
  const range = { offset: 1e9, maxLines: 1, maxBytes: 1, signal: abort.signal };
  await expect(readLines(file, range)).rejects.toMatchObject({ code: "aborted" });
});

test("a file that begins as a text and goes on otherwise is refused where that would be shown", async () => {
  const text = "a line of text\n".repeat(1_000);
  const cwd = withFile(`${text}\0binary\n`);
  expect((await read(cwd, { path: "file.txt", limit: 10 })).text).toContain("a line of text");
  await expect(read(cwd, { path: "file.txt", offset: 1_000 })).rejects.toMatchObject({
    code: "binary",
    message: expect.stringMatching(/^file\.txt is a binary file/) as string,
  });
});

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTar } from "../../../config/test/installs/archive.ts";
import { ToolsError } from "../../src/errors.ts";
import { createFiles } from "../../src/platform/files.ts";
import { blank } from "../pictures.ts";
import { scratch } from "../scratch.ts";
import { describeRead, readDocument, withFiles } from "./read-kit.ts";
import { createZip, type ZipFile, type ZipOptions } from "./zip-writer.ts";

const some: ZipFile[] = [
  { name: "docs/" },
  { name: "docs/guide.md", content: "# Guide\nRead me.\n" },
  { name: "a.txt", content: "one\ntwo\nthree", method: 0 },
  { name: "../../etc/passwd", content: "only a name" },
  { name: "to", content: "docs/guide.md", mode: 0o120777 },
];

const withZip = (files: readonly ZipFile[] = some, options?: ZipOptions, name = "a.zip") =>
  withFiles({ [name]: createZip(files, options) });

describe("a zip archive", () => {
  test("is listed with sizes and times, and names that climb out are only text", async () => {
    const cwd = withZip();
    const { text, details } = await readDocument(cwd, { path: "a.zip" });
    expect(text.split("\n")).toEqual([
      "[a.zip: zip archive, 3 files, 41 B unpacked. Read a.zip#NAME for one of them.]",
      "           - 2025-11-19 10:32 docs/",
      "          17 2025-11-19 10:32 docs/guide.md",
      "          13 2025-11-19 10:32 a.txt",
      "          11 2025-11-19 10:32 ../../etc/passwd",
      "           - 2025-11-19 10:32 to (a link)",
    ]);
    expect(details).toEqual({ path: join(cwd, "a.zip"), firstLine: 1, shownLines: 6, totalLines: 6 });
    expect(readdirSync(cwd)).toEqual(["a.zip"]);
  });

  test("gives its members, by lines, as files are read", async () => {
    const cwd = withZip();
    expect((await readDocument(cwd, { path: "a.zip#docs/guide.md" })).text).toBe("# Guide\nRead me.");
    expect((await readDocument(cwd, { path: "a.zip#a.txt", offset: 2, limit: 1 })).text).toBe(
      "two\n\n[Showing lines 2-2. Continue with offset=3.]",
    );
    expect((await readDocument(cwd, { path: "a.zip#../../etc/passwd" })).text).toBe("only a name");
    expect((await readDocument(cwd, { path: "a.zip#./a.txt" })).text).toBe("one\ntwo\nthree");
    expect((await readDocument(cwd, { path: "a.zip#docs" })).text).toContain("docs/guide.md");
    expect(await describeRead(cwd, { path: "a.zip#to" })).toMatch(/^not_a_file: .*a link/);
    expect(await describeRead(cwd, { path: "a.zip#b.txt" })).toBe(
      "not_found: a.zip has no member b.txt. Read a.zip for a list.",
    );
  });

  test("shows an image as images are shown", async () => {
    const cwd = withZip([{ name: "dot.png", content: blank(2, 2) }]);
    const { image } = await readDocument(cwd, { path: "a.zip#dot.png" });
    expect(Buffer.from(image!.data, "base64").equals(blank(2, 2))).toBe(true);
  });

  test("may be the end of another file, have a comment, be empty, or be large", async () => {
    const list = async (files: readonly ZipFile[], options: ZipOptions) =>
      (await readDocument(withZip(files, options), { path: "a.zip" })).text;
    expect(await list(some, { comment: "PK\u0005\u0006 and more" })).toContain("3 files");
    expect(await list([], {})).toBe("[a.zip: zip archive, 0 files, 0 B unpacked.]");
    const large = some.map((file) => ({ ...file, isLarge: true }));
    expect(await list(large, { isLarge: true })).toContain("3 files, 41 B");
    const cwd = withZip(large, { isLarge: true });
    expect((await readDocument(cwd, { path: "a.zip#a.txt" })).text).toBe("one\ntwo\nthree");
  });

  test("of several members with the same name, the last is shown", async () => {
    const cwd = withZip([
      { name: "a", content: "old" },
      { name: "a", content: "new" },
    ]);
    expect((await readDocument(cwd, { path: "a.zip#a" })).text).toBe("new");
  });

  test("a real file whose name has a # wins", async () => {
    const cwd = withFiles({ "a.zip": createZip(some), "a.zip#a.txt": "the file itself", "b#c/d#e.txt": "deep" });
    expect((await readDocument(cwd, { path: "a.zip#a.txt" })).text).toBe("the file itself");
    expect((await readDocument(cwd, { path: "b#c/d#e.txt" })).text).toBe("deep");
    const inside = withFiles({ "x#y.zip": createZip([{ name: "m#n", content: "both" }]) });
    expect((await readDocument(inside, { path: "x#y.zip#m#n" })).text).toBe("both");
  });

  test("a part of what has no parts is refused, and a missing file is said to be missing", async () => {
    const cwd = withFiles({ "a.md": "# Title" });
    expect(await describeRead(cwd, { path: "a.md#title" })).toMatch(/^not_found: .*Read a\.md itself/);
    expect(await describeRead(cwd, { path: "b.md#title" })).toMatch(/^not_found: .*b\.md#title/);
  });

  test("a guard that refuses the archive refuses its members", async () => {
    const cwd = withZip();
    const refused = createFiles({
      guard(realPath) {
        if (realPath.endsWith("a.zip")) throw new ToolsError("denied", "It is secret.");
      },
    });
    await expect(readDocument(cwd, { path: "a.zip#a.txt" }, { files: refused })).rejects.toMatchObject({
      code: "denied",
    });
  });

  const python = spawnSync("python3", ["-c", "import zipfile"]).status === 0;
  if (!python) console.log("There is no python3: archives that it writes are not tried.");
  test.skipIf(!python)("of another program is read, with all kinds of names", async () => {
    const cwd = scratch();
    const names = ["plain.txt", "größe.txt", "日本/語.txt", "with space & (brackets)"];
    const program = `import zipfile, sys
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
  for name in sys.argv[1:]: z.writestr(name, "content of " + name)
  z.writestr(zipfile.ZipInfo("stored"), "s" * 100)
  with z.open("streamed", "w", force_zip64=True) as f: f.write(b"t" * 100)
`;
    expect(spawnSync("python3", ["-c", program, ...names], { cwd }).status).toBe(0);
    for (const name of names)
      expect((await readDocument(cwd, { path: `a.zip#${name}` })).text).toBe(`content of ${name}`);
    expect((await readDocument(cwd, { path: "a.zip#stored" })).text).toBe("s".repeat(100));
    expect((await readDocument(cwd, { path: "a.zip#streamed" })).text).toBe("t".repeat(100));
  });
});

const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024);

/** Name, archive, path, and what has to be said. */
const hostile: [string, Buffer, string, RegExp][] = [
  ["was cut off", createZip(some).subarray(0, 150), "a.zip", /^binary: .*directory is missing/],
  ["has members outside of the file", createZip([{ name: "a", offset: 0xfff_ffff }]), "a.zip#a", /not where/],
  [
    "has a member that ends after it",
    createZip([{ name: "a", content: "abc", packedSize: 9_999 }]),
    "a.zip#a",
    /ends after/,
  ],
  ["is a bomb", createZip([{ name: "a", content: zeros(20) }]), "a.zip#a", /^too_large: .*100 times as large/],
  [
    "lies about the size of a bomb",
    createZip([{ name: "a", content: zeros(20), size: 10 }]),
    "a.zip#a",
    /^too_large: /,
  ],
  [
    "says that a member is smaller than it is",
    createZip([{ name: "a", content: "0123456789", size: 3 }]),
    "a.zip#a",
    /^0123456789\n\[The archive says that it has 3 B; it has 10 B\.\]$/,
  ],
  [
    "has a wrong checksum",
    createZip([{ name: "a", content: "abc", checksum: 1 }]),
    "a.zip#a",
    /^abc\n\[Its checksum is wrong/,
  ],
  [
    "is not what deflate writes",
    createZip([{ name: "a", packed: Buffer.from("not packed") }]),
    "a.zip#a",
    /^binary: .*damaged/,
  ],
  [
    "has content that was cut off",
    createZip([{ name: "a", packed: deflateRawSync(Buffer.from("x".repeat(9_999))).subarray(0, 9) }]),
    "a.zip#a",
    /^binary: .*damaged/,
  ],
  [
    "is encrypted",
    createZip([{ name: "a", content: "abc", isEncrypted: true }]),
    "a.zip#a",
    /^binary: .*encrypted.*password/,
  ],
  ["is packed in another way", createZip([{ name: "a", content: "abc", method: 12 }]), "a.zip#a", /packed with bzip2/],
  [
    "has a huge count",
    createZip(some, { count: 65_535 }),
    "a.zip",
    /says that it has 65535 members, and 5 can be read/,
  ],
  ["has a huge directory", createZip(some, { directorySize: 0xffff_fff0 }), "a.zip", /^binary: .*not where it says/],
  [
    "has numbers of 64 bits that no file has",
    createZip(some, { isLarge: true, directorySize: 2 ** 62, directoryOffset: 2 ** 62 }),
    "a.zip",
    /^binary: .*not where it says/,
  ],
  ["has other names in its headers", createZip([{ name: "a", localName: "b", content: "x" }]), "a.zip#a", /not where/],
  [
    "has a directory that overlaps itself",
    createZip([
      { name: "a", content: "x" },
      { name: "b", content: "y", offset: 0 },
    ]),
    "a.zip#b",
    /not where/,
  ],
  [
    "is in an archive",
    createZip([{ name: "b.zip", content: createZip(some) }]),
    "a.zip#b.zip",
    /an archive in an archive/,
  ],
  [
    "holds an archive of tar",
    createZip([{ name: "b", content: createTar([{ name: "x" }]) }]),
    "a.zip#b",
    /an archive in an archive/,
  ],
  [
    "has names that draw on the terminal",
    createZip([{ name: "\u001b[2J\u202egnp.exe\n" }]),
    "a.zip",
    /"\\u001b\[2J\\u202egnp\.exe\\n"/,
  ],
  ["holds a binary file", createZip([{ name: "a", content: Buffer.alloc(9) }]), "a.zip#a", /^binary: .*binary file/],
];

describe("a hostile zip archive", () => {
  test.each(hostile)("that %s is refused, or shown with a remark", async (_name, bytes, path, said) => {
    const cwd = withFiles({ "a.zip": bytes });
    expect(await describeRead(cwd, { path })).toMatch(said);
  });

  test("with a hundred thousand members is shown in parts, and the directory is not read further", async () => {
    const one = createZip([{ name: "a" }], { isLarge: true });
    const start = one.indexOf("PK\u0001\u0002");
    const entry = one.subarray(start, one.indexOf("PK\u0006\u0006"));
    const count = 100_010;
    const end = createZip([], { isLarge: true, count, directorySize: count * entry.length, directoryOffset: start });
    // The record of the end is found right before its locator.
    const bytes = Buffer.concat([one.subarray(0, start), ...Array.from({ length: count }, () => entry), end]);
    const cwd = withFiles({ "a.zip": bytes });
    const { text, details } = await readDocument(cwd, { path: "a.zip" });
    expect(details.shownLines).toBeLessThanOrEqual(2_000);
    expect(text).toContain("Only the first 100,000 members are listed");
    expect(text).toMatch(/Continue with offset=\d+/);
  });

  test("any change of any byte gives a listing, a text or a failure", async () => {
    const bytes = createZip(
      some.map((file) => ({ ...file, isLarge: true })),
      { isLarge: true },
    );
    const cwd = scratch();
    mkdirSync(join(cwd, "d"));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(bytes.length),
        async (changes, cut) => {
          const damaged = Buffer.from(bytes.subarray(0, cut % 3 === 0 ? cut : bytes.length));
          for (const [index, byte] of changes) if (index < damaged.length) damaged[index] = byte;
          writeFileSync(join(cwd, "d", "a.zip"), damaged);
          expect(typeof (await describeRead(cwd, { path: "d/a.zip" }))).toBe("string");
          expect(typeof (await describeRead(cwd, { path: "d/a.zip#a.txt" }))).toBe("string");
        },
      ),
      { numRuns: 60 },
    );
    expect(readdirSync(join(cwd, "d"))).toEqual(["a.zip"]);
  });
});

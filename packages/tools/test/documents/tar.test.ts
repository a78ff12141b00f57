import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ArchiveFile, createArchive, createTar } from "../../../config/test/installs/archive.ts";
import { scratch } from "../scratch.ts";
import { describeRead, readDocument, withFiles } from "./read-kit.ts";

const some: ArchiveFile[] = [
  { name: "./docs/", type: "5" },
  { name: "./docs/guide.md", content: "# Guide\n" },
  { name: "a.txt", content: "one\ntwo" },
  { name: "to", link: "../../etc/passwd" },
  { name: "pipe", type: "6" },
];

const record = (key: string, value: string): string => {
  const length = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = String(length + String(length).length).length;
  return `${length + digits} ${key}=${value}\n`;
};

describe.each([
  ["a.tar", createTar],
  ["a.tar.gz", createArchive],
])("the archive %s", (name, create) => {
  const withArchive = (files = some) => withFiles({ [name]: create(files) });

  test("is listed, and its members are read without a file being written", async () => {
    const cwd = withArchive();
    expect((await readDocument(cwd, { path: name })).text.split("\n")).toEqual([
      `[${name}: ${name.slice(2)} archive, 2 files, 15 B unpacked. Read ${name}#NAME for one of them.]`,
      "           -                  ./docs/",
      "           8                  ./docs/guide.md",
      "           7                  a.txt",
      "           -                  to (a link to ../../etc/passwd)",
      "           0                  pipe (a pipe)",
    ]);
    expect((await readDocument(cwd, { path: `${name}#docs/guide.md` })).text).toBe("# Guide");
    expect((await readDocument(cwd, { path: `${name}#./docs` })).text).toContain("guide.md");
    expect((await readDocument(cwd, { path: `${name}#a.txt`, offset: 2 })).text).toBe("two");
    expect(await describeRead(cwd, { path: `${name}#to` })).toMatch(/^not_a_file: .*a link to/);
    expect(await describeRead(cwd, { path: `${name}#no` })).toMatch(/^not_found: /);
    expect(readdirSync(cwd)).toEqual([name]);
  });

  test("of several members with the same name, the last is shown", async () => {
    const cwd = withArchive([
      { name: "a", content: "old" },
      { name: "a", content: "new" },
    ]);
    expect((await readDocument(cwd, { path: `${name}#a` })).text).toBe("new");
  });

  test("may have long names, as GNU and as POSIX write them", async () => {
    const [gnu, posix] = [`${"g/".repeat(80)}a`, `${"p/".repeat(80)}ä`];
    const cwd = withArchive([
      { name: "././@LongLink", type: "L", content: `${gnu}\0` },
      { name: "short", content: "GNU" },
      { name: "PaxHeaders/x", type: "x", content: record("path", posix) + record("mtime", "1700000000.5") },
      { name: "short", content: "POSIX" },
    ]);
    const { text } = await readDocument(cwd, { path: name });
    expect(text).toContain(`2023-11-14 22:13 ${posix}`);
    expect((await readDocument(cwd, { path: `${name}#${gnu}` })).text).toBe("GNU");
    expect((await readDocument(cwd, { path: `${name}#${posix}` })).text).toBe("POSIX");
  });
});

test("what GNU tar writes is read, with sparse files said to be such", async () => {
  if (spawnSync("tar", ["--version"]).status !== 0) return void console.log("There is no tar: not tried.");
  const cwd = scratch();
  mkdirSync(join(cwd, "d"));
  writeFileSync(join(cwd, "d", "größe.txt"), "a text");
  symlinkSync("größe.txt", join(cwd, "d", "link"));
  for (const format of ["ustar", "gnu", "pax"]) {
    const made = spawnSync("tar", [`--format=${format}`, "-czf", `${format}.tgz`, "d"], { cwd });
    expect(made.status, String(made.stderr)).toBe(0);
    expect((await readDocument(cwd, { path: `${format}.tgz#d/größe.txt` })).text).toBe("a text");
    expect((await readDocument(cwd, { path: `${format}.tgz` })).text).toContain("d/link (a link to größe.txt)");
  }
});

test("a file that only ends in .tar is a text, and one that is only compressed is no archive", async () => {
  const cwd = withFiles({ "a.tar": "a text\n", "a.gz": gzipSync("a text".repeat(200)), "b.gz": gzipSync("") });
  expect((await readDocument(cwd, { path: "a.tar" })).text).toBe("a text");
  for (const path of ["a.gz", "b.gz"]) expect(await describeRead(cwd, { path })).toMatch(/^binary: .*zcat/);
});

const large = (megabytes: number) => "\0".repeat(megabytes * 1024 * 1024);
const whole = createTar(some);

/** Name, archive, path, and what has to be said. */
const hostile: [string, Buffer, string, RegExp][] = [
  [
    "was cut off in a header",
    whole.subarray(0, 700),
    "a.tar",
    /\[It is damaged, or not read further: it was cut off\.\]/,
  ],
  [
    "was cut off in a member",
    createTar([{ name: "a", content: "x".repeat(2_000) }]).subarray(0, 1_200),
    "a.tar",
    /a is cut off/,
  ],
  [
    "has a member that was cut off",
    createTar([{ name: "a", content: "x", size: 999_999 }]),
    "a.tar#a",
    /^binary: .*cut off/,
  ],
  ["claims gigabytes", createTar([{ name: "a", content: "x", size: 8 ** 10 }]), "a.tar#a", /^too_large: /],
  [
    "has a wrong sum",
    Buffer.concat([whole.subarray(0, 520), Buffer.from("9"), whole.subarray(521)]),
    "a.tar",
    /a header is wrong/,
  ],
  [
    "has a header of a header without end",
    createTar([{ name: "x", type: "x", content: "9", size: 8 ** 9 }, ...some]),
    "a.tar",
    /a header is cut off/,
  ],
  [
    "has records that are none",
    createTar([...some, { name: "x", type: "x", content: "99 a=b\n" }, { name: "y" }]),
    "a.tar",
    /a header is wrong/,
  ],
  [
    "has a record with a size below zero",
    createTar([...some, { name: "x", type: "x", content: record("size", "-5") }, { name: "y" }]),
    "a.tar",
    /a size is wrong/,
  ],
  [
    "has a file with holes",
    createTar([
      { name: "x", type: "x", content: record("GNU.sparse.major", "1") },
      { name: "y", content: "z" },
    ]),
    "a.tar#y",
    /^not_a_file: .*holes/,
  ],
  ["is a bomb", createArchive([{ name: "a", content: large(30) }]), "a.tar#a", /^too_large: .*100 times/],
  ["was cut off while packed", createArchive(some).subarray(0, -60), "a.tar", /damaged/],
  ["is packed garbage", Buffer.from("1f8b08000000000000ffdeadbeef", "hex"), "a.tar", /^binary: .*damaged/],
  ["is twice packed", gzipSync(createArchive(some)), "a.tar", /^binary: .*zcat/],
  [
    "is in an archive",
    createTar([{ name: "b.tgz", content: gzipSync("x").toString("latin1") }]),
    "a.tar#b.tgz",
    /archive in an archive|binary/,
  ],
];

describe("a hostile tar archive", () => {
  test.each(hostile)("that %s is refused, or shown with a remark", async (_name, bytes, path, said) => {
    const cwd = withFiles({ "a.tar": bytes });
    expect(await describeRead(cwd, { path })).toMatch(said);
  });

  test("what stands before a bomb is listed, and can be read", async () => {
    const cwd = withFiles({ "a.tgz": createArchive([...some, { name: "b", content: large(30) }, { name: "c" }]) });
    const { text } = await readDocument(cwd, { path: "a.tgz" });
    expect(text).toContain("a.txt");
    expect(text).toContain("100 times");
    expect((await readDocument(cwd, { path: "a.tgz#a.txt" })).text).toBe("one\ntwo");
  });

  test("any change of any byte gives a listing, a text or a failure", async () => {
    const cwd = scratch();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (changes, isPacked) => {
          const bytes = isPacked ? gzipSync(whole) : Buffer.from(whole);
          for (const [index, byte] of changes) bytes[index % bytes.length] = byte;
          writeFileSync(join(cwd, "a.tar"), bytes);
          expect(typeof (await describeRead(cwd, { path: "a.tar" }))).toBe("string");
          expect(typeof (await describeRead(cwd, { path: "a.tar#a.txt" }))).toBe("string");
        },
      ),
      { numRuns: 60 },
    );
  });

  test("an aborted call ends while an archive is unpacked", async () => {
    const controller = new AbortController();
    const cwd = withFiles({
      "a.tgz": gzipSync(createTar([{ name: "a", content: "x".repeat(5_000_000) }]), { level: 0 }),
    });
    const reading = readDocument(cwd, { path: "a.tgz#a" }, { signal: controller.signal });
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
  });
});

test("a member is found beside one whose name is almost nothing but slashes", async () => {
  const name = `a${"/".repeat(500_000)}b`;
  const files = [
    { name: "x", type: "x", content: record("path", name) },
    { name: "short" },
    { name: "b/c", content: "" },
  ];
  const cwd = withFiles({ "a.tar": createTar(files) });
  expect(await describeRead(cwd, { path: "a.tar#no" })).toMatch(/^not_found: /);
  expect((await readDocument(cwd, { path: "a.tar#b//" })).text).toContain(" b/c");
});

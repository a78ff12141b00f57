import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { validateToolArguments } from "@tau/ai";
import { applyPatch } from "diff";
import { describe, expect, test } from "vitest";
import { summariseChanges } from "../src/files/diff.ts";
import { createEditTool } from "../src/files/edit.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { planEdits, type TextEdit } from "../src/files/match.ts";
import { maxEditableBytes } from "../src/files/text-file.ts";
import { createWriteTool } from "../src/files/write.ts";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { scratch } from "./scratch.ts";
import { toolIn, withFile, one, edited } from "./edit-kit.ts";

/** A short run has smaller files and fewer edits. */
const isLong = Boolean(process.env["TAU_LONG"]);

describe("what is replaced", () => {
  test("several pieces at once, all found in the original text", async () => {
    const { content, text, details } = await edited("a\nb\nc\nd\n", [
      { oldText: "d", newText: "b" },
      { oldText: "b", newText: "d\ne" },
    ]);
    expect(content).toBe("a\nd\ne\nc\nb\n");
    expect(text).toBe("Edited file: 2 replacements, first changed line 2.");
    expect(details.firstChangedLine).toBe(2);
  });

  test("the result carries a unified diff, and half a character never becomes a byte", async () => {
    const { bytes, details } = await edited("a\nb\nc\nd\n", [...one("b", "x\ny"), ...one("d", "\udce9")]);
    expect(bytes.equals(Buffer.from("a\nx\ny\nc\n\ufffd\n"))).toBe(true);
    expect(details.diff).toBe("--- file\n+++ file\n@@ -1,4 +1,5 @@\n a\n-b\n+x\n+y\n c\n-d\n+\ufffd\n");
  });

  test("bytes that are no UTF-8 stay, also inside the text that was matched", async () => {
    const { bytes, details } = await edited(
      Buffer.from("caf\xe9 \xff x\n", "latin1"),
      one("caf\ufffd \ufffd x", "caf\ufffd \ufffd y"),
    );
    expect(bytes.toString("latin1")).toBe("caf\xe9 \xff y\n");
    expect(details.diff).toContain("-caf\ufffd \ufffd x\n+caf\ufffd \ufffd y");
  });

  test("pieces that touch do not overlap", async () => {
    expect((await edited("abc", [...one("b", "B"), ...one("a", "A"), ...one("c", "C")])).content).toBe("ABC");
  });

  test("the mode stays, and a link stays a link", async () => {
    const cwd = withFile("old");
    chmodSync(join(cwd, "file"), 0o741);
    symlinkSync("file", join(cwd, "link"));
    await toolIn(cwd).execute("id", { path: "link", edits: one("old", "new") });
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("new");
    expect(statSync(join(cwd, "file")).mode & 0o7777).toBe(0o741);
    expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
  });

  test.each([
    ["line breaks", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"],
    ["carriage returns that the file has not", "a\nb\nc", "a\r\nb", "x\r\ny", "x\ny\nc"],
    ["old Macintosh breaks", "a\rb\rc", "a\nb", "x\ny\nz", "x\ry\rz\rc"],
    ["a new line in a file with CRLF", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"],
    ["line breaks that are written out", "a\nb\nc", "a", "x\r\ny", "x\r\ny\nb\nc"],
    ["each break in a mixed file", "a\r\nb\nc\r\nd", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\nd"],
    [
      "blanks at the ends of lines",
      "if (a) {  \n  b;\t\n}\n",
      "if (a) {\n  b;\n}",
      "if (a) {\n  c;\n}",
      "if (a) {  \n  c;\n}\n",
    ],
    ["full-width punctuation", "f（a，b）：1；", "f(a,b):1;", "f(a,b):2;", "f（a，b）：2；"],
    ["full-width punctuation that the file has not", "f(a,b):1", "f（a，b）：1", "f（a，b）：2", "f(a,b):2"],
    ["full-width letters and digits", "ＡＢＣ１２ end", "ABC12 end", "ABC12 END", "ＡＢＣ１２ END"],
    ["ligatures", "the ﬁle oﬃce", "the file office", "the file offices", "the ﬁle oﬃces"],
    ["ligatures that the file has not", "the file", "the ﬁle", "a ﬁle", "a file"],
    ["a part of a ligature that changes", "the ﬁle", "the file", "the fable", "the fable"],
    ["how letters are composed", "caf\u00e9 x", "cafe\u0301 x", "cafe\u0301 y", "caf\u00e9 y"],
    ["how letters are composed in the file", "cafe\u0301 x", "caf\u00e9 x", "caf\u00e9 y", "cafe\u0301 y"],
    ["letters of other alphabets of mathematics", "𝐀𝐁 = 1", "AB = 1", "AB = 2", "𝐀𝐁 = 2"],
    ["half-width katakana", "ｶﾞﾝ = 1", "ガン = 1", "ガン = 2", "ｶﾞﾝ = 2"],
    ["blanks that the file has not", "a\nb\n", "a  \nb\t", "a  \nc\t", "a\nc\n"],
    ["smart quotes", "say(“hi”, ‘you’)", "say(\"hi\", 'you')", "say(\"ho\", 'you')", "say(“ho”, ‘you’)"],
    ["quotes that the file has plain", 'x = "a"', "x = “a”", "x = “b”", 'x = "b"'],
    ["dashes", "1–2 — 3−4", "1-2 - 3-4", "1-2 - 3-5", "1–2 — 3−5"],
    ["no-break spaces", "a\u00a0b\u202fc\u3000d", "a b c d", "a b c e", "a\u00a0b\u202fc\u3000e"],
    ["a byte order mark", "\ufeffa\nb", "\ufeffa", "\ufeffx", "\ufeffx\nb"],
    ["a byte order mark that the file has not", "a\nb", "\ufeffa\nb", "\ufeffa\nc", "a\nc"],
    ["blanks that end a line and the text", "“a”  \nb", '"a"\t', "c", "c\nb"],
    ["blanks that end the file and the text", "“a”  ", '"a"\t', "c", "c"],
    ["blanks that text is put behind", "return\t\nb", "return \nb", "return x;\nb", "return x;\nb"],
    ["blanks that text is put before", "x = 1 \t\n", "x = 1  ", "x = 1;  ", "x = 1; \t\n"],
    ["blanks that begin the text", "a\nb", " \nb", " x", "a x"],
    ["a line break that goes", "a\r\nb", "a\n", "", "b"],
    ["nothing, where old and new overlap themselves", "xaay", "aa", "a", "xay"],
    ["a break after a lone CR, which stays two", "x\ra\ny", "a", "\na", "x\r\r\na\ny"],
    ["a break before a lone LF, which stays two", "x\ra\ny", "x\na", "x\n\n", "x\r\r\n\ny"],
    ["breaks that come to stand side by side", "p\rq\nr", "p\nq\nr", "x\n\ny", "x\r\r\ny"],
    ["a written-out LF after a lone CR", "x\ra", "a", "\na\r", "x\r\r\na\r"],
    ["a space that ends inside a line", "“x” = 1", '"x" = ', '"y" = ', "“y” = 1"],
  ])(
    "a match may differ in %s, and what did not change keeps its bytes",
    async (_name, file, oldText, newText, expected) => {
      expect((await edited(file, one(oldText, newText))).content).toBe(expected);
    },
  );

  test.each([
    ["that it ends in", "line one\nline two\n", "line 1\nline 2\n", "line 1\nline 2\n"],
    ["without a break at its end", "line one\nline two", "line 1\nline 2", "line 1\nline 2\n"],
    ["whose beginning changes", "line one\nline two", "line one\nLINE two", "line one   \nLINE two\n"],
    ["that it adds to", "line one\nline two", "line one!\nline two", "line one!\nline two  \n"],
    ["that it removes", "line one\nline two", "line one", "line one\n"],
    ["that it splits", "line one\nline two", "line one\nline\ntwo", "line one   \nline\ntwo\n"],
    ["that is to have others", "line one\nline two", "line one\nline 2\t", "line one   \nline 2\t\n"],
  ])("a loose match leaves no blanks at the end of a line %s", async (_name, oldText, newText, expected) => {
    expect((await edited("line one   \nline two  \n", one(oldText, newText))).content).toBe(expected);
  });

  test("a loose match that ends inside of a line leaves the blanks that follow the line", async () => {
    expect((await edited("“a” b  \n", one('"a"', "c"))).content).toBe("c b  \n");
  });

  test("an exact match goes before a normalised one, and the result says when it was normalised", async () => {
    const exact = await edited("'a'\n‘a’\n", one("'a'", "b"));
    expect(exact.content).toBe("b\n‘a’\n");
    expect(exact.text).not.toMatch(/normalised/);
    expect((await edited("‘a’\n", one("'a'", "b"))).text).toMatch(/1 matched only with .* normalised/);
  });

  test("places that reading shows alike are not told apart by their line breaks", async () => {
    await expect(edited("a\nb\n-\na\r\nb\n", one("a\nb", "x"))).rejects.toThrow(/lines 1, 4/);
    expect((await edited("a\nb\n-\na\r\nb\n", one("a\r\nb", "x"))).content).toBe("a\nb\n-\nx\n");
  });
});

describe("what is refused, with the file left as it was", () => {
  const many = Array.from({ length: 3_000 }, () => "same").join("\n");
  test.each<[string, string | Buffer, TextEdit[], string, RegExp]>([
    ["an empty oldText", "a", one("", "b"), "invalid_input", /oldText is empty.*use write/],
    ["a text that is there three times", "a\nb\na\nc a", one("a", "x"), "ambiguous", /3 times: at lines 1, 3, 4\./],
    ["a text that overlaps itself", "aaa", one("aa", "x"), "ambiguous", /2 times: at lines 1, 1/],
    ["a text that is there over and over", many, one("same", "x"), "ambiguous", /1000 or more times.*further/],
    ["a loose match that is not unique", "“a”\n„a‟", one('"a"', "x"), "ambiguous", /lines 1, 2/],
    [
      "overlapping edits",
      "a\nb\nc\nd",
      [...one("c\nd", "x"), ...one("b\nc", "y")],
      "overlap",
      /edits\[1\]\.oldText \(lines 2-3\) and edits\[0\]\.oldText \(lines 3-4\) overlap/,
    ],
    ["the same edit twice", "a", [...one("a", "b"), ...one("a", "b")], "overlap", /edits\[0\].*edits\[1\]/],
    [
      "edits that cancel each other",
      "ab",
      [...one("a", ""), ...one("b", "ab")],
      "invalid_input",
      /change nothing in f/,
    ],
    [
      "a text that ends in a long blank line beyond the end of the file",
      "one line\n  two lines",
      one(`one line\ntwo lines\n${" ".repeat(1_100)}`, "x"),
      "no_match",
      /Lines 1-2 differ only in white space/,
    ],
    ["an edit that changes nothing", "a\r\nb", one("a\r\nb", "a\nb"), "invalid_input", /change nothing/],
    [
      "one bad edit among good ones",
      "a\nb",
      [...one("a", "x"), ...one("q", "y")],
      "no_match",
      /^edits\[1\]\.oldText was not/,
    ],
    ["blanks that are not at the end of a line", "“foo”bar", one('"foo"\t', "x"), "no_match", /not found/],
    ["a part of a ligature", "oﬃce", one("of", "x"), "no_match", /not found/],
    ["a letter without its accent", "“cafe\u0301”", one('"cafe', '"tea'), "no_match", /not found/],
    ["an accent without its letter", "e\u0301 – x", one("\u0301 - x", "y"), "no_match", /not found/],
    ["a loose text that is not changed", "a  \nb  ", one("a\nb", "a\nb"), "invalid_input", /change nothing/],
    ["another character that shares a half", "“💀”", one('"💁"', "x"), "no_match", /not found/],
    [
      "removing all that keeps a CR and an LF apart",
      "x\ra\ny",
      one("a", ""),
      "invalid_input",
      /join the CR before it and the LF/,
    ],
    ["a binary file", Buffer.from([0x61, 0, 0x62]), one("a", "b"), "binary", /binary/],
    ["UTF-16", Buffer.from("\ufeffabc", "utf16le"), one("a", "b"), "binary", /UTF-16.*iconv/],
    ["UTF-16 the other way round", Buffer.from([0xfe, 0xff, 0, 0x61]), one("a", "b"), "binary", /UTF-16/],
    ["UTF-16 without a mark", Buffer.from("abc", "utf16le"), one("a", "b"), "binary", /binary/],
    ["a huge file", Buffer.alloc(maxEditableBytes + 1, 0x61), one("b", "c"), "too_large", /at most 10\.0 MB.*sed/],
    [
      "replacing bytes that are no UTF-8 by what stands for them",
      Buffer.from("caf\xe9 x\n", "latin1"),
      one("caf\ufffd x", "Caf\ufffd y"),
      "binary",
      /not UTF-8/,
    ],
  ])("%s", async (_name, content, edits, code, message) => {
    const cwd = withFile(content);
    const result = toolIn(cwd).execute("id", { path: "file", edits });
    await expect(result).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(readFileSync(join(cwd, "file")).equals(Buffer.from(content))).toBe(true);
    expect(readdirSync(cwd)).toEqual(["file"]);
  });

  test("a file that is not there", async () => {
    await expect(toolIn(scratch()).execute("id", { path: "no", edits: one("a", "b") })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("a call that was aborted", async () => {
    const cwd = withFile("a");
    const call = toolIn(cwd).execute("id", { path: "file", edits: one("a", "b") }, AbortSignal.abort());
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("a");
  });
});

describe("a match that failed", () => {
  const source = [
    "function add(a, b) {",
    "  const sum = a + b;",
    "  return sum;",
    "}",
    "",
    "function sub(a, b) {",
    "}",
  ];
  const failure = async (content: string, oldText: string) =>
    await edited(content, one(oldText, "x")).then(
      () => "edited",
      (error: Error) => error.message,
    );

  test("shows the lines that were nearly meant, with their numbers and where they differ", async () => {
    const message = await failure(source.join("\n"), "function add(a, b) {\n  const total = a + b;\n  return sum;\n}");
    expect(message).toContain(
      "Lines 1-4 differ at 2:\n1: function add(a, b) {\n2:   const sum = a + b;\n3:   return sum;",
    );
  });

  test("says of one line that it differs, and of a long one from where on", async () => {
    expect(
      await failure("first\nconst value = compute(alpha, beta);\nlast\n", "const value = compute(alpha, gamma);"),
    ).toContain("Line 2 (line 2 is similar)");
    const long = `const table = [${"1, ".repeat(500)}2];`;
    const message = await failure(`first\n${long}\nlast\n`, long.replace("2]", "3]"));
    expect(message).toContain(`Line 2 differs, in line 2 from column ${long.indexOf("2]") + 1} on:`);
  });

  test("a long text that repeats itself is found to be ambiguous in little time", () => {
    const source = "ab".repeat(2 * 1024 ** 2);
    const before = process.cpuUsage();
    expect(() => planEdits(source, one(source.slice(0, -2_000), "x"), "file")).toThrow(/is in file 2 times/);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
    expect(() => planEdits("aaa", one("aa", "x"), "file")).toThrow(/is in file 2 times/);
  });

  test("says so when only the indentation differs", async () => {
    const message = await failure(source.join("\n"), "const sum = a + b;\nreturn sum;");
    expect(message).toContain("Lines 2-3 differ only in white space:\n2:   const sum");
  });

  test("shows similar lines where none is the same", async () => {
    expect(await failure(source.join("\n"), "const sum = a * c;")).toMatch(
      /\(line 2 is similar\):\n2: {3}const sum = a \+ b;/,
    );
    expect(await failure(source.join("\n"), "completely different words")).toMatch(
      /Nothing similar is there\. Read file/,
    );
  });

  test("costs little in a large file, and the message stays short", async () => {
    const length = isLong ? 250_000 : 60_000;
    const lines = Array.from({ length }, (_unused, at) => `const value${at % 977} = compute(${at}, "x");`);
    const content = lines.join("\n");
    const wanted = [...lines.slice(40_000, 40_150), "const other = 1;"].join("\n");
    const started = process.cpuUsage();
    for (const text of [wanted, "const value3 = compute(nothing);", "x".repeat(100_000)]) {
      const message = await failure(content, text);
      expect(message).toMatch(/was not found/);
      expect(message.length).toBeLessThan(5_000);
    }
    const { user, system } = process.cpuUsage(started);
    // 1,800, where little else runs.
    expect((user + system) / 1_000, "milliseconds").toBeLessThan(15_000);
    expect(await failure(content, wanted)).toContain("Lines 40001-40151 differ at 40151");
  });
});

describe("the diff", () => {
  test("does not compare the whole of a large file, nor show more than the limit", async () => {
    const lines = Array.from({ length: 200_000 }, (_unused, at) => `line ${at}`);
    const edits = [...one("line 5\n", "LINE 5\n"), ...one("line 199999", "the end")];
    const { details } = await edited(lines.join("\n"), edits);
    expect(details.diff).toContain("@@ -3,7 +3,7 @@\n line 2\n line 3\n line 4\n-line 5\n+LINE 5\n line 6");
    expect(details.diff).toContain(
      "-line 199999\n\\ No newline at end of file\n+the end\n\\ No newline at end of file",
    );
    const large = await edited("x", one("x", lines.join("\n")));
    expect(Buffer.byteLength(large.details.diff)).toBeLessThan(51 * 1024);
    expect(large.details.diff).toMatch(/\[The diff continues for [\d,]+ lines\.\]$/);
  });

  test("numbers the lines of each hunk in the old text and in the new", async () => {
    const lines = Array.from({ length: 40 }, (_unused, at) => `<${at + 1}>`).join("\n");
    const { details } = await edited(lines, [...one("<2>", "a\nb\nc"), ...one("<30>", "x")]);
    expect(details.diff.match(/^@@.*$/gm)).toEqual(["@@ -1,5 +1,7 @@", "@@ -27,7 +29,7 @@"]);
  });

  test("a place with too many differences is all old lines, then all new ones, and still a valid patch", () => {
    const numbered = (word: string) => Array.from({ length: 700 }, (_unused, at) => `${word} ${at}`).join("\n");
    for (const [before, after, first] of [
      [`a\n${numbered("old")}\n`, `a\n${numbered("new")}`, 2],
      [numbered("old"), `${numbered("new")}\n`, 1],
    ] as const) {
      const { diff, firstChangedLine } = summariseChanges(before, [{ from: 0, to: before.length, text: after }], "f");
      expect(firstChangedLine).toBe(first);
      expect(applyPatch(before, diff)).toBe(after);
    }
  });
});

describe("two writers", () => {
  test("edits of both: what was reported is in the file, and nothing else is", async () => {
    const count = isLong ? 500 : 100;
    const cwd = withFile("mine 0: 0\nmine 1: 0\nshared: 0\n");
    const queue = createFileQueue();
    const files = createFiles();
    let shared = 0;
    let refused = 0;
    const writer = async (id: number) => {
      const tool = createEditTool({ cwd, files, queue });
      for (let at = 0; at < count; at++) {
        await tool.execute("id", { path: "file", edits: one(`mine ${id}: ${at}\n`, `mine ${id}: ${at + 1}\n`) });
        const seen = Number(/shared: (\d+)/.exec(readFileSync(join(cwd, "file"), "utf8"))![1]);
        await tool.execute("id", { path: "file", edits: one(`shared: ${seen}\n`, `shared: ${seen + 1}\n`) }).then(
          () => shared++,
          (error: Error) => {
            expect(error).toMatchObject({ code: "no_match" });
            refused++;
          },
        );
      }
    };
    await Promise.all([writer(0), writer(1)]);
    expect(shared + refused).toBe(2 * count);
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe(`mine 0: ${count}\nmine 1: ${count}\nshared: ${shared}\n`);
    expect(queue.busyFiles).toBe(0);
  });

  test("a parallel batch of edits and writes of one file happens one by one", async () => {
    const names = Array.from({ length: 50 }, (_unused, at) => `<${at}>`);
    const cwd = withFile(names.join("\n"));
    const ports = { cwd, files: createFiles(), queue: createFileQueue() };
    const [edit, write] = [createEditTool(ports), createWriteTool(ports)];
    await Promise.all([
      ...names.map((name) => edit.execute("id", { path: "file", edits: one(name, `${name}!`) })),
      write.execute("id", { path: "other", content: "x" }),
    ]);
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe(names.map((name) => `${name}!`).join("\n"));
  });
});

test("whatever call fails, the file has its old content or the new, and success means the new", async () => {
  for (const lasts of ["once", "forever"] as const) {
    const points = await withEveryFault(
      nodeFileSystem,
      async (fileSystem) => {
        const cwd = withFile("\ufeffone\r\ntwo");
        const outcome = await toolIn(cwd, createFiles({ fileSystem }))
          .execute("id", { path: "file", edits: one("two", "three") })
          .then(
            () => "edited",
            () => "failed",
          );
        const content = readFileSync(join(cwd, "file"), "utf8");
        const [old, fresh] = ["\ufeffone\r\ntwo", "\ufeffone\r\nthree"];
        expect(outcome === "edited" ? [fresh] : [old, fresh]).toContain(content);
        if (lasts === "once") expect(readdirSync(cwd)).toEqual(["file"]);
      },
      { lasts },
    );
    expect(points).toBeGreaterThan(12);
  }
});

describe("arguments", () => {
  const tool = toolIn(".");
  const prepared = (args: unknown) => {
    const given = tool.prepareArguments!(args) as Record<string, unknown>;
    return validateToolArguments(tool, { type: "toolCall", id: "1", name: "edit", arguments: given }) as unknown;
  };
  const edits = one("a", "b");

  test.each<[string, unknown, TextEdit[]]>([
    ["a list", { path: "f", edits }, edits],
    ["one edit without a list", { path: "f", oldText: "a", newText: "b" }, edits],
    ["a list as JSON", { path: "f", edits: JSON.stringify(edits) }, edits],
    ["one edit as JSON", { path: "f", edits: JSON.stringify(edits[0]) }, edits],
    ["an object in place of the list", { path: "f", edits: edits[0] }, edits],
    ["both forms", { path: "f", edits, oldText: "c", newText: "" }, [...edits, ...one("c", "")]],
  ])("%s is understood", (_name, args, expected) => {
    expect(prepared(args)).toEqual({ path: "f", edits: expected });
  });

  test.each<[string, unknown]>([
    ["no edits", { path: "f" }],
    ["an empty list", { path: "f", edits: [] }],
    ["half an edit", { path: "f", oldText: "a" }],
    ["broken JSON", { path: "f", edits: "[{" }],
    ["no path", { edits }],
  ])("%s is refused by the schema", (_name, args) => {
    expect(() => prepared(args)).toThrow(/edits|path|newText/);
  });
});

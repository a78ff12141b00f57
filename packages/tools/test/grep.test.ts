import { closeSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFiles } from "../src/platform/files.ts";
import { isWithin } from "../src/platform/within.ts";
import { createRecordParser, type SearchRecord } from "../src/search/records.ts";
import { measureGrowth } from "./program.ts";
import { scratch } from "./scratch.ts";
import { type Args, grep, tree, watchedSpawn } from "./grep-kit.ts";

describe("what is found", () => {
  test("matches are shown by path and line, ordered by path", async () => {
    const cwd = tree({ "b.txt": "one\nneedle two\r\n", "a/x.txt": "needle\n\nneedle again", "c.txt": "nothing" });
    expect(await grep(cwd, { pattern: "needle" })).toEqual({
      text: "a/x.txt:1: needle\na/x.txt:3: needle again\nb.txt:2: needle two",
      details: { path: cwd, matches: 3 },
    });
  });

  test("ignore files at every level count outside a repository too, hidden files are searched, .git is not", async () => {
    const cwd = tree({
      ".gitignore": "*.log\n/build/\n",
      "a.log": "needle",
      "build/x.txt": "needle",
      "sub/build/x.txt": "needle",
      "sub/.gitignore": "!keep.log\nsecret*\n",
      "sub/keep.log": "needle",
      "sub/secret.txt": "needle",
      "secret.txt": "needle",
      ".hidden/x": "needle",
      ".git/config": "needle",
      "vendor/.git": "gitdir: needle",
    });
    const expected = [".hidden/x", "secret.txt", "sub/build/x.txt", "sub/keep.log"].map((path) => `${path}:1: needle`);
    expect((await grep(cwd, { pattern: "needle" })).text.split("\n")).toEqual(expected);
  });

  test("what is above a repository hides nothing in it, and only .gitignore hides anything", async () => {
    const outer = tree({
      ".gitignore": "*\n",
      "repo/.git/HEAD": "",
      "repo/.gitignore": "*.log\n",
      "repo/a.txt": "needle",
      "repo/sub/b.txt": "needle",
      "repo/sub/b.log": "needle",
      "repo/.ignore": "c.txt\n",
      "repo/.rgignore": "d.txt\n",
      "repo/c.txt": "needle",
      "repo/d.txt": "needle",
      "worktree/.git": "gitdir: elsewhere",
      "worktree/a.txt": "needle",
      "plain/a.txt": "needle",
    });
    const shown = async (path: string) => (await grep(join(outer, path), { pattern: "needle" })).text.split("\n");
    expect(await shown("repo")).toEqual(["a.txt", "c.txt", "d.txt", "sub/b.txt"].map((path) => `${path}:1: needle`));
    expect(await shown("repo/sub")).toEqual(["b.txt:1: needle"]);
    expect(await shown("worktree")).toEqual(["a.txt:1: needle"]);
    expect(await shown("plain")).toEqual(['No matches for "needle".']);
  });

  test("a guard that hides what is above leaves a search as it is", async () => {
    const cwd = tree({ ".gitignore": "*.log", "a.log": "needle", "a.txt": "needle" });
    const guard = (path: string) => {
      if (!isWithin(cwd, path)) throw new Error("outside");
    };
    const { text } = await grep(cwd, { pattern: "needle" }, { files: createFiles({ guard }) });
    expect(text).toBe("a.txt:1: needle");
  });

  test("a glob chooses among the files that are not ignored, and brings none of those back", async () => {
    const cwd = tree({
      ".gitignore": "node_modules/\n*.gen.ts\n",
      "a.ts": "needle",
      "a.gen.ts": "needle",
      "a.js": "needle",
      "src/b.ts": "needle",
      "src/deep/c.ts": "needle",
      "node_modules/m/d.ts": "needle",
    });
    const found = async (glob: string) => {
      const { text } = await grep(cwd, { pattern: "needle", glob });
      return text.split("\n").map((line) => line.replace(":1: needle", ""));
    };
    expect(await found("*.ts")).toEqual(["a.ts", "src/b.ts", "src/deep/c.ts"]);
    expect(await found("*")).toEqual(["a.js", "a.ts", "src/b.ts", "src/deep/c.ts"]);
    expect(await found("src/**/*.ts")).toEqual(["src/b.ts", "src/deep/c.ts"]);
    expect(await found("src/*.ts")).toEqual(["src/b.ts"]);
    expect(await found("*.{js,py}")).toEqual(["a.js"]);
    expect(await found("!*.ts")).toEqual(["a.js"]);
  });

  test("ignoreCase and literal do what they say, and a pattern may begin with a dash", async () => {
    const cwd = tree({ "x.txt": "Needle\na.b\naxb\n--files\n-e" });
    const found = async (args: Args) => (await grep(cwd, args)).text;
    expect(await found({ pattern: "needle", ignoreCase: true })).toBe("x.txt:1: Needle");
    expect(await found({ pattern: "a.b" })).toBe("x.txt:2: a.b\nx.txt:3: axb");
    expect(await found({ pattern: "a.b", literal: true })).toBe("x.txt:2: a.b");
    expect(await found({ pattern: "--files" })).toBe("x.txt:4: --files");
    expect(await found({ pattern: "-e", literal: true })).toBe("x.txt:5: -e");
  });

  test("context is marked, joined where it overlaps and separated where it does not", async () => {
    const cwd = tree({ "x.txt": "1\n2 hit\n3\n4 hit\n5\n6\n7\n8 hit", "y.txt": "hit" });
    expect((await grep(cwd, { pattern: "hit", context: 1 })).text.split("\n")).toEqual([
      "x.txt-1- 1",
      "x.txt:2: 2 hit",
      "x.txt-3- 3",
      "x.txt:4: 4 hit",
      "x.txt-5- 5",
      "--",
      "x.txt-7- 7",
      "x.txt:8: 8 hit",
      "--",
      "y.txt:1: hit",
    ]);
  });

  test("a glob that is a whole path is relative to the root, and one that leads elsewhere is explained", async () => {
    const cwd = tree({ "a.ts": "needle", "sub/b.ts": "needle", "sub/c.ts": "needle" });
    const found = async (glob: string) => (await grep(cwd, { pattern: "needle", glob })).text;
    expect(await found(`${cwd}/*.ts`)).toBe("a.ts:1: needle");
    expect(await found(`!${cwd}/sub/c.ts`)).toBe("a.ts:1: needle\nsub/b.ts:1: needle");
    expect(await found("/elsewhere/*.ts")).toContain(
      `[The glob is relative to ${cwd}. To search elsewhere, set path.]`,
    );
  });

  test("a file can be searched itself, also one that is ignored, and a glob does not matter to it", async () => {
    const cwd = tree({ ".gitignore": "*.log", "sub/a.log": "needle", "-x": "needle" });
    expect((await grep(cwd, { pattern: "needle", path: "sub/a.log", glob: "*.ts" })).text).toBe("sub/a.log:1: needle");
    expect((await grep(cwd, { pattern: "needle", path: "-x" })).text).toBe("-x:1: needle");
  });

  test("what lies outside the working directory is called by its whole path", async () => {
    const cwd = tree({ "in/x": "", "out/y": "needle" });
    expect((await grep(join(cwd, "in"), { pattern: "needle", path: "../out" })).text).toBe(`${cwd}/out/y:1: needle`);
  });

  test("no match is said, and is no error", async () => {
    const cwd = tree({ "x.txt": "hay" });
    expect(await grep(cwd, { pattern: 'nee"dle' })).toEqual({
      text: 'No matches for "nee\\"dle".',
      details: { path: cwd, matches: 0 },
    });
  });

  test("links are not followed out of the tree", async () => {
    const cwd = tree({ "in/x": "needle", "out/y": "needle" });
    symlinkSync(join(cwd, "out"), join(cwd, "in", "link"));
    expect((await grep(cwd, { pattern: "needle", path: "in" })).text).toBe("in/x:1: needle");
  });
});

describe("names and texts of any kind", () => {
  test.each([
    ["with spaces.txt", "with spaces.txt"],
    ["a:12: b.txt", "a:12: b.txt"],
    ["-dash", "-dash"],
    ["--", "--"],
    ["Grüße 日本.txt", "Grüße 日本.txt"],
    ["two\nlines", '"two\\nlines"'],
    ["a: binary file matches", "a: binary file matches"],
  ])("%j", async (name, shown) => {
    const cwd = tree({ [name]: "before\nneedle: x\n", other: "needle" });
    const { text } = await grep(cwd, { pattern: "needle", context: 1 });
    expect(text).toContain(`${shown}-1- before\n${shown}:2: needle: x`);
    expect(text).toContain("other:1: needle");
  });

  test.runIf(process.platform === "linux")(
    "names and lines that are not UTF-8 are shown as far as they are",
    async () => {
      const cwd = tree({ "latin.txt": Buffer.from("needle \xe9!", "latin1") });
      writeFileSync(Buffer.from(`${cwd}/bad\xff.txt`, "latin1"), "needle");
      expect((await grep(cwd, { pattern: "needle" })).text).toBe(
        "bad\ufffd.txt:1: needle\nlatin.txt:1: needle \ufffd!",
      );
    },
  );

  test("nothing in a name or a line is obeyed by a terminal or turns the direction of reading", async () => {
    const cwd = tree({
      "a.txt": "needle \u001b[31mred\u001b[0m \u001b]52;c;aGk=\u0007 \u202etfel \u0007 x\ry\u009b1m\n",
      "b\u202e.txt": "needle\t\u200f\u{e0041}",
    });
    const { text } = await grep(cwd, { pattern: "needle" });
    expect(text.split("\n")).toEqual([
      "a.txt:1: needle red  <U+202E>tfel \u2407 x\u240dy",
      '"b\\u202e.txt":1: needle\t<U+200F>',
    ]);
  });

  test("whatever a line holds, it stays one line without control characters", async () => {
    const piece = fc.constantFrom(
      "\u001b[",
      "\u001b]",
      "\r",
      "\u0000",
      "\u0007",
      "\u0085",
      "\u202e",
      "\u2066",
      "m",
      "1",
      "é",
      "\t",
    );
    const lines = fc.array(fc.array(piece, { maxLength: 8 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(lines, async (all) => {
        const content = all.map((pieces) => `needle${pieces.join("").replaceAll("\0", "")}`).join("\n");
        const { text, details } = await grep(tree({ x: content }), { pattern: "needle" });
        expect(details.matches).toBe(all.length);
        expect(text.split("\n")).toHaveLength(all.length);
        expect(text).not.toMatch(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 20 },
    );
  });

  test("binary files are left out, and named when they match", async () => {
    const cwd = tree({
      "a.bin": Buffer.from("x\0needle"),
      "b: y\n.bin": Buffer.from("needle\0"),
      "hay.bin": Buffer.from("\0hay"),
      "t.txt": "needle",
    });
    const { text, details } = await grep(cwd, { pattern: "needle" });
    expect(text).toBe('t.txt:1: needle\n\n[Binary files match too, and are not shown: "b: y\\n.bin", a.bin]');
    expect(details.matches).toBe(1);
  });

  test("long lines are cut between characters, and a line of exactly 500 is not", async () => {
    const cwd = tree({
      "a.txt": `needle${"x".repeat(494)}`,
      "b.txt": `needle${"x".repeat(495)}`,
      "c.txt": `needle${"x".repeat(493)}${"😀".repeat(3_000)}`,
      "d.txt": `${"é".repeat(3_000)}needle`,
    });
    const { text } = await grep(cwd, { pattern: "needle" });
    expect(text.split("\n")).toEqual([
      `a.txt:1: needle${"x".repeat(494)}`,
      `b.txt:1: needle${"x".repeat(494)}… [cut]`,
      `c.txt:1: needle${"x".repeat(493)}… [cut]`,
      `d.txt:1: ${"é".repeat(500)}… [cut]`,
      "",
      "[Lines are cut after 500 characters. See them whole with read.]",
    ]);
  });

  test("a line of 200 MB is never held in memory", async () => {
    const cwd = scratch();
    const handle = openSync(join(cwd, "min.js"), "w");
    for (let written = 0; written < 200; written++) writeSync(handle, "needle ".repeat(1024 ** 2 / 7));
    closeSync(handle);
    expect((await grep(cwd, { pattern: "needle" })).text).toMatch(/^min\.js:1: (needle ){71}nee… \[cut\]\n/);
    const growth = await measureGrowth({
      imports: `
        import { createFiles } from "../src/platform/files.ts";
        import { createSpawn } from "../src/platform/spawn.ts";
        import { createGrepTool } from "../src/search/grep.ts";
      `,
      prepare: `
        const search = (cwd) =>
          createGrepTool({ cwd, files: createFiles(), spawn: createSpawn() }).execute("id", { pattern: "needle" });
        await search(args[0]);
      `,
      work: "await search(args[1]);",
      args: [tree({ a: "needle" }), cwd],
    });
    // What came through the pipe waits for the garbage collector; the line itself would take more.
    expect(growth).toBeLessThan(128 * 1024 ** 2);
  });

  test("records come out the same however the output is cut into pieces", () => {
    const output = Buffer.from(
      `./a\0${1}:needle\n./b\nc\x0012-x: y-z\n./d: binary file matches (found "\\0" byte around offset 3)\n./e\x007:${"l".repeat(9_000)}\n./f\x008:\n`,
    );
    const expected: SearchRecord[] = [
      { kind: "match", path: "./a", line: 1, text: "needle" },
      { kind: "context", path: "./b\nc", line: 12, text: "x: y-z" },
      { kind: "binary", path: "./d" },
      { kind: "match", path: "./e", line: 7, text: expect.stringMatching(/^l{4000,4096}$/) as string },
      { kind: "match", path: "./f", line: 8, text: "" },
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(output.length), { maxLength: 20 }), (cuts) => {
        const parser = createRecordParser();
        const edges = [0, ...cuts.toSorted((a, b) => a - b), output.length];
        const records = edges.slice(1).flatMap((edge, at) => parser.push(output.subarray(edges[at], edge)));
        expect(records).toEqual(expected);
      }),
    );
  });
});

test("the end of a line is before its CR and LF", async () => {
  expect((await grep(tree({ x: "alpha\r\nalphabet\r\n" }), { pattern: "alpha$" })).text).toBe("x:1: alpha");
});

test("nothing of the environment reaches ripgrep", async () => {
  const { spawn, requests } = watchedSpawn();
  await grep(tree({ x: "needle" }), { pattern: "needle" }, { spawn });
  expect(requests[0]!.env).toEqual({});
  expect(requests[0]!.argv).toContain("--no-config");
});

import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { TextContent } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn, type RunningProcess, type SpawnRequest } from "../src/platform/spawn.ts";
import { isWithin } from "../src/platform/within.ts";
import { createFindTool } from "../src/search/find.ts";
import { createGrepTool, type GrepOptions } from "../src/search/grep.ts";
import { createRecordParser, type SearchRecord } from "../src/search/records.ts";
import { createComplaints } from "../src/search/unread.ts";
import { measureGrowth } from "./program.ts";
import { scratch } from "./scratch.ts";

type Args = Parameters<ReturnType<typeof createGrepTool>["execute"]>[1];

const grep = async (cwd: string, args: Args, options: Partial<GrepOptions> = {}, signal?: AbortSignal) => {
  const tool = createGrepTool({ cwd, files: createFiles(), spawn: createSpawn(), ...options });
  const { content, details } = await tool.execute("id", args, signal);
  return { text: (content[0] as TextContent).text, details: details! };
};

/** A directory with these files. */
const tree = (files: Record<string, string | Buffer>, cwd = scratch()) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  return cwd;
};

/** A file that takes minutes to search: all of it is a hole. */
const endless = (path: string) => {
  const handle = openSync(path, "w");
  ftruncateSync(handle, 4 * 1024 ** 4);
  closeSync(handle);
};

/** Remembers what was started, and says when. Two threads, so that an endless file never stands before another one. */
const watchedSpawn = () => {
  const requests: SpawnRequest[] = [];
  const children: RunningProcess[] = [];
  let begun: () => void;
  const started = new Promise<void>((resolve) => (begun = resolve));
  const real = createSpawn(({ argv: [program, ...args], ...rest }) => ({
    ...rest,
    argv: [program, "--threads=2", ...args],
  }));
  const spawn = async (request: SpawnRequest) => {
    const child = await real(request);
    requests.push(request);
    children.push(child);
    begun();
    return child;
  };
  return { spawn, requests, children, started };
};

const isAlive = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] !== "Z";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
};

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

describe("limits", () => {
  const many = (count: number, text = "needle") => Array.from({ length: count }, () => text).join("\n");

  test("no more matches than the limit are shown, and the remark says that there are more", async () => {
    const cwd = tree({ "x.txt": many(101) });
    const { text, details } = await grep(cwd, { pattern: "needle" });
    expect(text.split("\n\n")).toEqual([
      Array.from({ length: 100 }, (_unused, at) => `x.txt:${at + 1}: needle`).join("\n"),
      "[100 matches shown; there are more. Raise limit, or narrow pattern, path or glob.]",
    ]);
    expect(details).toEqual({ path: cwd, matches: 100, stoppedBy: "limit" });
  });

  test("a limit and a context of any size will do", async () => {
    const cwd = tree({ "x.txt": "a\nneedle\nb" });
    expect((await grep(cwd, { pattern: "needle", limit: 1e30, context: 1e30 })).text).toBe(
      "x.txt-1- a\nx.txt:2: needle\nx.txt-3- b",
    );
  });

  test("exactly as many as the limit need no remark, over one file or several", async () => {
    const cwd = tree({ "x.txt": many(2), "y.txt": many(1) });
    expect((await grep(cwd, { pattern: "needle", limit: 3 })).text).not.toContain("[");
    expect((await grep(cwd, { pattern: "needle", limit: 2 })).text).toContain("[2 matches shown; there are more.");
  });

  test("the context of a match beyond the limit is not shown", async () => {
    const cwd = tree({ "x.txt": "needle\na\nb\nc\nd\nneedle" });
    const { text } = await grep(cwd, { pattern: "needle", limit: 1, context: 1 });
    expect(text).toMatch(/^x\.txt:1: needle\nx\.txt-2- a\n\n\[1 match shown;/);
  });

  test("the shared limits hold whatever the limit for matches is, and memory with them", async () => {
    const cwd = tree({ "x.txt": many(100_000, `needle ${"x".repeat(300)}`), "y.txt": many(5_000) });
    for (const [path, size] of [
      ["x.txt", "50.0 KB"],
      ["y.txt", "2,000 lines"],
    ]) {
      const { text, details } = await grep(cwd, { pattern: "needle", path: path!, limit: 1_000_000 });
      const [body, notice] = text.split("\n\n");
      expect(Buffer.byteLength(body!)).toBeLessThanOrEqual(50 * 1024);
      expect(body!.split("\n").length).toBe(details.matches);
      expect(details.matches).toBeLessThanOrEqual(2_000);
      expect(notice).toContain(`[Cut at ${size}; there is more.`);
      expect(details.stoppedBy).toBe("size");
    }
  });

  test.runIf(process.platform === "linux")("ripgrep is ended as soon as the limit is reached", async () => {
    const cwd = tree({ "a.txt": many(10) });
    endless(join(cwd, "hole"));
    const { spawn, children } = watchedSpawn();
    expect((await grep(cwd, { pattern: "needle", limit: 5 }, { spawn })).details.matches).toBe(5);
    expect(isAlive(children[0]!.pid!)).toBe(false);
  });

  test.runIf(process.platform === "linux")("a search that takes too long is ended, with what it found", async () => {
    const cwd = tree({ "a.txt": "needle" });
    endless(join(cwd, "hole"));
    const clock = createFakeClock();
    const { spawn, children, started } = watchedSpawn();
    const running = grep(cwd, { pattern: "needle" }, { spawn, clock });
    await started;
    await new Promise((resolve) => children[0]!.stdout.once("data", resolve));
    await clock.advance(20_000);
    expect(await running).toEqual({
      text: "a.txt:1: needle\n\n[Stopped after 20 s; there may be more. Narrow path or glob.]",
      details: { path: cwd, matches: 1, stoppedBy: "time" },
    });
    expect(isAlive(children[0]!.pid!)).toBe(false);
    expect(clock.waiting).toBe(0);
  });

  test.runIf(process.platform === "linux")("one that found nothing in that time is an error", async () => {
    const cwd = tree({});
    endless(join(cwd, "hole"));
    const clock = createFakeClock();
    const { spawn, started } = watchedSpawn();
    const outcome = grep(cwd, { pattern: "needle" }, { spawn, clock }).catch((error: unknown) => error);
    await started;
    await clock.advance(19_999);
    expect(clock.waiting).toBe(1);
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      code: "timeout",
      message: "Nothing was found; stopped after 20 s. Narrow path or glob, or simplify the pattern.",
    });
  });

  test.runIf(process.platform === "linux")("one that takes too much memory is ended, with what it found", async () => {
    const cwd = tree({ "a.txt": "needle" });
    endless(join(cwd, "hole"));
    const clock = createFakeClock();
    const { spawn, children, started } = watchedSpawn();
    const running = grep(cwd, { pattern: "needle" }, { spawn, clock, memoryLimitBytes: 1_024 });
    await started;
    await new Promise((resolve) => children[0]!.stdout.once("data", resolve));
    await clock.advance(100);
    expect(await running).toEqual({
      text: "a.txt:1: needle\n\n[Stopped at 1.0 KB of memory: a line is huge; there may be more. Narrow path or glob.]",
      details: { path: cwd, matches: 1, stoppedBy: "memory" },
    });
    expect(isAlive(children[0]!.pid!)).toBe(false);
    expect(clock.waiting).toBe(0);
  });

  test("a pattern that would take other engines for ever is answered at once", async () => {
    const cwd = tree({ "x.txt": "a".repeat(100_000) });
    expect((await grep(cwd, { pattern: "(a+)+(a|aa)*$b" })).text).toMatch(/^No matches/);
  });

  test.runIf(process.platform === "linux")("abort ends ripgrep at once, before and while it runs", async () => {
    const cwd = tree({});
    endless(join(cwd, "hole"));
    const controller = new AbortController();
    const { spawn, children, started } = watchedSpawn();
    // No timer fires, so the abort cannot be waiting for one.
    const running = grep(cwd, { pattern: "needle" }, { spawn, clock: createFakeClock() }, controller.signal);
    await started;
    controller.abort(new Error("enough of this"));
    await expect(running).rejects.toMatchObject({ code: "aborted", cause: { message: "enough of this" } });
    expect(isAlive(children[0]!.pid!)).toBe(false);
    await expect(grep(cwd, { pattern: "needle" }, { spawn }, controller.signal)).rejects.toMatchObject({
      code: "aborted",
    });
    expect(children.length).toBe(1);
  });
});

describe("what is refused", () => {
  test.each([
    ["(abc", /unclosed group\nSet literal: true/],
    ["[a", /unclosed character class\nSet literal: true/],
    ["x{99999999999}", /decimal literal invalid\nSet literal: true/],
    ["((((a{100}){100}){100}){100}){100}", /exceeds size limit of \d+\nUse fewer or smaller repetitions\.$/],
    ["(?=a)", /look-around.*\nSet literal: true/s],
  ])("a bad pattern, with ripgrep's reason: %s", async (pattern, expected) => {
    await expect(grep(tree({ x: "" }), { pattern })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(expected) as string,
    });
  });

  test.each([
    [{ pattern: "" }, /empty/],
    [{ pattern: "a\0b" }, /zero byte/],
    [{ pattern: "a\nb", literal: true }, /one by one; search for one of its lines\.$/],
    [{ pattern: "a\nb" }, /one by one; search for one of its lines\.$/],
    [{ pattern: "a\\nb" }, /one by one; search for one of its lines\.$/],
    [{ pattern: "a\\x00b" }, /^ripgrep refuses .* it is impossible to match$/],
    [{ pattern: "x".repeat(200_000) }, /more than 32768 characters/],
    [{ pattern: "x", glob: "{a" }, /not a valid glob: a { is not closed/],
    [{ pattern: "x", glob: "[a" }, /not a valid glob: a \[ is not closed/],
    [{ pattern: "x", glob: "a\0" }, /not a valid glob/],
    [{ pattern: "x", glob: "![" }, /not a valid glob: a \[ is not closed.*itself\.$/],
    [{ pattern: "x", glob: "!{a" }, /not a valid glob: a { is not closed.*itself\.$/],
    [{ pattern: "x", glob: "!a\\" }, /^ripgrep refuses the search: error parsing glob .*'$/],
    [{ pattern: "x", glob: "!" }, /"!" names nothing to exclude\. Use e\.g\. !\*\.ts\.$/],
    [{ pattern: "x", glob: "!  " }, /names nothing to exclude/],
    [{ pattern: "x", path: "nowhere" }, /There is no file or directory nowhere/],
    [{ pattern: "x", path: "/dev/zero" }, /is a device/],
  ])("%j", async (args, expected) => {
    await expect(grep(tree({ x: "" }), args)).rejects.toThrow(expected);
  });

  test("the guard is asked for the real root before anything is started", async () => {
    const cwd = tree({ "secret/x": "needle" });
    symlinkSync(join(cwd, "secret"), join(cwd, "link"));
    const files = createFiles({
      guard(realPath) {
        if (realPath.startsWith(join(cwd, "secret"))) throw new Error(`not ${realPath}`);
      },
    });
    const { spawn, requests } = watchedSpawn();
    for (const path of ["secret", "link", "link/x"]) {
      await expect(grep(cwd, { pattern: "needle", path }, { files, spawn })).rejects.toThrow(/^not .*secret/);
    }
    expect(requests).toEqual([]);
  });

  test("a missing ripgrep is said, with what to do", async () => {
    const locate = () => Promise.reject(new Error("not here"));
    await expect(grep(tree({}), { pattern: "x" }, { locate })).rejects.toThrow(/ripgrep is not installed .*Install/);
    const cwd = tree({});
    await expect(grep(cwd, { pattern: "x" }, { locate: () => Promise.resolve(join(cwd, "no-rg")) })).rejects.toThrow(
      /ripgrep could not be started: .*ENOENT/,
    );
  });
});

describe("what could not be searched", () => {
  test("a file that has just gone is named, with the reason", async () => {
    const spawn = createSpawn((request) => ({ ...request, argv: [...request.argv, "./gone", "./two: x"] }));
    const cwd = tree({ a: "needle" });
    expect((await grep(cwd, { pattern: "needle" }, { spawn })).text).toBe(
      "a:1: needle\n\n[Could not be read, so not searched: gone (No such file or directory), two: x (No such file or directory).]",
    );
    expect((await grep(cwd, { pattern: "hay" }, { spawn })).text).toMatch(
      /^No matches for "hay"\.\n\[Could not be read/,
    );
  });

  test("of many only the first are named, and all are counted", async () => {
    const gone = Array.from({ length: 3_000 }, (_unused, at) => `./gone${at}`);
    const spawn = createSpawn((request) => ({ ...request, argv: [...request.argv, ...gone] }));
    const { text } = await grep(tree({ a: "needle" }), { pattern: "needle" }, { spawn });
    expect(text).toMatch(
      /^a:1: needle\n\n\[Could not be read, so not searched: (gone\d+ \([^)]*\)(, )?){5} and 2995 more\.\]$/,
    );
  });

  test("files and directories that may not be read are named", async ({ skip }) => {
    const cwd = tree({ "open/a": "needle", "closed/b": "needle", "file\u001b": "needle" });
    chmodSync(cwd, 0o755);
    for (const name of ["closed", "file\u001b"]) chmodSync(join(cwd, name), 0);
    // Root can read everything, so then ripgrep runs as another user.
    const isRoot = process.getuid?.() === 0;
    if (isRoot && !existsSync("/usr/bin/setpriv")) skip("there is no setpriv to run ripgrep as another user");
    const asOtherUser = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] as const;
    const spawn = createSpawn((request) =>
      isRoot ? { ...request, argv: [...asOtherUser, ...request.argv] } : request,
    );
    try {
      const { text } = await grep(cwd, { pattern: "needle" }, { spawn });
      const [lines, notice] = text.split("\n\n");
      expect(lines).toBe("open/a:1: needle");
      expect(notice).toMatch(/^\[Could not be read, so not searched: .* \(Permission denied\)\.\]$/);
      expect(notice).toContain("closed (Permission denied)");
      expect(notice).toContain('"file\\u001b" (Permission denied)');
      const find = createFindTool({ cwd, files: createFiles(), spawn });
      const { content } = await find.execute("id", { pattern: "*" });
      expect((content[0] as TextContent).text).toBe(
        '"file\\u001b"\nopen/a\n\n[Could not be read, so not searched: closed (Permission denied).]',
      );
    } finally {
      chmodSync(join(cwd, "closed"), 0o755);
    }
  });

  test("complaints come out the same however they are cut into pieces", () => {
    const all = Buffer.from(
      "rg: ./a: b: Permission denied (os error 13)\nrg: ./é: IO error for operation on ./é: No such file or directory (os error 2)\nelse\n",
    );
    fc.assert(
      fc.property(fc.array(fc.nat(all.length), { maxLength: 8 }), (cuts) => {
        const complaints = createComplaints();
        const edges = [0, ...cuts.toSorted((a, b) => a - b), all.length];
        for (const [at, edge] of edges.slice(1).entries()) complaints.push(all.subarray(edges[at], edge));
        expect(complaints.unread).toEqual({
          first: [
            { path: "./a: b", reason: "Permission denied" },
            { path: "./é", reason: "No such file or directory" },
          ],
          count: 2,
        });
        expect(complaints.reason).toBe("else");
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

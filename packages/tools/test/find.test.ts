import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TextContent } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn } from "../src/platform/spawn.ts";
import { createFindTool, type FindOptions } from "../src/search/find.ts";
import { parseGlob } from "../src/search/glob.ts";
import { createFirstNames } from "../src/search/names.ts";
import { locateRipgrep } from "../src/search/ripgrep.ts";
import { scratch } from "./scratch.ts";

type Args = Parameters<ReturnType<typeof createFindTool>["execute"]>[1];

const find = async (cwd: string, args: Args, options: Partial<FindOptions> = {}, signal?: AbortSignal) => {
  const tool = createFindTool({ cwd, files: createFiles(), spawn: createSpawn(), ...options });
  const { content, details } = await tool.execute("id", args, signal);
  return { text: (content[0] as TextContent).text, details: details! };
};

const found = async (cwd: string, args: Args) => (await find(cwd, args)).text.split("\n");

/** A directory with these files. */
const tree = (paths: readonly string[], contents: Record<string, string> = {}) => {
  const cwd = scratch();
  for (const path of [...paths, ...Object.keys(contents)]) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), contents[path] ?? "");
  }
  return cwd;
};

describe("what is found", () => {
  const cwd = () => tree(["b.ts", "a.ts", "src/c.ts", "src/deep/er/d.ts", "src/deep/e.js", "src.ts/f", ".config/g.ts"]);

  test.each([
    ["*.ts", [".config/g.ts", "a.ts", "b.ts", "src/c.ts", "src/deep/er/d.ts"]],
    ["a.ts", ["a.ts"]],
    ["d.ts", ["src/deep/er/d.ts"]],
    ["src/*.ts", ["src/c.ts"]],
    ["./src/*.ts", ["src/c.ts"]],
    ["/*.ts", ["a.ts", "b.ts"]],
    ["src/**/*.ts", ["src/c.ts", "src/deep/er/d.ts"]],
    ["**/deep/**", ["src/deep/e.js", "src/deep/er/d.ts"]],
    ["src/deep/", ["src/deep/e.js", "src/deep/er/d.ts"]],
    ["**/*.{js,md}", ["src/deep/e.js"]],
    ["{a,d,src/c}{.ts,}", ["a.ts", "src/c.ts"]],
    ["[a-b].ts", ["a.ts", "b.ts"]],
    ["[!a-b].ts", [".config/g.ts", "src/c.ts", "src/deep/er/d.ts"]],
    ["?.js", ["src/deep/e.js"]],
  ])("%s", async (pattern, expected) => {
    expect(await found(cwd(), { pattern })).toEqual(expected);
  });

  test("a glob that is a whole path is relative to the root", async () => {
    const root = cwd();
    expect(await found(root, { pattern: `${root}/src/*.ts` })).toEqual(["src/c.ts"]);
    expect(await found(root, { pattern: `${root}/*.ts` })).toEqual(["a.ts", "b.ts"]);
    expect(await found(root, { pattern: `${root}/src/deep/*`, path: "src" })).toEqual(["src/deep/e.js"]);
  });

  test("a glob that may be meant for another place is explained", async () => {
    const root = cwd();
    for (const pattern of ["/elsewhere/*.ts", "~/project/*.ts"]) {
      expect((await find(root, { pattern })).text).toContain(`[The glob is relative to ${root}. To search elsewhere`);
    }
    expect((await find(root, { pattern: "no.ts" })).text).not.toContain("relative");
  });

  test("a path narrows the search, and results stay relative to the working directory", async () => {
    expect(await find(cwd(), { pattern: "deep/**/*.ts", path: "src" })).toMatchObject({
      text: "src/deep/er/d.ts",
      details: { shown: 1, total: 1 },
    });
  });

  test("ignore files at every level count, also for * and outside a repository; .git is left out", async () => {
    const root = tree(
      [".git/config", "vendor/.git", "node_modules/m/x.js", "x.log", "sub/keep.log", "sub/tmp/y", ".env"],
      {
        ".gitignore": "node_modules/\n*.log\n",
        "sub/.gitignore": "!keep.log\ntmp\n",
      },
    );
    for (const pattern of ["*", "**", "**/*"]) {
      expect(await found(root, { pattern })).toEqual([".env", ".gitignore", "sub/.gitignore", "sub/keep.log"]);
    }
    expect(await found(root, { pattern: "*.log" })).toEqual(["sub/keep.log"]);
  });

  test.each(["with space", "a:b", "-dash", "--files", "Grüße 日本", "[x]", "{x}", "a\\b", "!x"])(
    "a file called %j is found by its name and by question marks",
    async (name) => {
      const root = tree([name, "some other file"]);
      expect(await found(root, { pattern: name.replace(/[[\]{}\\]/g, "\\$&") })).toEqual([name]);
      expect(await found(root, { pattern: "?".repeat([...name].length) })).toEqual([name]);
    },
  );

  test("a name with a line break takes one line", async () => {
    expect(await found(tree(["a\nb", "c"]), { pattern: "*" })).toEqual(['"a\\nb"', "c"]);
  });

  test.runIf(process.platform === "linux")("names that are not UTF-8 are shown as far as they are", async () => {
    const root = tree([]);
    writeFileSync(Buffer.from(`${root}/bad\xff.txt`, "latin1"), "");
    expect(await found(root, { pattern: "*.txt" })).toEqual(["bad\ufffd.txt"]);
  });

  test("directories and links are not listed, and links are not followed", async () => {
    const root = tree(["dir/file"]);
    symlinkSync("dir/file", join(root, "link"));
    symlinkSync("dir", join(root, "directory-link"));
    expect(await found(root, { pattern: "*" })).toEqual(["dir/file"]);
  });

  test("no match is said, and is no error", async () => {
    const root = tree(["a"]);
    expect(await find(root, { pattern: "*.zig" })).toEqual({
      text: 'No files match "*.zig". Directories and links are not listed: see ls.',
      details: { path: root, shown: 0, total: 0 },
    });
  });
});

describe("limits", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_unused, at) => `d${at % 7}/f${at}.txt`);

  test("the first files in order are shown, and how many there are", async () => {
    const names = numbered(3_000);
    const root = tree(names);
    const { text, details } = await find(root, { pattern: "*.txt" });
    const [body, notice] = text.split("\n\n");
    expect(body!.split("\n")).toEqual(names.toSorted().slice(0, 1_000));
    expect(notice).toBe("[1,000 of 3,000 files shown. Raise limit, or narrow pattern or path.]");
    expect(details).toEqual({ path: root, shown: 1_000, total: 3_000, stoppedBy: "limit" });
    const few = await find(root, { pattern: "*.txt", limit: 2 });
    expect(few.text).toMatch(/^d0\/f0\.txt\nd0\/f1001\.txt\n\n\[2 of 3,000/);
    expect((await find(root, { pattern: "*.txt", limit: 3_000 })).text.split("\n")).toEqual(names.toSorted());
  });

  test("the first in the order of their bytes are kept, however they come and are cut into pieces", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "\uffee", "😀"), minLength: 1, maxLength: 4 });
    const names = fc.array(name, { maxLength: 60 });
    const cuts = fc.array(fc.nat(), { maxLength: 6 });
    fc.assert(
      fc.property(
        names,
        cuts,
        fc.integer({ min: 1, max: 10 }),
        fc.constantFrom("*", "*a*"),
        (all, at, limit, pattern) => {
          // Enough of them that what is kept has to be settled on the way.
          const many = Array.from({ length: 20 }, () => all).flat();
          const output = Buffer.from(many.map((one) => `${one}\0`).join(""));
          const edges = [0, ...at.map((cut) => cut % (output.length + 1)).toSorted((a, b) => a - b), output.length];
          const glob = parseGlob(pattern);
          const first = createFirstNames(glob, limit);
          for (const [index, edge] of edges.slice(1).entries()) first.push(output.subarray(edges[index], edge));
          const expected = many
            .filter((one) => glob.matches(one))
            .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
          expect(first.total).toBe(expected.length);
          expect(first.sorted()).toEqual(expected.slice(0, limit));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("the shared limit of bytes holds", async () => {
    const root = tree(Array.from({ length: 600 }, (_unused, at) => `${"long".repeat(40)}${at}`));
    const { text, details } = await find(root, { pattern: "*" });
    const [body, notice] = text.split("\n\n");
    expect(Buffer.byteLength(body!)).toBeLessThanOrEqual(50 * 1024);
    expect(body!.split("\n").length).toBe(details.shown);
    expect(notice).toBe(`[${details.shown} of 600 files shown. Cut at 50.0 KB. Narrow pattern or path.]`);
    expect(details.stoppedBy).toBe("size");
  });

  /** A program in ripgrep's place that names one file and then never ends. */
  const stuck = createSpawn((request) => ({
    ...request,
    argv: [process.execPath, "-e", "process.stdout.write('./a\\0'); setInterval(() => {}, 1000)"],
  }));

  test("a search that takes too long is ended, with what it found", async () => {
    const clock = createFakeClock();
    let onOutput: () => void;
    const output = new Promise<void>((resolve) => (onOutput = resolve));
    const spawn: FindOptions["spawn"] = async (request) => {
      const child = await stuck(request);
      child.stdout.once("data", () => onOutput());
      return child;
    };
    const running = find(tree(["a"]), { pattern: "*" }, { spawn, clock });
    await output;
    await clock.advance(20_000);
    expect(await running).toMatchObject({
      text: "a\n\n[Stopped after 20 s; there may be more. Narrow path.]",
      details: { shown: 1, total: 1, stoppedBy: "time" },
    });
  });

  test("abort ends a search that hangs", async () => {
    const controller = new AbortController();
    const spawn: FindOptions["spawn"] = async (request) => {
      const child = await stuck(request);
      child.stdout.once("data", () => controller.abort(new Error("stop")));
      return child;
    };
    await expect(find(tree(["a"]), { pattern: "*" }, { spawn }, controller.signal)).rejects.toMatchObject({
      code: "aborted",
      cause: { message: "stop" },
    });
  });
});

describe("what is refused", () => {
  test.each([
    [{ pattern: "" }, /Use \* to list every file/],
    [{ pattern: "a\0" }, /not a valid glob/],
    [{ pattern: "../*.ts" }, /^The glob \.\.\/\*\.ts leads out of path/],
    [{ pattern: "{a}".repeat(20_000) }, /^The glob has more than 4096 characters/],
    [{ pattern: "{a,b" }, /a { is not closed/],
    [{ pattern: "{a,b}".repeat(9) }, /more than 256 alternatives/],
    [{ pattern: "*", path: "file" }, /file is a file, not a directory/],
    [{ pattern: "*", path: "nowhere" }, /There is no file or directory nowhere/],
  ])("%j", async (args, expected) => {
    await expect(find(tree(["file"]), args)).rejects.toThrow(expected);
  });

  test("the guard is asked for the real root", async () => {
    const cwd = tree(["secret/x"]);
    symlinkSync(join(cwd, "secret"), join(cwd, "link"));
    const files = createFiles({
      guard(realPath) {
        if (realPath === join(cwd, "secret")) throw new Error("denied");
      },
    });
    await expect(find(cwd, { pattern: "*", path: "link" }, { files })).rejects.toThrow("denied");
  });
});

describe("globs", () => {
  const names = ["a", "b", "ab", "ba", "aab", "a.b", "-"];
  const paths = names.flatMap((name) => [name, `x/${name}`, `x/y/${name}`, `y/x/y/${name}`]);
  // No negated classes: those of ripgrep match a slash too.
  const piece = fc.constantFrom("a", "b", ".", "-", "*", "?", "[ab]", "[a-b.]", "{a,b}", "{ab,b}", "{a,x/b}");
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")) },
    { weight: 2, arbitrary: fc.constantFrom("x", "y", "**", "*") },
  );
  const pattern = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join("/"))
    // Two stars inside a name mean different things to different programs.
    .filter((text) => !/[^/]\*\*|\*\*[^/]/.test(text))
    .filter((text) => !/(^|\/)\.{1,2}($|\/)/.test(text))
    // More braces have more alternatives than a glob may have.
    .filter((text) => text.split("{").length <= 8);

  test("they choose the files that ripgrep's own globs choose", async () => {
    const cwd = tree(paths);
    const program = await locateRipgrep();
    const oracle = (text: string) => {
      try {
        const output = execFileSync(program, ["--no-config", "--files", "--hidden", `--glob=${text}`], { cwd });
        return output.toString().split("\n").filter(Boolean).toSorted();
      } catch (error) {
        if ((error as { status?: number }).status === 1) return [];
        throw error;
      }
    };
    fc.assert(
      fc.property(pattern, (text) => {
        const glob = parseGlob(text);
        expect(paths.filter((path) => glob.matches(path)).toSorted()).toEqual(oracle(text));
      }),
      { numRuns: process.env["TAU_LONG"] ? 150 : 60 },
    );
  });

  test("what the tool finds is what its glob matches", async () => {
    const cwd = tree(paths);
    await fc.assert(
      fc.asyncProperty(pattern, async (text) => {
        const { details, text: shown } = await find(cwd, { pattern: text });
        const expected = paths.filter((path) => parseGlob(text).matches(path)).toSorted();
        expect(details.total === 0 ? [] : shown.split("\n")).toEqual(expected);
      }),
      { numRuns: process.env["TAU_LONG"] ? 50 : 25 },
    );
  });

  test("one that says that it matches everything does", () => {
    for (const text of ["*", "**", "**/*", "**/**", "/**", "{a,*}", "***"])
      expect(parseGlob(text).matchesAll).toBe(true);
    fc.assert(
      fc.property(pattern, (text) => {
        const glob = parseGlob(text);
        if (glob.matchesAll) expect(paths.filter((path) => !glob.matches(path))).toEqual([]);
      }),
    );
    for (const text of ["*/*", "/*", "a", "*a", "**/a/*", "?"]) expect(parseGlob(text).matchesAll).toBe(false);
  });

  test("nothing but ** goes across a slash", () => {
    for (const text of ["x[!a]a", "x?a", "x*a", "[!b]a"]) expect(parseGlob(text).matches("x/a")).toBe(false);
    expect(parseGlob("**/a").matches("x/a")).toBe(true);
  });

  test("many stars cost no more than the lengths", () => {
    const before = process.cpuUsage();
    const glob = parseGlob(`**/${"*a".repeat(100)}*b/**/${"?*".repeat(50)}c`);
    expect(glob.matches(Array.from({ length: 16 }, () => "a".repeat(250)).join("/"))).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
  });
});

/** Tests the limits of a search, what it refuses, and what it could not search. */
import { chmodSync, closeSync, existsSync, ftruncateSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { TextContent } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn } from "../src/platform/spawn.ts";
import { createFindTool } from "../src/search/find.ts";
import { createComplaints } from "../src/search/unread.ts";
import { grep, tree, watchedSpawn } from "./grep-kit.ts";

/** A file that takes minutes to search: all of it is a hole. */
const endless = (path: string) => {
  const handle = openSync(path, "w");
  ftruncateSync(handle, 4 * 1024 ** 4);
  closeSync(handle);
};

const isAlive = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] !== "Z";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
};

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

/** The decisions of the tool `lsp` that need no server: places, reports that belong to a text, checkers, and the table of servers. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { findTargetColumn } from "../../src/lsp/arguments.ts";
import { findCheckers, parseProblems } from "../../src/lsp/checkers.ts";
import { DiagnosticStore, waitForDiagnostics, type WaitForDiagnosticsOptions } from "../../src/lsp/diagnostics.ts";
import { estimateBytes } from "../../src/lsp/estimate-bytes.ts";
import { serverTable } from "../../src/lsp/server-table.ts";
import { makeDirectory } from "./kit.ts";

test.each<[line: string, symbol: string | undefined, column: number]>([
  ["  call(a, b)", undefined, 2],
  ["  call(a, b)", "", 2],
  ["size = size + resize", "size", 0],
  ["size = size + resize", "size#2", 7],
  ["resize = size", "size", 9],
  ["resized", "size", 2],
  ["color = #2", "#2", 8],
  ["look at a#2", "a#2", 8],
  ["𝒳 = naïve", "naïve", 5],
])("in %j the symbol %j is at column %i", (line, symbol, column) => {
  expect(findTargetColumn(line, symbol, "line 1")).toBe(column);
});

test.each([
  ["size = size", "size#3", '"size" is only 2 times on line 1 of a.ts: size = size'],
  ["size = size", "length", '"length" is not on line 1 of a.ts: size = size'],
])("in %j there is no %j", (line, symbol, message) => {
  expect(() => findTargetColumn(line, symbol, "line 1 of a.ts")).toThrow(message);
});

const problem = { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }, message: "bad" };

describe("reports of problems", () => {
  interface Report {
    atMs: number;
    version: number | null;
    items?: object[];
  }

  /** Waits while reports arrive; resolves with how many problems were found, and after which time. */
  async function wait(reports: readonly Report[], options: WaitForDiagnosticsOptions) {
    const clock = createFakeClock();
    const store = new DiagnosticStore(clock);
    const start = clock.monotonic();
    for (const { atMs, version, items = [problem] } of reports) {
      clock.setTimer(atMs, () => store.set("/a", items, { version, messageBytes: 100 }));
    }
    let result: { count: number | undefined; afterMs: number } | undefined;
    const sentAt = options.sentAt === undefined ? {} : { sentAt: start + options.sentAt };
    const changedAt = options.changedAt === undefined ? {} : { changedAt: start + options.changedAt };
    const finish = async () => {
      const found = await waitForDiagnostics(store, clock, "/a", { ...options, ...sentAt, ...changedAt });
      result = { count: found?.length, afterMs: clock.monotonic() - start };
    };
    void finish();
    while (!result) await clock.advance(50);
    return result;
  }

  test.each<[name: string, reports: Report[], options: WaitForDiagnosticsOptions, count: number | undefined]>([
    ["nothing is reported", [], {}, undefined],
    ["the version is the expected one", [{ atMs: 10, version: 2 }], { expectedDocumentVersion: 2 }, 1],
    ["the version is an older one", [{ atMs: 10, version: 1 }], { expectedDocumentVersion: 2 }, undefined],
    [
      "the expected version follows an older one",
      [
        { atMs: 10, version: 1, items: [problem, problem] },
        { atMs: 500, version: 2 },
      ],
      { expectedDocumentVersion: 2 },
      1,
    ],
    ["no version is expected", [{ atMs: 10, version: 7 }], {}, 1],
    ["a report without a version will do", [{ atMs: 10, version: null }], { expectedDocumentVersion: 2 }, 1],
    ["a report without a version will not do", [{ atMs: 10, version: null }], { allowUnversioned: false }, undefined],
    ["the report has to be a later one", [{ atMs: 10, version: 1 }], { minVersion: 1 }, undefined],
    [
      "the report is a later one",
      [
        { atMs: 10, version: 1 },
        { atMs: 20, version: 1 },
      ],
      { minVersion: 1 },
      1,
    ],
    ["a report without a version is older than the text", [{ atMs: 10, version: null }], { sentAt: 100 }, undefined],
    [
      "an empty report without a version is followed by another within a second",
      [
        { atMs: 10, version: null, items: [] },
        { atMs: 900, version: null },
      ],
      { sentAt: 0 },
      1,
    ],
    [
      "a report is followed by another after a change of another file",
      [
        { atMs: 10, version: 1 },
        { atMs: 700, version: 1, items: [] },
      ],
      { changedAt: 20 },
      0,
    ],
    ["a report is the last after a change of another file", [{ atMs: 10, version: 1 }], { changedAt: 20 }, 1],
    ["an empty report without a version is the last", [{ atMs: 10, version: null, items: [] }], { sentAt: 0 }, 0],
  ])("%s", async (_name, reports, options, count) => {
    expect((await wait(reports, options)).count).toBe(count);
  });

  test("are waited for as long as the call says, by default three seconds, and looked for every 100 ms", async () => {
    expect((await wait([], {})).afterMs).toBe(3_000);
    expect((await wait([], { timeoutMs: 450 })).afterMs).toBe(450);
    expect((await wait([{ atMs: 110, version: 1 }], {})).afterMs).toBe(200);
  });

  test("stop the wait of a call that is stopped", async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const waiting = waitForDiagnostics(new DiagnosticStore(clock), clock, "/a", { signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "aborted" });
  });
});

test("the output of each checker is read", async () => {
  const cwd = await makeDirectory();
  for (const name of ["tsconfig.json", "Cargo.toml", "go.mod", "pyrightconfig.json"]) {
    await writeFile(join(cwd, name), "");
  }
  const checkers = findCheckers({ cwd, isProjectTrusted: true, env: { PATH: "" } });
  const read = (program: string, output: string) =>
    parseProblems(checkers.find(({ checker }) => checker.program === program)!.checker, output, cwd);
  expect(checkers.map(({ command }) => command)).toEqual([undefined, undefined, undefined, undefined]);
  expect(read("tsc", "src/a.ts(3,7): error TS2322: Type 'x'.\n  More about it.\nFound 1 error.")).toEqual([
    { path: "src/a.ts", line: 3, column: 7, severity: "error", source: "TS2322", message: "Type 'x'." },
  ]);
  expect(
    read("cargo", "src/a.rs:2:9: warning: unused\nsrc/a.rs:4:1: error[E0308]: mismatched types\nerror: gone"),
  ).toEqual([
    { path: "src/a.rs", line: 2, column: 9, severity: "warning", message: "unused" },
    { path: "src/a.rs", line: 4, column: 1, severity: "error", source: "E0308", message: "mismatched types" },
  ]);
  expect(read("go", "# example\n./a.go:5:2: undefined: x\nvet: b/b.go:7: odd")).toEqual([
    { path: "a.go", line: 5, column: 2, severity: "error", message: "undefined: x" },
    { path: "b/b.go", line: 7, severity: "error", message: "odd" },
  ]);
  const pyright = `${cwd}/a.py\n  ${cwd}/a.py:1:6 - error: Import "x" (reportMissingImports)\n  /b.py:2:1 - information: note`;
  expect(read("pyright", pyright)).toEqual([
    { path: "a.py", line: 1, column: 6, severity: "error", source: "reportMissingImports", message: 'Import "x"' },
    { path: "/b.py", line: 2, column: 1, severity: "info", message: "note" },
  ]);
});

test.each<[what: string, line: string]>([
  ["spaces", " ".repeat(50_000)],
  ["brackets", " a(1,".repeat(10_000)],
  ["places", " a:1:2 - ".repeat(6_000)],
  ["sources", ` a:1:1 - error: ${" (x".repeat(15_000)}`],
  ["words", `a.go:1: ${"x ".repeat(20_000)}`],
])("a long line of %s in the output of a checker is read in linear time", async (_what, line) => {
  const cwd = await makeDirectory();
  for (const name of ["tsconfig.json", "Cargo.toml", "go.mod", "pyrightconfig.json"])
    await writeFile(join(cwd, name), "");
  for (const { checker } of findCheckers({ cwd, isProjectTrusted: true, env: { PATH: "" } }))
    expect(parseProblems(checker, `${line}\n`, cwd).length).toBeLessThanOrEqual(1);
});

test("the table has at least 30 servers, and each says what it is for and what installs it", () => {
  expect(serverTable.length).toBeGreaterThanOrEqual(30);
  expect(new Set(serverTable.map(({ name }) => name)).size).toBe(serverTable.length);
  for (const { name, command, fileTypes, install } of serverTable) {
    expect([name, command, install, ...fileTypes].every((text) => text !== "")).toBe(true);
    expect(fileTypes.length).toBeGreaterThan(0);
  }
  const forScripts = serverTable.filter(({ fileTypes, needsMarker }) => fileTypes.includes(".ts") && !needsMarker);
  expect(forScripts[0]).toMatchObject({ command: "tsc", args: ["--lsp", "--stdio"], needsPackage: { major: 7 } });
});

test("problems of a server that floods take a bounded part of the memory: the files that were reported last are kept", () => {
  const store = new DiagnosticStore(createFakeClock());
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
  const related = [{ message: "x".repeat(1_000_000) }];
  const items = Array.from({ length: 40 }, () => ({ range, message: "y".repeat(20_000), relatedInformation: related }));
  for (let file = 0; file < 500; file++) store.set(`/${file}`, items, { version: null, messageBytes: 40_000_000 });
  const kept = store.listPaths().flatMap((path) => store.get(path)!.diagnostics.map(({ raw }) => raw));
  expect(estimateBytes(kept, Infinity)).toBeLessThan(40_000_000);
  expect(store.get("/499")!.diagnostics[0]).toMatchObject({ message: "y".repeat(4_000), raw: { severity: 1 } });
  expect(store.get("/0")).toBeUndefined();
  const small = [{ range, message: "small", data: { id: 1 } }];
  for (let file = 0; file < 500; file++) store.set(`/${file}`, small, { version: null, messageBytes: 900_000 });
  expect(store.listPaths().length).toBeLessThan(40);
  expect(store.get("/499")!.diagnostics[0]!.raw).toBe(small[0]);
});

test("the size of a value is estimated without its depth being a danger, and no further than is asked for", () => {
  let deep: unknown = "x";
  for (let depth = 0; depth < 100_000; depth++) deep = { a: deep };
  expect(estimateBytes(deep, 1_000)).toBeGreaterThan(1_000);
  expect(estimateBytes(deep, Infinity)).toBeGreaterThan(3_000_000);
  expect(
    estimateBytes(
      Array.from({ length: 1_000_000 }, () => 1),
      10_000,
    ),
  ).toBeLessThan(20_000);
  expect(estimateBytes({ message: "x".repeat(1_000) }, Infinity)).toBeGreaterThan(2_000);
});

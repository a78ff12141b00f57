import { type Clock, systemClock } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PathList } from "./path-list.ts";
import { PathSearch } from "./path-search.ts";
import { toPathQuery } from "./rank.ts";

function createList(paths: readonly string[]): PathList {
  const list = new PathList();
  for (const path of paths) list.append(Buffer.from(`${path}\0`));
  return list;
}

const createLargeList = (): PathList =>
  createList(Array.from({ length: 10_000 }, (_unused, index) => `directory-${index % 97}/file-${index}.txt`));

/** Time passes so fast that every slice is over at once. */
function createFastClock(): Clock {
  let nowMs = 0;
  return { ...systemClock, monotonic: () => (nowMs += 10) };
}

const search = (searches: PathSearch, text: string) => searches.search(toPathQuery(text));
const searchOnce = (list: PathList, text: string, maxResults = 100) =>
  search(new PathSearch(list, { maxResults }), text);

const files = [
  "README.md",
  ".env",
  "src/main.ts",
  "src/main.test.ts",
  "src/util/domain.ts",
  "src/util/a.ts",
  "docs/maintain.md",
  "mainland/x/y.c",
  "Makefile",
];

describe("what is found", () => {
  test.each<[string, string[]]>([
    ["", ["Makefile", "README.md", "docs/", "mainland/", "src/", ".env"]],
    ["main", ["mainland/", "src/main.ts", "docs/maintain.md", "src/main.test.ts", "src/util/domain.ts", "mainland/x/"]],
    ["MAIN.T", ["src/main.ts", "src/main.test.ts", "src/util/domain.ts"]],
    ["src/", ["src/main.test.ts", "src/main.ts", "src/util/", "src/util/a.ts", "src/util/domain.ts"]],
    ["src/ma", ["src/main.ts", "src/main.test.ts", "src/util/domain.ts"]],
    ["src/a", ["src/util/a.ts", "src/main.ts", "src/main.test.ts", "src/util/domain.ts"]],
    ["util/", ["src/util/", "src/util/a.ts", "src/util/domain.ts"]],
    ["util/a", ["src/util/a.ts", "src/util/domain.ts"]],
    ["mkf", ["Makefile"]],
    ["smt", ["src/main.ts", "docs/maintain.md", "src/main.test.ts", "src/util/domain.ts"]],
    ["nothing", []],
  ])("for %j", async (text, expected) => {
    const paths = await searchOnce(createList(files), text);
    expect(paths!.slice(0, 6)).toEqual(expected);
  });

  test("what was typed in another script is found as it is", async () => {
    expect(await searchOnce(createList(["日本語/メモ.md", "other"]), "メ")).toEqual(["日本語/メモ.md"]);
  });
});

const segment = fc.stringMatching(/^[abcAB.é]{1,4}$/);
const somePaths = fc.uniqueArray(
  fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/")),
  { maxLength: 60 },
);
const someText = fc.stringMatching(/^[abcA./]{0,6}$/);

describe("a search", () => {
  test("gives after any keys, and while paths are added, what a new search of the whole list gives", async () => {
    const step = fc.record({ text: someText, length: fc.nat({ max: 6 }), added: fc.nat({ max: 20 }) });
    await fc.assert(
      fc.asyncProperty(
        somePaths,
        fc.array(step, { maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        async (paths, steps, maxResults) => {
          const list = new PathList();
          const typed = new PathSearch(list, { maxResults });
          let count = 0;
          for (const { text, length, added } of steps) {
            for (const path of paths.slice(count, count + added)) list.append(Buffer.from(`${path}\0`));
            count += added;
            for (const query of [text.slice(0, length), text, text, text.slice(0, length)]) {
              expect(await search(typed, query)).toEqual(await searchOnce(list, query, maxResults));
            }
          }
        },
      ),
    );
  });

  test("finds all paths that have the characters of the query in their order, and no others", async () => {
    await fc.assert(
      fc.asyncProperty(somePaths, someText, async (paths, text) => {
        const list = createList(paths);
        const all = Array.from({ length: list.count }, (_unused, index) => list.getPath(index));
        const characters = Array.from(text.toLowerCase(), (character) => `[${character}]`);
        const pattern = new RegExp(characters.join(".*"));
        const wanted = all.filter((path) => pattern.test(path.toLowerCase()));
        const found = await searchOnce(list, text, 1_000);
        // The typed directory itself adds nothing.
        const shown = wanted.filter((path) => !text.endsWith("/") || path.toLowerCase() !== text.toLowerCase());
        expect(new Set(found)).toEqual(new Set(shown));
        expect(new Set(found).size).toBe(found!.length);
      }),
    );
  });

  test("for a shorter query that was typed before looks at no path again", async () => {
    let checks = 0;
    const clock = { ...systemClock, monotonic: () => ++checks };
    const typed = new PathSearch(createLargeList(), { maxResults: 5, clock });
    const keys = ["r", "rt", "rtx"];
    for (const text of keys) await search(typed, text);
    for (const text of keys.toReversed()) {
      checks = 0;
      await search(typed, text);
      // When it began.
      expect(checks).toBe(1);
    }
  });

  test("that was followed by another one does not go on, and the newer one is right", async () => {
    const list = createLargeList();
    const typed = new PathSearch(list, { maxResults: 5, clock: createFastClock() });
    // None of these is the start of a name: all paths are looked at, at every level.
    const answers = await Promise.all(["r", "rt", "rtx"].map((text) => search(typed, text)));
    expect(answers.slice(0, 2)).toEqual([undefined, undefined]);
    expect(answers[2]).toEqual(await searchOnce(list, "rtx", 5));
  });

  test("ends although the list grows as fast as it is searched", async () => {
    const list = createLargeList();
    let turns = 0;
    const grow = () => {
      const chunk = Array.from({ length: 3_000 }, (_unused, index) => `more/file-${turns}-${index}.txt\0`).join("");
      list.append(Buffer.from(chunk));
      if (++turns < 40) timer = setImmediate(grow);
    };
    let timer = setImmediate(grow);
    const found = await search(new PathSearch(list, { maxResults: 100, clock: createFastClock() }), "rtx");
    clearImmediate(timer);
    expect(found).toHaveLength(100);
    // Five parts at each of three levels.
    expect(turns).toBeLessThan(20);
  });

  test("is not interrupted if it takes less than two frames", async () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonic: () => ++nowMs };
    let isInterrupted = false;
    const immediate = setImmediate(() => (isInterrupted = true));
    const found = await search(new PathSearch(createLargeList(), { maxResults: 100, clock }), "rtx");
    clearImmediate(immediate);
    expect(found).toHaveLength(100);
    expect(nowMs).toBeGreaterThan(12);
    expect(isInterrupted).toBe(false);
  });

  test("lets timers run while it looks at many paths", async () => {
    const list = createLargeList();
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const found = await search(new PathSearch(list, { maxResults: 100, clock: createFastClock() }), "rtx");
    isDone = true;
    expect(found).toHaveLength(100);
    expect(turns).toBeGreaterThan(2);
  });
});

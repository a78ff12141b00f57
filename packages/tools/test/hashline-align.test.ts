import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unambiguousMatches } from "../src/hashline/unambiguous-matches.ts";
import { createRelocator, maxEffort } from "../src/hashline/recover.ts";

/** All ways to keep as many items as possible, each as pairs of places. By trying everything. */
function longest(a: readonly number[], b: readonly number[], x = 0, y = 0): string[][] {
  if (x === a.length || y === b.length) return [[]];
  const ways = [...longest(a, b, x + 1, y), ...longest(a, b, x, y + 1)];
  if (a[x] === b[y]) ways.push(...longest(a, b, x + 1, y + 1).map((way) => [`${x}:${y}`, ...way]));
  const most = Math.max(...ways.map((way) => way.length));
  const best = ways.filter((way) => way.length === most);
  return [...new Map(best.map((way) => [way.join(), way])).values()];
}

describe("certain matches", () => {
  test("are those that every shortest way keeps, no more and no fewer", () => {
    const list = fc.array(fc.nat(4), { maxLength: 7 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        const ways = longest(a, b);
        const always = ways[0]!.filter((pair) => ways.every((way) => way.includes(pair)));
        const places = unambiguousMatches(Int32Array.from(a), Int32Array.from(b), { steps: 1_000 })!;
        expect([...places.entries()].flatMap(([x, y]) => (y < 0 ? [] : [`${x}:${y}`]))).toEqual(always);
      }),
      { numRuns: 2_000 },
    );
  });

  test("are given up when they take too much effort, soon after it is spent", () => {
    const many = Int32Array.from({ length: 10_000 }, (_unused, at) => at);
    const effort = { steps: 100_000 };
    expect(unambiguousMatches(many, many.toReversed(), effort)).toBeUndefined();
    expect(effort.steps).toBeGreaterThan(-1_000);
  });

  test("items that only one list has cost nothing, however many they are", () => {
    const some = Int32Array.from({ length: 10_000 }, (_unused, at) => at);
    const others = some.map((item, at) => (at % 2 === 0 ? item : item + 10_000));
    const effort = { steps: 50_000 };
    expect(unambiguousMatches(some, others, effort)).toEqual(some.map((item, at) => (at % 2 === 0 ? item : -1)));
    expect(effort.steps).toBe(50_000);
  });
});

describe("finding lines again", () => {
  const lines = Array.from({ length: 10_000 }, (_unused, at) => (at % 4 === 3 ? "}" : `line ${at}`));
  const place = (now: readonly string[], at: number) => {
    const hunk = { start: at, end: at + 1, lines: ["changed"] };
    return createRelocator(lines, now, { steps: maxEffort }).place(hunk, hunk)?.hunks[0]?.start;
  };

  test("400 changes among 10,000 lines hide none of the others", () => {
    const now = lines.flatMap((line, at) => (at % 25 === 0 ? [`${line} and more`, "and another"] : [line]));
    const relocator = createRelocator(lines, now, { steps: maxEffort });
    const found = lines.map((_line, at) => {
      const hunk = { start: at, end: at + 1, lines: ["changed"] };
      return relocator.place(hunk, hunk)?.hunks[0]?.start;
    });
    const isLeft = (at: number) => at % 25 !== 0 && lines[at] !== "}";
    expect(found.flatMap((start, at) => (start === undefined && isLeft(at) ? [at] : []))).toEqual([]);
    for (const [at, start] of found.entries()) if (start !== undefined) expect(now[start]).toBe(lines[at]);
  });

  test("a middle that is too costly to compare is not recovered, what is above and below it is", () => {
    const now = [...lines.slice(0, 1_000), ...lines.slice(1_000, 9_000).toReversed(), "new", ...lines.slice(9_000)];
    expect(place(now, 500)).toBe(500);
    expect(place(now, 9_500)).toBe(9_501);
    expect(place(now, 5_000)).toBeUndefined();
  });

  test("a text of which nothing is left is refused", () => {
    const now = lines.map((_line, at) => `other ${at}`);
    expect(place(now, 5_000)).toBeUndefined();
  });
});

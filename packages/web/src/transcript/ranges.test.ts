import fc from "fast-check";
import { expect, test } from "vitest";
import { changeHeight, findIndex, findRange, getOffsets } from "./ranges.ts";

const none = new Float64Array(1);

test("offsets of which some are kept, and some have changed, are those of the heights", () => {
  const heights = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(heights, heights, fc.nat(49), fc.nat(500), (before, added, kept, height) => {
      const expected = [...before.slice(0, kept), ...added];
      const offsets = getOffsets(getOffsets(none, 0, before), Math.min(kept, before.length), added);
      expect(offsets).toEqual(getOffsets(none, 0, expected));
      const index = kept % expected.length;
      changeHeight(offsets, index, height);
      expect(offsets).toEqual(getOffsets(none, 0, expected.with(index, height)));
    }),
  );
});

test("the range that is drawn covers the screen, whatever the heights are", () => {
  const heights = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(heights, fc.nat(20_000), fc.integer({ min: 1, max: 2_000 }), (list, position, height) => {
      const offsets = getOffsets(none, 0, list);
      const total = offsets.at(-1)!;
      const top = Math.min(position, total);
      const { start, end } = findRange(offsets, { top, height, margin: 100 });
      expect(offsets[start]!).toBeLessThanOrEqual(Math.max(0, top - 100));
      expect(offsets[end]!).toBeGreaterThanOrEqual(Math.min(total, top + height));
      expect(end).toBeGreaterThan(start);
      const index = findIndex(offsets, top);
      expect(offsets[index]! <= top && (top < offsets[index + 1]! || index === list.length - 1)).toBe(true);
    }),
  );
});

test("a list without items has an empty range", () => {
  expect(findRange(getOffsets(none, 0, []), { top: 0, height: 100, margin: 10 })).toEqual({ start: 0, end: 0 });
});

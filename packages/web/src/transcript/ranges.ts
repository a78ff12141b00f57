/** Which items of a long list are on the screen. Pure. */

/** Where each item begins, and at the end where the last one ends. The first `kept` heights are those of `before`. */
export function getOffsets(before: Float64Array, kept: number, heights: readonly number[]): Float64Array {
  const offsets = new Float64Array(kept + heights.length + 1);
  offsets.set(before.subarray(0, kept + 1));
  for (let index = 0; index < heights.length; index++) {
    offsets[kept + index + 1] = offsets[kept + index]! + heights[index]!;
  }
  return offsets;
}

/** Changes the height of an item. */
export function changeHeight(offsets: Float64Array, index: number, height: number): void {
  const difference = height - (offsets[index + 1]! - offsets[index]!);
  for (let next = index + 1; next < offsets.length; next++) offsets[next]! += difference;
}

/** The item at a position: the last that begins at it or before. */
export function findIndex(offsets: Float64Array, position: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle]! <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

export interface Range {
  /** The first item that is drawn. */
  readonly start: number;
  /** The one after the last. */
  readonly end: number;
}

interface Viewport {
  top: number;
  height: number;
  /** How far beyond the screen items are drawn. */
  margin: number;
}

export function findRange(offsets: Float64Array, { top, height, margin }: Viewport): Range {
  const count = offsets.length - 1;
  if (count <= 0) return { start: 0, end: 0 };
  return {
    start: findIndex(offsets, top - margin),
    end: Math.min(count, findIndex(offsets, top + height + margin) + 1),
  };
}

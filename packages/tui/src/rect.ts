/** Rectangles of cells. Pure. */

export interface LayoutRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const contains = ({ x, y, width, height }: LayoutRect, column: number, row: number): boolean =>
  column >= x && column < x + width && row >= y && row < y + height;

/** With a width or a height of 0 if they have no cell in common. */
export function intersect(a: LayoutRect, b: LayoutRect): LayoutRect {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const width = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x);
  return { x, y, width, height: Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y) };
}

export const isEmpty = ({ width, height }: LayoutRect): boolean => width <= 0 || height <= 0;

/** Returns what is left of a rectangle: above, below, left and right of the other. */
export function subtract(rect: LayoutRect, other: LayoutRect): LayoutRect[] {
  const hole = intersect(rect, other);
  if (isEmpty(hole)) return [rect];
  const { x, y, width, height } = rect;
  const [right, bottom] = [hole.x + hole.width, hole.y + hole.height];
  const parts = [
    { x, y, width, height: hole.y - y },
    { x, y: hole.y, width: hole.x - x, height: hole.height },
    { x: right, y: hole.y, width: x + width - right, height: hole.height },
    { x, y: bottom, width, height: y + height - bottom },
  ];
  return parts.filter((part) => !isEmpty(part));
}

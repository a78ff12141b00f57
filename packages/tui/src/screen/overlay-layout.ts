/** Where overlays are on the screen. Pure. */
import type { Size } from "./resize.ts";

export type OverlayAnchor =
  | "center"
  | "top-left"
  | "top-right"
  | "bottom-left"
  | "bottom-right"
  | "top-center"
  | "bottom-center"
  | "left-center"
  | "right-center";

export interface OverlayMargin {
  top?: number;
  right?: number;
  bottom?: number;
  left?: number;
}

/** Columns or rows, or a part of those of the terminal. */
export type SizeValue = number | `${number}%`;

export interface OverlayOptions {
  /** Default: 80 columns, or what there is. */
  width?: SizeValue;
  minWidth?: number;
  /** The limit of its height. An overlay that is higher is cut at its end. */
  maxHeight?: SizeValue;
  /** Default `center`. */
  anchor?: OverlayAnchor;
  /** Moves it from where it would be: to the right. */
  offsetX?: number;
  /** Moves it from where it would be: down. */
  offsetY?: number;
  /** Instead of `anchor`. A part says how much of the room is above it. */
  row?: SizeValue;
  /** Instead of `anchor`. A part says how much of the room is left of it. */
  col?: SizeValue;
  /** From the edges of the terminal. */
  margin?: OverlayMargin | number;
  /** Asked before each frame. */
  visible?: (termWidth: number, termHeight: number) => boolean;
  /** Whether the focus stays where it is. */
  nonCapturing?: boolean;
}

export interface OverlayBounds {
  row: number;
  col: number;
  width: number;
  height: number;
}

interface Area {
  top: number;
  left: number;
  width: number;
  height: number;
}

/** How wide an overlay is, and how high it may be. */
export function resolveOverlaySize(
  options: OverlayOptions,
  size: Size,
): { width: number; maxHeight: number | undefined } {
  const area = getArea(options, size);
  const wanted = resolveSize(options.width, size.columns) ?? Math.min(80, area.width);
  const width = clamp(Math.max(wanted, options.minWidth ?? 0), 1, area.width);
  const maxHeight = resolveSize(options.maxHeight, size.rows);
  return { width, maxHeight: maxHeight === undefined ? undefined : clamp(maxHeight, 1, area.height) };
}

export function resolveOverlayBounds(
  options: OverlayOptions,
  size: Size,
  content: { width: number; height: number },
): OverlayBounds {
  const area = getArea(options, size);
  const { width } = content;
  const height = Math.min(content.height, area.height);
  const { offsetX = 0, offsetY = 0 } = options;
  const [vertical, horizontal] = splitAnchor(options.anchor ?? "center");
  const row = place(options.row, vertical, area.top, area.height - height) + offsetY;
  const col = place(options.col, horizontal, area.left, area.width - width) + offsetX;
  return {
    row: clamp(row, area.top, area.top + area.height - height),
    col: clamp(col, area.left, area.left + area.width - width),
    width,
    height,
  };
}

type Side = "start" | "center" | "end";

function splitAnchor(anchor: OverlayAnchor): [vertical: Side, horizontal: Side] {
  const vertical = anchor.startsWith("top") ? "start" : anchor.startsWith("bottom") ? "end" : "center";
  const horizontal = anchor.includes("left") ? "start" : anchor.includes("right") ? "end" : "center";
  return [vertical, horizontal];
}

function place(value: SizeValue | undefined, side: Side, start: number, room: number): number {
  if (typeof value === "number") return value;
  const free = Math.max(0, room);
  if (value !== undefined) return start + Math.floor((free * Number.parseFloat(value)) / 100);
  if (side === "center") return start + Math.floor(free / 2);
  return side === "start" ? start : start + free;
}

function getArea({ margin = 0 }: OverlayOptions, { columns, rows }: Size): Area {
  const all = typeof margin === "number" ? margin : 0;
  const sides = typeof margin === "number" ? {} : margin;
  const resolve = (side: number | undefined, max = Infinity) => Math.max(0, Math.min(side ?? all, max));
  // Margins that leave no room still leave one cell on the screen.
  const top = resolve(sides.top, rows - 1);
  const left = resolve(sides.left, columns - 1);
  const [right, bottom] = [resolve(sides.right), resolve(sides.bottom)];
  return { top, left, width: Math.max(1, columns - left - right), height: Math.max(1, rows - top - bottom) };
}

function resolveSize(value: SizeValue | undefined, whole: number): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  return Math.floor((whole * Number.parseFloat(value)) / 100);
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(value, max));

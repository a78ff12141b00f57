/** The answers of a terminal to the questions for its colors: OSC 10, OSC 11 and OSC 4. */
import type { RgbColor } from "./color.ts";
import type { TerminalColors } from "./system.ts";

export type ColorReport =
  | { readonly kind: "foreground" | "background"; readonly color: RgbColor }
  | { readonly kind: "palette"; readonly index: number; readonly color: RgbColor };

const report = /^\x1b\](?:(10|11)|4;(\d{1,3}));([^\x07\x1b]*)(?:\x07|\x1b\\)$/;
const channels = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})(?:\/[\da-f]{1,4})?$/i;
const digits = /^#(?:[\da-f]{3}|[\da-f]{6}|[\da-f]{9}|[\da-f]{12})$/i;

/** One whole answer; undefined for anything else. */
export function parseColorReport(data: string): ColorReport | undefined {
  const match = report.exec(data);
  const color = match && parseXColor(match[3] ?? "");
  if (!match || !color) return undefined;
  if (match[1] !== undefined) return { kind: match[1] === "10" ? "foreground" : "background", color };
  const index = Number(match[2]);
  return index <= 255 ? { kind: "palette", index, color } : undefined;
}

/** Adds an answer to what is known. Only the first 16 colors of the palette are kept. */
export function addColorReport(colors: TerminalColors, { color, ...answer }: ColorReport): TerminalColors {
  if (answer.kind !== "palette") return { ...colors, [answer.kind]: color };
  if (answer.index > 15) return colors;
  const palette = Array.from({ length: 16 }, (_, index) => (index === answer.index ? color : colors.palette?.[index]));
  return { ...colors, palette };
}

/** A color as X11 writes it. */
function parseXColor(text: string): RgbColor | undefined {
  const size = (text.length - 1) / 3;
  const parts = digits.test(text)
    ? [text.slice(1, 1 + size), text.slice(1 + size, 1 + 2 * size), text.slice(1 + 2 * size)]
    : channels.exec(text)?.slice(1, 4);
  if (!parts) return undefined;
  const [r = 0, g = 0, b = 0] = parts.map(toByte);
  return { r, g, b };
}

/** The largest number with as many digits is full brightness. */
const toByte = (hex: string): number => Math.round((Number.parseInt(hex, 16) / (16 ** hex.length - 1)) * 255);

/** Parses the reports of terminals about their colors. */

/** Each from 0 to 255. */
export interface RgbColor {
  r: number;
  g: number;
  b: number;
}

export type TerminalColorScheme = "dark" | "light";

/** A color of the terminal: its default text, its background, or one of its palette. */
export type ColorReport =
  | { readonly kind: "foreground" | "background"; readonly color: RgbColor }
  | { readonly kind: "palette"; readonly index: number; readonly color: RgbColor };

const colorAnswer = /^\x1b\](?:(10|11)|4;(\d{1,3}));([^\x07\x1b]*)(?:\x07|\x1b\\)$/;
const channels = /^rgba?:([\da-f]{1,8})\/([\da-f]{1,8})\/([\da-f]{1,8})(?:\/[\da-f]{1,8})?$/i;
const digits = /^#(?:([\da-f]{2})([\da-f]{2})([\da-f]{2})|([\da-f]{4})([\da-f]{4})([\da-f]{4}))$/i;

/** Parses an answer to `OSC 10 ; ?`, `OSC 11 ; ?` or `OSC 4 ; n ; ?`; undefined for anything else. */
export function parseColorReport(data: string): ColorReport | undefined {
  const match = colorAnswer.exec(data);
  const text = match?.[3] ?? "";
  const parts = (channels.exec(text) ?? digits.exec(text))?.slice(1).filter((part) => part !== undefined);
  if (!match || !parts) return undefined;
  const [r = 0, g = 0, b = 0] = parts.map(toByte);
  const color = { r, g, b };
  if (match[1] !== undefined) return { kind: match[1] === "10" ? "foreground" : "background", color };
  const index = Number(match[2]);
  return index <= 255 ? { kind: "palette", index, color } : undefined;
}

/** The color in an answer to `OSC 11 ; ?`; undefined for anything else. */
export function parseOsc11BackgroundColor(data: string): RgbColor | undefined {
  const report = parseColorReport(data);
  return report?.kind === "background" ? report.color : undefined;
}

/** Terminals give one to four digits, of which the largest number is full brightness. */
const toByte = (digits: string): number => Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255);

/** Parses a report of the color scheme; of several reports the last. */
export function parseTerminalColorSchemeReport(data: string): TerminalColorScheme | undefined {
  const match = /^(?:\x1b\[\?997;[12]n)*\x1b\[\?997;([12])n$/.exec(data);
  return match ? (match[1] === "1" ? "dark" : "light") : undefined;
}

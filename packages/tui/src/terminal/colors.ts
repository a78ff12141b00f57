/** What terminals say about their colors. */

/** Each from 0 to 255. */
export interface RgbColor {
  r: number;
  g: number;
  b: number;
}

export type TerminalColorScheme = "dark" | "light";

const backgroundAnswer =
  /^\x1b\]11;(?:rgba?:([\da-f]+)\/([\da-f]+)\/([\da-f]+)(?:\/[\da-f]+)?|#([\da-f]+))(?:\x07|\x1b\\)$/i;

/** The color in an answer to `OSC 11 ; ?`; undefined for anything else. */
export function parseOsc11BackgroundColor(data: string): RgbColor | undefined {
  const match = backgroundAnswer.exec(data);
  if (!match) return undefined;
  const [, red = "", green = "", blue = "", digits] = match;
  if (digits === undefined) return { r: toByte(red), g: toByte(green), b: toByte(blue) };
  if (digits.length !== 6 && digits.length !== 12) return undefined;
  const size = digits.length / 3;
  const [r = 0, g = 0, b = 0] = [0, 1, 2].map((index) => toByte(digits.slice(index * size, (index + 1) * size)));
  return { r, g, b };
}

/** Terminals give one to four digits, of which the largest number is full brightness. */
const toByte = (digits: string): number => Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255);

/** What a report of the color scheme says; of several reports the last. */
export function parseTerminalColorSchemeReport(data: string): TerminalColorScheme | undefined {
  const match = /^(?:\x1b\[\?997;[12]n)*\x1b\[\?997;([12])n$/.exec(data);
  return match ? (match[1] === "1" ? "dark" : "light") : undefined;
}

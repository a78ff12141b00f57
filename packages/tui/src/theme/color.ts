/** Colors as values: how they are written, the sequences for a terminal, and how well one is read on another. */
import type { RgbColor } from "../terminal/colors.ts";
import { fromOkhsl, fromOklab, fromOklch, type Oklab, toLinear, toOklab } from "./oklab.ts";

/** A color, an index from 0 to 255 into the palette of the terminal, or "" for the terminal's default. */
export type ColorValue = RgbColor | number | "";

/**
 * How many colors the terminal shows. `none` means no colors; attributes such as bold are still written, because
 * `NO_COLOR` is about colors only.
 */
export type ColorMode = "truecolor" | "256color" | "16color" | "none";

type ColorSlot = "foreground" | "background";

/** Lists what `parseColor` takes, for messages. */
export const colorForms =
  '"#rgb", "#rrggbb", an index from 0 to 255, "oklch(62% 0.1 200)", "okhsl(250 60% 55%)" or "" for the terminal\'s default';

const number = "([+-]?(?:\\d+\\.?\\d*|\\.\\d+))";
const oklch = new RegExp(`^oklch\\(\\s*${number}(%?)\\s+${number}(%?)\\s+${number}(?:deg)?\\s*\\)$`, "i");
const okhsl = new RegExp(`^okhsl\\(\\s*${number}(?:deg)?\\s+${number}%\\s+${number}%\\s*\\)$`, "i");

/** Whether a text is written as a color, valid or not: anything else in a theme is the name of a variable. */
export const looksLikeColor = (text: string): boolean =>
  text === "" || text.startsWith("#") || /^ok[a-z]+\(/i.test(text);

/** Undefined for anything that is not one of `colorForms`. OKLCH beyond sRGB keeps its lightness and hue. */
export function parseColor(value: unknown): ColorValue | undefined {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 && value <= 255 ? value : undefined;
  if (typeof value !== "string") return undefined;
  if (value === "") return "";
  return parseHex(value) ?? parseOklch(value) ?? parseOkhsl(value);
}

function parseHex(text: string): RgbColor | undefined {
  if (!/^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(text)) return undefined;
  const size = text.length === 4 ? 1 : 2;
  const read = (index: number) => Number.parseInt(text.slice(1 + index * size, 1 + (index + 1) * size), 16);
  const scale = size === 1 ? 17 : 1;
  return { r: read(0) * scale, g: read(1) * scale, b: read(2) * scale };
}

function parseOklch(text: string): RgbColor | undefined {
  const match = oklch.exec(text);
  if (!match) return undefined;
  const l = Number(match[1]) / (match[2] ? 100 : 1);
  // As in CSS, 100% is a chroma of 0.4.
  const c = Number(match[3]) * (match[4] ? 0.004 : 1);
  return l >= 0 && l <= 1 && c >= 0 ? fromOklch({ l, c, h: Number(match[5]) }) : undefined;
}

function parseOkhsl(text: string): RgbColor | undefined {
  const match = okhsl.exec(text);
  if (!match) return undefined;
  const [h, s, l] = [Number(match[1]), Number(match[2]) / 100, Number(match[3]) / 100];
  return s >= 0 && s <= 1 && l >= 0 && l <= 1 ? fromOkhsl(h, s, l) : undefined;
}

export const toHex = ({ r, g, b }: RgbColor): string =>
  `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}`;

/** The color between two, as the eye sees it: `first` for an amount of 0, `second` for 1. */
export function mixColors(first: RgbColor, second: RgbColor, amount = 0.5): RgbColor {
  const [from, to] = [toOklab(first), toOklab(second)];
  const mix = (start: number, end: number) => start + (end - start) * amount;
  return fromOklab({ l: mix(from.l, to.l), a: mix(from.a, to.a), b: mix(from.b, to.b) });
}

/** Relative luminance of WCAG 2, from 0 to 1. */
export const getLuminance = ({ r, g, b }: RgbColor): number =>
  0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);

/** Contrast ratio of WCAG 2, from 1 to 21. */
export function getContrast(first: RgbColor, second: RgbColor): number {
  const [low, high] = [getLuminance(first), getLuminance(second)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** The 16 ANSI colors of xterm. Terminals differ in them. */
const ansiColors =
  "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff";

const palette: readonly RgbColor[] = Array.from({ length: 256 }, (_, index) => {
  if (index < 16) return parseHex(`#${ansiColors.split(" ")[index]}`) as RgbColor;
  if (index >= 232) return { r: 8 + 10 * (index - 232), g: 8 + 10 * (index - 232), b: 8 + 10 * (index - 232) };
  const level = (step: number) => (step % 6 === 0 ? 0 : 55 + 40 * (step % 6));
  return { r: level(Math.floor((index - 16) / 36)), g: level(Math.floor((index - 16) / 6)), b: level(index - 16) };
});

let paletteLabs: readonly Oklab[] | undefined;

/** The color that an index of the palette has in xterm. */
export const getPaletteColor = (index: number): RgbColor => palette[index] as RgbColor;

/**
 * The nearest index for a terminal without true color, by distance in OKLab. Of 16 colors, the hue has double weight: gray
 * is always near.
 */
export function findNearestIndex(color: RgbColor, mode: "256color" | "16color", slot: ColorSlot): number {
  paletteLabs ??= palette.map(toOklab);
  const { l, a, b } = toOklab(color);
  const scale = mode === "16color" ? 2 : 1;
  const distances = paletteLabs.map((lab) => Math.hypot(lab.l - l, scale * (lab.a - a), scale * (lab.b - b)));
  const isCandidate = mode === "256color" ? isFixedColor : slot === "background" ? isPanelColor : isAnsiColor;
  let nearest = -1;
  for (const [index, distance] of distances.entries()) {
    if (isCandidate(index) && (nearest < 0 || distance < (distances[nearest] as number))) nearest = index;
  }
  return nearest;
}

/** Users set the first 16 as they like; the others are the same everywhere. */
const isFixedColor = (index: number) => index >= 16;
const isAnsiColor = (index: number) => index < 16;
/** Gray text is drawn on panels, so that a dark panel is black and not the same gray. */
const isPanelColor = (index: number) => index < 16 && index !== 8;

/** The escape sequence that switches a color on; "" in the mode `none`. */
export function toEscape(value: ColorValue, slot: ColorSlot, mode: ColorMode): string {
  if (mode === "none") return "";
  const base = slot === "foreground" ? 30 : 40;
  if (value === "") return `\x1b[${base + 9}m`;
  if (mode === "truecolor" && typeof value !== "number") return `\x1b[${base + 8};2;${value.r};${value.g};${value.b}m`;
  if (mode !== "16color") {
    return `\x1b[${base + 8};5;${typeof value === "number" ? value : findNearestIndex(value, "256color", slot)}m`;
  }
  const isAnsi = typeof value === "number" && value < 16;
  const color = typeof value === "number" ? getPaletteColor(value) : value;
  const index = isAnsi ? value : findNearestIndex(color, "16color", slot);
  return `\x1b[${index < 8 ? base + index : base + 60 + index - 8}m`;
}

/**
 * How many colors to use. `hasTrueColor` says what the terminal is known to support. Terminals have 256 colors, except
 * for the few kinds that are known to have 16.
 */
export function decideColorMode(
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly hasTrueColor: boolean },
): ColorMode {
  const term = env["TERM"] ?? "";
  if (env["NO_COLOR"] || term === "dumb") return "none";
  if (options.hasTrueColor) return "truecolor";
  return /^(?:linux|ansi|cygwin|vt\d+)|-16color$/.test(term) ? "16color" : "256color";
}

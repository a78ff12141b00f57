/**
 * OKLab, OKLCH and OKHSL, as Björn Ottosson defines them (bottosson.github.io/posts/oklab and …/posts/colorpicker). Where
 * he approximates the limits of sRGB by polynomials, this searches them: exact, and only done when a theme is made.
 */
import type { RgbColor } from "../terminal/colors.ts";

/** Lightness from 0 to 1, and the two axes of color. */
export interface Oklab {
  readonly l: number;
  readonly a: number;
  readonly b: number;
}

/** Lightness from 0 to 1, chroma from 0 to about 0.37 in sRGB, hue in degrees. */
export interface Oklch {
  readonly l: number;
  readonly c: number;
  readonly h: number;
}

/** Red, green and blue as amounts of light: from 0 to 1, and beyond that for what sRGB cannot show. */
type LinearRgb = readonly [number, number, number];

export const toLinear = (byte: number): number => {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};

function toByte(linear: number): number {
  const value = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
}

export const toOklab = (color: RgbColor): Oklab =>
  linearToOklab(toLinear(color.r), toLinear(color.g), toLinear(color.b));

function linearToOklab(r: number, g: number, b: number): Oklab {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    a: 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    b: 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  };
}

function toLinearRgb(color: Oklab): LinearRgb {
  const l = (color.l + 0.3963377774 * color.a + 0.2158037573 * color.b) ** 3;
  const m = (color.l - 0.1055613458 * color.a - 0.0638541728 * color.b) ** 3;
  const s = (color.l - 0.0894841775 * color.a - 1.291485548 * color.b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** Converts to sRGB. A color outside of it is cut off in each channel. */
export function fromOklab(color: Oklab): RgbColor {
  const [r, g, b] = toLinearRgb(color);
  return { r: toByte(r), g: toByte(g), b: toByte(b) };
}

export function toOklch(color: RgbColor): Oklch {
  const { l, a, b } = toOklab(color);
  return { l, c: Math.hypot(a, b), h: (Math.atan2(b, a) * 180) / Math.PI };
}

/**
 * Keeps lightness and hue, and lowers a chroma that sRGB cannot show. It stops as soon as cutting off the rest cannot be
 * seen: exactly at the limit, colors near blue would lose much of their chroma.
 */
export function fromOklch({ l, c, h }: Oklch): RgbColor {
  if (l <= 0 || l >= 1) return fromOklab({ l, a: 0, b: 0 });
  const isClose = (chroma: number) => getCutOff(toLab(l, chroma, h)) < maxCutOff;
  return fromOklab(toLab(l, isClose(c) ? c : findLimit(c, isClose), h));
}

/** A quarter of the difference in OKLab that CSS Color 4 calls just noticeable. */
const maxCutOff = 0.005;

/** How far a color is from what sRGB shows of it. */
function getCutOff(color: Oklab): number {
  const [r, g, b] = toLinearRgb(color).map((part) => Math.min(1, Math.max(0, part))) as [number, number, number];
  const shown = linearToOklab(r, g, b);
  return Math.hypot(shown.l - color.l, shown.a - color.a, shown.b - color.b);
}

/** Hue in degrees; saturation and lightness from 0 to 1. */
export function fromOkhsl(hue: number, saturation: number, lightness: number): RgbColor {
  const l = removeToe(lightness);
  if (l <= 0 || l >= 1) return fromOklab({ l, a: 0, b: 0 });
  const { low, middle, max } = getChromas(l, hue);
  const split = 0.8;
  if (saturation < split) {
    const part = saturation / split;
    const slope = split * low;
    return fromOklab(toLab(l, (part * slope) / (1 - (1 - slope / middle) * part), hue));
  }
  const part = (saturation - split) / (1 - split);
  const slope = ((1 - split) * (middle / split) ** 2) / low;
  return fromOklab(toLab(l, middle + (part * slope) / (1 - (1 - slope / (max - middle)) * part), hue));
}

const [toe1, toe2] = [0.206, 0.03];
const toe3 = (1 + toe1) / (1 + toe2);

/** The lightness of OKHSL for one of OKLab: even steps down to black. */
export function addToe(l: number): number {
  const value = toe3 * l - toe1;
  return 0.5 * (value + Math.sqrt(value ** 2 + 4 * toe2 * toe3 * l));
}

/** The lightness of OKLab for one of OKHSL. */
export const removeToe = (l: number): number => (l ** 2 + toe1 * l) / (toe3 * (l + toe2));

function toLab(l: number, c: number, hue: number): Oklab {
  const angle = (hue * Math.PI) / 180;
  return { l, a: c * Math.cos(angle), b: c * Math.sin(angle) };
}

/** The matrices have ten digits; white itself may be that much beyond 1. */
const tolerance = 1e-6;

const getMaxChroma = (l: number, hue: number): number =>
  findLimit(0.5, (c) => toLinearRgb(toLab(l, c, hue)).every((part) => part >= -tolerance && part <= 1 + tolerance));

/** The chromas that OKHSL gives to the saturations 0 (as a slope), 0.8 and 1. */
function getChromas(l: number, hue: number): { low: number; middle: number; max: number } {
  // The most colorful color of the hue: the first at which a channel is 0 while another is 1.
  const saturation = findLimit(1, (s) => toLinearRgb(toLab(1, s, hue)).every((part) => part >= 0));
  const peak = Math.cbrt(1 / Math.max(...toLinearRgb(toLab(1, saturation, hue))));
  const max = getMaxChroma(l, hue);
  const scale = max / Math.min(l * saturation, (1 - l) * ((saturation * peak) / (1 - peak)));
  const { a, b } = toLab(0, 1, hue);
  const rise =
    0.11516993 +
    1 /
      (7.4477897 +
        4.1590124 * b +
        a *
          (-2.19557347 +
            1.75198401 * b +
            a * (-2.13704948 - 10.02301043 * b + a * (-4.24894561 + 5.38770819 * b + 4.69891013 * a))));
  const fall =
    0.11239642 +
    1 /
      (1.6132032 -
        0.68124379 * b +
        a *
          (0.40370612 +
            0.90148123 * b +
            a * (-0.27087943 + 0.6122399 * b + a * (0.00299215 - 0.45399568 * b - 0.14661872 * a))));
  const softMin = (power: number, first: number, second: number) =>
    (1 / (first ** -power + second ** -power)) ** (1 / power);
  return {
    low: softMin(2, l * 0.4, (1 - l) * 0.8),
    middle: 0.9 * scale * softMin(4, l * rise, (1 - l) * fall),
    max,
  };
}

/** The largest number up to `high` that is inside, where 0 is. */
function findLimit(high: number, isInside: (value: number) => boolean): number {
  let inside = 0;
  let outside = high;
  for (let step = 0; step < 24; step++) {
    const middle = (inside + outside) / 2;
    if (isInside(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

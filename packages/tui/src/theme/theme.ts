/** A theme, ready to style text on one terminal. */
import type { RgbColor } from "../terminal/colors.ts";
import { black, detectThemeAppearance, white } from "./appearance.ts";
import { type ColorMode, type ColorValue, getPaletteColor, mixColors } from "./color.ts";
import { parseColor, toEscape } from "./color.ts";
import { backgroundTokens, fillColors, foregroundTokens } from "./tokens.ts";
import type { ThemeAppearance, ThemeBg, ThemeColor, ThemeDefinition, ThemeToken } from "./tokens.ts";

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** The facts that the terminal reports about itself; all of it may be unknown. */
interface TerminalDefaults {
  readonly foreground?: RgbColor;
  readonly background?: RgbColor;
  readonly appearance?: ThemeAppearance;
}

export interface ThemeOptions {
  name?: string;
  /** The file of the theme. */
  sourcePath?: string;
  /** Default: detected from the colors, else that of the terminal, else dark. */
  appearance?: ThemeAppearance;
  /** Colors that are drawn faint. */
  dim?: readonly ThemeColor[];
  terminal?: TerminalDefaults;
}

export interface ThemeStyle {
  fg?: ThemeColor | RgbColor;
  bg?: ThemeBg | RgbColor;
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  strikethrough?: boolean;
}

type Colors<Token extends ThemeToken> = Readonly<Record<Token, string | number>>;

/** The theme for a terminal that shows the colors of `mode`. */
export function createTheme(
  definition: ThemeDefinition,
  mode: ColorMode,
  options: { readonly sourcePath?: string; readonly terminal?: TerminalDefaults } = {},
): Theme {
  const { name, appearance, colors, faint } = definition;
  return new Theme(colors, colors, mode, {
    name,
    ...(appearance && { appearance }),
    ...(faint && { dim: faint }),
    ...options,
  });
}

/**
 * Every style ends with its own end code and never with a full reset. Where the text already contains that end code, the
 * style is switched on again after it, so that styles nest.
 */
export class Theme {
  name?: string;
  sourcePath?: string;
  #mode: ColorMode;
  #values: Readonly<Record<ThemeToken, ColorValue>>;
  #faint: ReadonlySet<ThemeToken>;
  #fgEscapes: ReadonlyMap<ThemeColor, string>;
  #bgEscapes: ReadonlyMap<ThemeBg, string>;
  #terminal: TerminalDefaults;
  #appearance: ThemeAppearance;
  #colors: Readonly<Record<ThemeToken, RgbColor>> | undefined;

  /** Colors are in the forms that `parseColor` takes; another form throws. Optional colors may be missing. */
  constructor(fgColors: Colors<ThemeColor>, bgColors: Colors<ThemeBg>, mode: ColorMode, options: ThemeOptions = {}) {
    if (options.name !== undefined) this.name = options.name;
    if (options.sourcePath !== undefined) this.sourcePath = options.sourcePath;
    this.#mode = mode;
    this.#faint = new Set(options.dim);
    this.#terminal = options.terminal ?? {};
    const inputs = fillColors({ ...pick(fgColors, foregroundTokens), ...pick(bgColors, backgroundTokens) });
    this.#values = mapTokens((token) => parseValue(token, inputs[token]));
    this.#fgEscapes = new Map(foregroundTokens.map((token) => [token, this.#createFgEscape(token)]));
    this.#bgEscapes = new Map(
      backgroundTokens.map((token) => [token, toEscape(this.#values[token], "background", mode)]),
    );
    this.#appearance = options.appearance ?? detectThemeAppearance(this.#values) ?? this.#terminal.appearance ?? "dark";
  }

  /**
   * Takes all that another theme is. Components that hold this theme draw with the other's colors once they are
   * invalidated.
   */
  become(other: Theme): void {
    delete this.name;
    delete this.sourcePath;
    if (other.name !== undefined) this.name = other.name;
    if (other.sourcePath !== undefined) this.sourcePath = other.sourcePath;
    this.#mode = other.#mode;
    this.#values = other.#values;
    this.#faint = other.#faint;
    this.#fgEscapes = other.#fgEscapes;
    this.#bgEscapes = other.#bgEscapes;
    this.#terminal = other.#terminal;
    this.#appearance = other.#appearance;
    this.#colors = undefined;
  }

  /** The background that the theme is made for. */
  get appearance(): ThemeAppearance {
    return this.#appearance;
  }

  /**
   * A color for each key, to compute with. The terminal's defaults are what it reports, else black and white. What is
   * drawn faint is mixed with the background.
   */
  get colors(): Readonly<Record<ThemeToken, RgbColor>> {
    const isDark = this.#appearance === "dark";
    const foreground = this.#terminal.foreground ?? (isDark ? white : black);
    const background = this.#terminal.background ?? (isDark ? black : white);
    this.#colors ??= mapTokens((token) => {
      const value = this.#values[token];
      const fixed = typeof value === "number" ? getPaletteColor(value) : value;
      const color = fixed || (isBackground(token) ? background : foreground);
      return this.#faint.has(token) ? mixColors(color, background) : color;
    });
    return this.#colors;
  }

  /** Several styles at once. */
  style(text: string, { fg, bg, ...attributes }: ThemeStyle): string {
    let styled = text;
    for (const name of Object.keys(attributeCodes) as (keyof typeof attributeCodes)[]) {
      if (attributes[name]) styled = this[name](styled);
    }
    if (typeof fg === "string") styled = this.fg(fg, styled);
    else if (fg) styled = wrap(toEscape(fg, "foreground", this.#mode), foregroundEnd, styled);
    if (typeof bg === "string") return this.bg(bg, styled);
    return bg ? wrap(toEscape(bg, "background", this.#mode), backgroundEnd, styled) : styled;
  }

  fg(color: ThemeColor, text: string): string {
    const open = this.getFgAnsi(color);
    if (!this.#faint.has(color)) return wrap(open, foregroundEnd, text);
    return wrap(faint, "\x1b[22m", wrap(open.slice(faint.length), foregroundEnd, text));
  }

  bg(color: ThemeBg, text: string): string {
    return wrap(this.getBgAnsi(color), backgroundEnd, text);
  }

  bold(text: string): string {
    return wrap(...attributeCodes.bold, text);
  }

  italic(text: string): string {
    return wrap(...attributeCodes.italic, text);
  }

  underline(text: string): string {
    return wrap(...attributeCodes.underline, text);
  }

  inverse(text: string): string {
    return wrap(...attributeCodes.inverse, text);
  }

  strikethrough(text: string): string {
    return wrap(...attributeCodes.strikethrough, text);
  }

  /** Returns what switches the color on. 39 ends it; for a faint color also 22. Without colors it is empty. */
  getFgAnsi(color: ThemeColor): string {
    return this.#fgEscapes.get(color) ?? throwUnknown("color", color, foregroundTokens);
  }

  /** Returns what switches the background on. 49 ends it. */
  getBgAnsi(color: ThemeBg): string {
    return this.#bgEscapes.get(color) ?? throwUnknown("background color", color, backgroundTokens);
  }

  getColorMode(): ColorMode {
    return this.#mode;
  }

  /** The border of an editor at a level of thinking. An unknown level is drawn as `off`. */
  getThinkingBorderColor(level: ThinkingLevel): (text: string) => string {
    const color = Object.hasOwn(thinkingColors, level) ? thinkingColors[level] : "thinkingOff";
    return (text) => this.fg(color, text);
  }

  /** The border of an editor whose text is a command of the shell. */
  getBashModeBorderColor(): (text: string) => string {
    return (text) => this.fg("bashMode", text);
  }

  #createFgEscape(token: ThemeColor): string {
    const open = toEscape(this.#values[token], "foreground", this.#mode);
    return this.#faint.has(token) ? faint + open : open;
  }
}

const faint = "\x1b[2m";

const attributeCodes = {
  bold: ["\x1b[1m", "\x1b[22m"],
  italic: ["\x1b[3m", "\x1b[23m"],
  underline: ["\x1b[4m", "\x1b[24m"],
  inverse: ["\x1b[7m", "\x1b[27m"],
  strikethrough: ["\x1b[9m", "\x1b[29m"],
} as const;

const thinkingColors: Readonly<Record<ThinkingLevel, ThemeColor>> = {
  off: "thinkingOff",
  minimal: "thinkingMinimal",
  low: "thinkingLow",
  medium: "thinkingMedium",
  high: "thinkingHigh",
  xhigh: "thinkingXhigh",
  max: "thinkingMax",
};

const foregroundEnd = "\x1b[39m";
const backgroundEnd = "\x1b[49m";

/**
 * Sequences for the default colors. A sequence that ends a color has the same effect; written like this the two differ.
 */
const defaults: Readonly<Record<string, string>> = {
  [foregroundEnd]: "\x1b[39;39m",
  [backgroundEnd]: "\x1b[49;49m",
};

function wrap(open: string, end: string, content: string): string {
  const text = String(content); // Extensions in JavaScript pass numbers.
  if (open === "") return text;
  const start = open === end ? (defaults[end] as string) : open;
  return start + (text.includes(end) ? text.replaceAll(end, end + start) : text) + end;
}

function throwUnknown(kind: string, color: string, tokens: readonly string[]): never {
  throw new TypeError(`A theme has no ${kind} "${color}". It has: ${tokens.join(", ")}.`);
}

const isBackground = (token: ThemeToken): token is ThemeBg => (backgroundTokens as readonly string[]).includes(token);

function mapTokens<Value>(get: (token: ThemeToken) => Value): Record<ThemeToken, Value> {
  const entries = [...foregroundTokens, ...backgroundTokens].map((token) => [token, get(token)]);
  return Object.fromEntries(entries) as Record<ThemeToken, Value>;
}

function pick<Token extends ThemeToken>(
  colors: Colors<Token>,
  tokens: readonly Token[],
): Record<Token, string | number> {
  const present = tokens.filter((token) => colors[token] !== undefined).map((token) => [token, colors[token]]);
  return Object.fromEntries(present) as Record<Token, string | number>;
}

function parseValue(token: ThemeToken, input: string | number | undefined): ColorValue {
  const value = parseColor(input);
  if (value === undefined)
    throw new TypeError(`The color "${token}" of a theme is not valid: ${JSON.stringify(input)}.`);
  return value;
}

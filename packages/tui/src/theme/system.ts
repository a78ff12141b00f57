/**
 * The theme `system`, made from the colors of the terminal: hues from its 16 ANSI colors, lightness placed so that text can
 * be read on its background and on every panel.
 */
import type { ColorReport, RgbColor } from "../terminal/colors.ts";
import { black, getTerminalAppearance, minTextContrast, white } from "./appearance.ts";
import { type ColorMode, getContrast, toHex } from "./color.ts";
import { addToe, fromOklch, type Oklch, removeToe, toOklch } from "./oklab.ts";
import { assignRoles, type Palette } from "./roles.ts";
import { systemThemeName } from "./theme-file.ts";
import type { ThemeAppearance, ThemeColor, ThemeDefinition, ThemeToken } from "./tokens.ts";

/** The colors that the terminal reported. */
export interface TerminalColors {
  readonly foreground?: RgbColor;
  readonly background?: RgbColor;
  /** The ANSI colors by their index from 0 to 15. Some may be missing. */
  readonly palette?: readonly (RgbColor | undefined)[];
}

/** Adds an answer to what is known. Only the first 16 colors of the palette are kept. */
export function addColorReport(colors: TerminalColors, { color, ...answer }: ColorReport): TerminalColors {
  if (answer.kind !== "palette") return { ...colors, [answer.kind]: color };
  if (answer.index > 15) return colors;
  const palette = Array.from({ length: 16 }, (_, index) => (index === answer.index ? color : colors.palette?.[index]));
  return { ...colors, palette };
}

/**
 * Without a background, and where only 16 colors are shown, the colors are ANSI indices and the terminal's defaults, weak
 * text is faint, and panels have no background.
 */
export function createSystemTheme(colors: TerminalColors, mode: ColorMode = "truecolor"): ThemeDefinition {
  const { background, foreground } = colors;
  if (!background || mode === "16color") return { name: systemThemeName, ...createAnsiColors() };
  const appearance = getTerminalAppearance(background, foreground);
  return { name: systemThemeName, appearance, colors: assignRoles(createPalette(colors, background, appearance)) };
}

/** Hues in degrees, for colors that the terminal does not report. */
const ownHues = { red: 25, green: 145, yellow: 90, blue: 255, magenta: 325, cyan: 205 } as const;
const ansiIndices = { red: 1, green: 2, yellow: 3, blue: 4, magenta: 5, cyan: 6 } as const;
type Hue = keyof typeof ownHues;

const faintText = "faint";

function createAnsiColors(): Pick<ThemeDefinition, "colors" | "faint"> {
  const panels = { selected: "", userPanel: "", customPanel: "", pendingPanel: "", successPanel: "", errorPanel: "" };
  const lines = { line: faintText, faintLine: faintText };
  const roles = assignRoles({
    ...ansiIndices,
    ...panels,
    ...lines,
    text: "",
    muted: faintText,
    dim: faintText,
    accent: ansiIndices.cyan,
    match: ansiIndices.yellow,
    matchText: 0,
  });
  const faint = (Object.keys(roles) as ThemeToken[]).filter((token) => roles[token] === faintText) as ThemeColor[];
  return { colors: { ...roles, ...Object.fromEntries(faint.map((token) => [token, ""])) }, faint };
}

function createPalette(colors: TerminalColors, background: RgbColor, appearance: ThemeAppearance): Palette {
  const hue = (name: Hue): Oklch => {
    const color = colors.palette?.[ansiIndices[name]];
    return color ? toOklch(color) : { l: toOklch(background).l, c: 0.13, h: ownHues[name] };
  };
  const neutral = toOklch(colors.foreground ?? background);
  const gray: Oklch = { ...neutral, l: toOklch(background).l, c: Math.min(neutral.c, 0.03) };

  const panel = (shift: number, tint?: Oklch) => createPanel(background, shift, { appearance, tint });
  const panels = {
    selected: panel(0.12, hue("cyan")),
    userPanel: panel(0.085),
    customPanel: panel(0.085, hue("magenta")),
    pendingPanel: panel(0.06),
    successPanel: panel(0.06, hue("green")),
    errorPanel: panel(0.06, hue("red")),
  };
  const surfaces = [background, ...Object.values(panels)];
  const place = (color: Oklch, minContrast: number) => toHex(placeColor(color, surfaces, { appearance, minContrast }));

  const { foreground } = colors;
  const isReadable = foreground && surfaces.every((surface) => getContrast(foreground, surface) >= minTextContrast);
  const match = fromOklch(hue("yellow"));
  const visibleMatch =
    getContrast(match, background) >= 2
      ? match
      : placeColor(hue("yellow"), [background], { appearance, minContrast: 3 });
  const placeHue = (name: Hue) => place(hue(name), colors.palette?.[ansiIndices[name]] ? minTextContrast : 6.5);
  const hues = (Object.keys(ownHues) as Hue[]).map((name) => [name, placeHue(name)]);
  return {
    ...(Object.fromEntries(hues) as Record<Hue, string>),
    text: isReadable ? "" : place(gray, 12),
    muted: place(gray, 5.5),
    dim: place(gray, minTextContrast),
    line: place(gray, 3),
    faintLine: place(gray, 1.8),
    accent: placeHue("cyan"),
    ...(Object.fromEntries(Object.entries(panels).map(([name, color]) => [name, toHex(color)])) as Record<
      keyof typeof panels,
      string
    >),
    match: toHex(visibleMatch),
    matchText: getContrast(visibleMatch, black) > getContrast(visibleMatch, white) ? "#000000" : "#ffffff",
  };
}

/** A background a little nearer to the text; where text could not be read on it, one further away, down to black or white. */
function createPanel(
  background: RgbColor,
  shift: number,
  { appearance, tint }: { appearance: ThemeAppearance; tint: Oklch | undefined },
): RgbColor {
  const { l, c, h } = toOklch(background);
  const color = tint && tint.c > 0.02 ? { c: Math.max(0.035, Math.min(c, 0.06)), h: tint.h } : { c, h };
  const move = (amount: number) => fromOklch({ ...color, l: removeToe(Math.min(1, Math.max(0, addToe(l) + amount))) });
  const toText = appearance === "dark" ? shift : -shift;
  const isReadable = (panel: RgbColor) => getContrast(panel, appearance === "dark" ? white : black) >= minTextContrast;
  let panel = move(toText);
  for (let step = 1; !isReadable(panel); step++) panel = move(-toText * step);
  return panel;
}

/** Keeps a color that has the contrast on all surfaces; else moves its lightness as little as it needs, up to white or black. */
function placeColor(
  color: Oklch,
  surfaces: readonly RgbColor[],
  { appearance, minContrast }: { appearance: ThemeAppearance; minContrast: number },
): RgbColor {
  const isVisible = (l: number) => {
    const candidate = fromOklch({ ...color, l });
    return surfaces.every((surface) => getContrast(candidate, surface) >= minContrast);
  };
  if (isVisible(color.l)) return fromOklch(color);
  let hidden = color.l;
  let visible = appearance === "dark" ? 1 : 0;
  for (let step = 0; step < 16; step++) {
    const middle = (hidden + visible) / 2;
    if (isVisible(middle)) visible = middle;
    else hidden = middle;
  }
  return fromOklch({ ...color, l: visible });
}

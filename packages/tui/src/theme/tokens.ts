/** The colors of a theme, by what they are for. A theme file has all of them except for those with a fallback. */
import type { TerminalColorScheme } from "../terminal/colors.ts";

export const foregroundTokens = [
  "accent",
  "border",
  "borderAccent",
  "borderMuted",
  "success",
  "error",
  "warning",
  "muted",
  "dim",
  "text",
  "thinkingText",
  "scrollbarTrack",
  "scrollbarThumb",
  "searchMatchText",
  "userMessageText",
  "customMessageText",
  "customMessageLabel",
  "toolTitle",
  "toolOutput",
  "mdHeading",
  "mdLink",
  "mdLinkUrl",
  "mdCode",
  "mdCodeBlock",
  "mdCodeBlockBorder",
  "mdQuote",
  "mdQuoteBorder",
  "mdHr",
  "mdListBullet",
  "toolDiffAdded",
  "toolDiffRemoved",
  "toolDiffContext",
  "syntaxComment",
  "syntaxKeyword",
  "syntaxFunction",
  "syntaxVariable",
  "syntaxString",
  "syntaxNumber",
  "syntaxType",
  "syntaxOperator",
  "syntaxPunctuation",
  "thinkingOff",
  "thinkingMinimal",
  "thinkingLow",
  "thinkingMedium",
  "thinkingHigh",
  "thinkingXhigh",
  "thinkingMax",
  "bashMode",
] as const;

export const backgroundTokens = [
  "selectedBg",
  "searchMatchBg",
  "userMessageBg",
  "customMessageBg",
  "toolPendingBg",
  "toolSuccessBg",
  "toolErrorBg",
] as const;

/** Colors of text. */
export type ThemeColor = (typeof foregroundTokens)[number];
/** Colors behind text. */
export type ThemeBg = (typeof backgroundTokens)[number];
export type ThemeToken = ThemeColor | ThemeBg;

export const themeTokens: readonly ThemeToken[] = [...foregroundTokens, ...backgroundTokens];

/** The colors that are used where a theme does not have one. */
export const tokenFallbacks: Readonly<Partial<Record<ThemeToken, ThemeToken>>> = {
  scrollbarTrack: "muted",
  scrollbarThumb: "text",
  searchMatchBg: "selectedBg",
  searchMatchText: "text",
  thinkingMax: "thinkingXhigh",
};

/** Adds the colors that a theme may leave out. */
export function fillColors<Value>(colors: Readonly<Record<ThemeToken, Value>>): Record<ThemeToken, Value> {
  const filled: Record<ThemeToken, Value> = { ...colors };
  for (const [token, fallback] of Object.entries(tokenFallbacks) as [ThemeToken, ThemeToken][]) {
    filled[token] ??= filled[fallback];
  }
  return filled;
}

/** Lines and bars. All other foreground colors are for text. */
export const lineTokens: ReadonlySet<ThemeToken> = new Set<ThemeToken>([
  "border",
  "borderAccent",
  "borderMuted",
  "mdCodeBlockBorder",
  "mdQuoteBorder",
  "mdHr",
  "scrollbarTrack",
  "scrollbarThumb",
  "thinkingOff",
  "thinkingMinimal",
  "thinkingLow",
  "thinkingMedium",
  "thinkingHigh",
  "thinkingXhigh",
  "thinkingMax",
  "bashMode",
]);

/** The background for which a theme is made. */
export type ThemeAppearance = TerminalColorScheme;

/**
 * A theme as data: what a theme file says, with its variables and fallbacks resolved. Its colors are in the forms that
 * `parseColor` takes.
 */
export interface ThemeDefinition {
  readonly name: string;
  /** Default: detected from the colors. */
  readonly appearance?: ThemeAppearance;
  readonly colors: Readonly<Record<ThemeToken, string | number>>;
  /** Backgrounds of an exported page. */
  readonly export?: ThemeExportColors;
  /** Colors that are drawn faint. */
  readonly faint?: readonly ThemeColor[];
}

export interface ThemeExportColors {
  readonly pageBg?: string | number;
  readonly cardBg?: string | number;
  readonly infoBg?: string | number;
}

/** Which color of a palette each role of a theme gets: the same in all themes of ours. */
import type { ThemeToken } from "./tokens.ts";

type Color = string | number;

export interface Palette {
  /** Text, from strong to weak. */
  readonly text: Color;
  readonly muted: Color;
  readonly dim: Color;
  /** Lines, from strong to weak. */
  readonly line: Color;
  readonly faintLine: Color;
  readonly accent: Color;
  readonly red: Color;
  readonly green: Color;
  readonly yellow: Color;
  readonly blue: Color;
  readonly magenta: Color;
  readonly cyan: Color;
  /** Backgrounds. */
  readonly selected: Color;
  readonly userPanel: Color;
  readonly customPanel: Color;
  readonly pendingPanel: Color;
  readonly successPanel: Color;
  readonly errorPanel: Color;
  /** A match of a search, and its text. */
  readonly match: Color;
  readonly matchText: Color;
}

export function assignRoles(palette: Palette): Record<ThemeToken, Color> {
  const { text, muted, dim, line, faintLine, accent, red, green, yellow, blue, magenta, cyan } = palette;
  return {
    accent,
    border: line,
    borderAccent: accent,
    borderMuted: faintLine,
    success: green,
    error: red,
    warning: yellow,
    muted,
    dim,
    text,
    thinkingText: muted,
    scrollbarTrack: faintLine,
    scrollbarThumb: line,
    selectedBg: palette.selected,
    searchMatchBg: palette.match,
    searchMatchText: palette.matchText,
    userMessageBg: palette.userPanel,
    userMessageText: text,
    customMessageBg: palette.customPanel,
    customMessageText: text,
    customMessageLabel: magenta,
    toolPendingBg: palette.pendingPanel,
    toolSuccessBg: palette.successPanel,
    toolErrorBg: palette.errorPanel,
    toolTitle: text,
    toolOutput: muted,
    mdHeading: yellow,
    mdLink: blue,
    mdLinkUrl: dim,
    mdCode: cyan,
    mdCodeBlock: text,
    mdCodeBlockBorder: faintLine,
    mdQuote: muted,
    mdQuoteBorder: line,
    mdHr: faintLine,
    mdListBullet: accent,
    toolDiffAdded: green,
    toolDiffRemoved: red,
    toolDiffContext: muted,
    syntaxComment: dim,
    syntaxKeyword: magenta,
    syntaxFunction: blue,
    syntaxVariable: text,
    syntaxString: green,
    syntaxNumber: yellow,
    syntaxType: cyan,
    syntaxOperator: muted,
    syntaxPunctuation: muted,
    thinkingOff: faintLine,
    thinkingMinimal: line,
    thinkingLow: cyan,
    thinkingMedium: blue,
    thinkingHigh: magenta,
    thinkingXhigh: yellow,
    thinkingMax: red,
    bashMode: green,
  };
}

export { type Component, CURSOR_MARKER, type Focusable, isFocusable } from "./component.ts";
export { Container } from "./components/container.ts";
export { Text } from "./components/text.ts";
export type { TuiMouseButton, TuiMouseEvent, TuiMouseEventResult, TuiMouseEventType } from "./mouse.ts";
export { compositeTuiLine } from "./screen/composite.ts";
export type {
  OverlayAnchor,
  OverlayBounds,
  OverlayMargin,
  OverlayOptions,
  SizeValue,
} from "./screen/overlay-layout.ts";
export type { OverlayHandle } from "./screen/overlays.ts";
export { TUI, TUI as TuiMainScreen, type TuiInputListener, type TuiInputListenerResult } from "./screen/tui.ts";
export type { Terminal } from "./terminal/terminal.ts";
export { visibleWidth } from "./text/cells.ts";
export { stripTerminalSequences } from "./text/escape.ts";
export { sliceByColumn } from "./text/slice.ts";
export { truncateToWidth } from "./text/truncate.ts";
export { wrapTextWithAnsi } from "./text/wrap.ts";
export { getEditorTheme, getMarkdownTheme, getSelectListTheme, getSettingsListTheme } from "./theme/adapters.ts";
export { builtInThemes } from "./theme/built-in.ts";
export { type AppearanceHints, chooseTheme, decideAppearance, type ThemeChoice } from "./theme/choose.ts";
export { addColorReport, type ColorReport, parseColorReport } from "./theme/color-report.ts";
export { type ColorMode, type ColorValue, decideColorMode, getContrast, mixColors, parseColor } from "./theme/color.ts";
export { createSystemTheme, type TerminalColors } from "./theme/system.ts";
export { type ParsedTheme, parseTheme, systemThemeName, type ThemeProblem } from "./theme/theme-file.ts";
export { createTheme, Theme, type ThemeOptions, type ThemeStyle, type ThinkingLevel } from "./theme/theme.ts";
export type {
  ThemeAppearance,
  ThemeBg,
  ThemeColor,
  ThemeDefinition,
  ThemeExportColors,
  ThemeToken,
} from "./theme/tokens.ts";

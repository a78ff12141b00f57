export { Marked, type Token, type Tokens } from "marked";
export { type Component, CURSOR_MARKER, type Focusable, isFocusable, renderFakeCursor } from "./component.ts";
export { Editor, type EditorOptions, type EditorTheme } from "./components/editor.ts";
export type { EditorComponent } from "./components/editor-component.ts";
export { Input, type InputOptions } from "./components/input.ts";
export {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  CombinedAutocompleteProvider,
  type SlashCommand,
} from "./completion/autocomplete.ts";
export { type FuzzyMatch, fuzzyFilter, fuzzyMatch } from "./completion/fuzzy.ts";
export { Container } from "./components/container.ts";
export { Box } from "./components/box.ts";
export { CancellableLoader } from "./components/cancellable-loader.ts";
export { HStack } from "./components/h-stack.ts";
export { Loader, type LoaderIndicatorOptions } from "./components/loader.ts";
export { renderLatex, type RenderLatexOptions } from "./components/markdown/latex/render-latex.ts";
export { type DefaultTextStyle, Markdown, type MarkdownOptions, type MarkdownTheme } from "./components/markdown.ts";
export { MouseRegion, type MouseRegionHandler } from "./components/mouse-region.ts";
export {
  ScrollView,
  type ScrollViewOptions,
  type ScrollViewScrollbar,
  type ScrollViewScrollToOptions,
} from "./components/scroll-view.ts";
export {
  type SelectItem,
  SelectList,
  type SelectListLayoutOptions,
  type SelectListTheme,
  type SelectListTruncatePrimaryContext,
} from "./components/select-list.ts";
export {
  type SettingItem,
  SettingsList,
  type SettingsListOptions,
  type SettingsListTheme,
} from "./components/settings-list.ts";
export { Spacer } from "./components/spacer.ts";
export { TruncatedText } from "./components/truncated-text.ts";
export { Image, type ImageOptions, type ImageTheme } from "./components/image.ts";
export {
  type StackChild,
  type StackEntry,
  type StackEntryOptions,
  type StackOptions,
  VStack,
} from "./components/v-stack.ts";
export { Text } from "./components/text.ts";
export {
  DEFAULT_EDITOR_KEYBINDINGS,
  type EditorAction,
  type EditorKeybindingsConfig,
  EditorKeybindingsManager,
  getEditorKeybindings,
  setEditorKeybindings,
} from "./keys/editor-keybindings.ts";
export { isKeyId, Key, type KeyEventType, type KeyId } from "./keys/key.ts";
export {
  getKeybindings,
  type Keybinding,
  type KeybindingConflict,
  type KeybindingDefinition,
  type KeybindingDefinitions,
  type Keybindings,
  type KeybindingsConfig,
  KeybindingsManager,
  setKeybindings,
  TUI_KEYBINDINGS,
} from "./keys/keybindings.ts";
export {
  decodeKittyPrintable,
  isKeyRelease,
  isKeyRepeat,
  isKittyProtocolActive,
  matchesKey,
  parseKey,
  setKittyProtocolActive,
} from "./keys/match.ts";
export { StdinBuffer, type StdinBufferEventMap, type StdinBufferOptions } from "./keys/stdin-buffer.ts";
export type { TuiMouseButton, TuiMouseEvent, TuiMouseEventResult, TuiMouseEventType } from "./mouse.ts";
export { compositeTuiLine } from "./screen/composite.ts";
export type {
  OverlayAnchor,
  OverlayBounds,
  OverlayMargin,
  OverlayOptions,
  SizeValue,
} from "./screen/overlay-layout.ts";
export type { OverlayHandle, OverlayUnfocusOptions } from "./screen/overlays.ts";
export {
  isViewportTUI,
  TuiAltScreen,
  type TuiAltScreenOptions,
  type ViewportTUI,
  VIEWPORT_TUI,
} from "./screen/tui-alt-screen.ts";
export { TUI, TuiMainScreen } from "./screen/tui.ts";
export type { TuiInputListener, TuiInputListenerResult, TuiMode, TuiStopOptions } from "./screen/tui-base.ts";
export {
  detectCapabilities,
  getCapabilities,
  type ImageProtocol,
  resetCapabilitiesCache,
  setCapabilities,
  setCapabilityOverrides,
  type TerminalCapabilities,
} from "./terminal/capabilities.ts";
export {
  type ColorReport,
  parseColorReport,
  parseOsc11BackgroundColor,
  parseTerminalColorSchemeReport,
  type RgbColor,
  type TerminalColorScheme,
} from "./terminal/colors.ts";
export { getOsc8LinkAtColumn, hyperlink } from "./terminal/hyperlink.ts";
export {
  getGifDimensions,
  getImageDimensions,
  getJpegDimensions,
  getPngDimensions,
  getWebpDimensions,
  type ImageDimensions,
} from "./terminal/image-size.ts";
export {
  allocateImageId,
  calculateImageRows,
  type CellDimensions,
  deleteAllKittyImages,
  deleteKittyImage,
  encodeITerm2,
  encodeKitty,
  getCellDimensions,
  imageFallback,
  type ImageRenderOptions,
  renderImage,
  setCellDimensions,
} from "./terminal/images.ts";
export { getNativeClipboard, type NativeClipboard } from "./terminal/native-clipboard.ts";
export { ProcessTerminal, type ProcessTerminalOptions } from "./terminal/process-terminal.ts";
export type { Terminal } from "./terminal/terminal.ts";
export { visibleWidth } from "./text/cells.ts";
export { stripTerminalSequences } from "./text/escape.ts";
export { toPlainLine, toPlainText, toVisibleText } from "./text/plain.ts";
export { sliceByColumn } from "./text/slice.ts";
export { truncateToWidth } from "./text/truncate.ts";
export { wrapTextWithAnsi } from "./text/wrap.ts";
export { getEditorTheme, getMarkdownTheme, getSelectListTheme, getSettingsListTheme } from "./theme/adapters.ts";
export { builtInThemes } from "./theme/built-in.ts";
export { type AppearanceHints, chooseTheme, decideAppearance, type ThemeChoice } from "./theme/choose.ts";
export { type ColorMode, type ColorValue, decideColorMode, getContrast, mixColors, parseColor } from "./theme/color.ts";
export { addColorReport, createSystemTheme, type TerminalColors } from "./theme/system.ts";
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

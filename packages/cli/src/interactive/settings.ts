/** The settings that the terminal itself uses. */
import type { Settings } from "@tau/config/settings";

export type TerminalSettings = Pick<
  Settings,
  | "autocompleteMaxVisible"
  | "doubleEscapeAction"
  | "editorMode"
  | "editorPaddingX"
  | "fullscreenCopyOnSelect"
  | "fullscreenExitOutput"
  | "fullscreenScrollbar"
  | "fullscreenWheelScrollLines"
  | "hideThinkingBlock"
  | "markdown"
  | "notify"
  | "outputPad"
  | "promptHistory"
  | "quietStartup"
  | "showCacheMissNotices"
  | "showHardwareCursor"
  | "statusLine"
  | "terminal"
  | "tuiMode"
>;

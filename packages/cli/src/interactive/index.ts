/**
 * The modules that the program loads when it opens the interactive terminal: one file that other modes do without. It
 * has all of the terminal library, because extensions have to share it with the terminal.
 */
export * from "@tau/tui";
export { App } from "./app.ts";
export { parseKeybindings } from "./keybindings-file.ts";
export { getKeybindingDefinitions } from "./keybindings.ts";
export { followFocus, unfollowFocus } from "./attention.ts";
export { statusQuestion, type StatusMode } from "./program-status.ts";
export { colorQuestions, followAppearance, Themes, unfollowAppearance } from "./themes.ts";

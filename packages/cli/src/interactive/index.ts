/** What the program loads when it opens the interactive terminal: one file that other modes do without. */
export { createSystemTheme, createTheme, decideColorMode, getCapabilities, ProcessTerminal } from "@tau/tui";
export { App, type AppOptions } from "./app.ts";
export { createKeybindings } from "./keybindings.ts";

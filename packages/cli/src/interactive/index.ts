/** What the program loads when it opens the interactive terminal: one file that other modes do without. */
export {
  builtInThemes,
  decideColorMode,
  getCapabilities,
  KeybindingsManager,
  parseTheme,
  ProcessTerminal,
  setCapabilityOverrides,
} from "@tau/tui";
export { App, type AppOptions } from "./app.ts";
export { parseKeybindings } from "./keybindings-file.ts";
export { getKeybindingDefinitions } from "./keybindings.ts";
export { colorQuestions, followAppearance, Themes, unfollowAppearance } from "./themes.ts";

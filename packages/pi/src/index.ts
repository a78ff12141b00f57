/** The modules of pi that extensions import, by their names, with what tau has behind them. */
export { loadPiModule, type LoadPiModuleOptions } from "./modules.ts";
export { setTerminalLook, type TerminalLook } from "./terminal-look.ts";

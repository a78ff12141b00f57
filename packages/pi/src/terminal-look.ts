/**
 * Theme, highlighter and clipboard for the components of pi's modules. The terminal that loads extensions sets them; without
 * a terminal the theme is the built-in dark one.
 */
import { builtInThemes, createTheme, decideColorMode, type Theme } from "@tau/tui";

export interface TerminalLook {
  /** The theme in use. It may change its colors later. */
  theme: Theme;
  /** The lines of code in colors. Default: all in the color of code. */
  highlightCode?: (code: string, language: string | undefined) => string[];
  /** Resolves to whether it was copied. Default: nothing is. */
  copy?: (text: string) => Promise<boolean>;
}

let current: TerminalLook | undefined;

export const getTerminalLook = (): TerminalLook => (current ??= { theme: createDefaultTheme() });

export function setTerminalLook(look: TerminalLook): void {
  current = look;
}

function createDefaultTheme(): Theme {
  const dark = builtInThemes.find(({ name }) => name === "dark");
  if (!dark) throw new Error("There is no built-in theme with the name dark.");
  return createTheme(dark, decideColorMode(process.env, { hasTrueColor: true }));
}

/** How things look: the theme, what is folded, and what the tools say about their results. One for the whole interface. */
import type { ToolData } from "@tau/protocol";
import type { MarkdownTheme, Theme } from "@tau/tui";

export interface Look {
  theme: Theme;
  /** The theme for Markdown, with colours for code. One object, which may change. */
  markdown: MarkdownTheme;
  /** Blank columns at the sides of messages. */
  outputPad: number;
  /** Whether results of tools are shown whole. */
  expandsTools: boolean;
  hidesThinking: boolean;
  images: { areShown: boolean; maxWidthCells: number };
  /** By the name of the tool. */
  shows: ReadonlyMap<string, ToolData["shows"]>;
}

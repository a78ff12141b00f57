/** How things look: the theme, what is folded, and what the tools say about their results. One for the whole interface. */
import type { ToolData } from "@tau/protocol";
import type { MarkdownTheme, Theme } from "@tau/tui";
import type { Renderers } from "./extensions/renderers.ts";

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
  /** What stands in the place of thinking that is not shown. */
  thinkingLabel: string;
  /** Columns of the terminal. */
  getColumns: () => number;
  /** The directory of the session. */
  cwd: string;
  /** Of extensions; undefined without any. */
  renderers?: Renderers;
  /** By the name of the tool. */
  shows: ReadonlyMap<string, ToolData["shows"]>;
}

/** How things look: the theme, what is folded, and what the tools say about their results. One for the whole interface. */
import type { ToolData } from "@tau/protocol";
import { getMarkdownTheme, type MarkdownTheme, type Terminal, type Theme } from "@tau/tui";
import type { Renderers } from "./extensions/renderers.ts";
import type { Highlighter } from "./highlight/highlight.ts";
import type { TerminalSettings } from "./settings.ts";

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
  /** The text in the place of thinking that is not shown. */
  thinkingLabel: string;
  /** Columns of the terminal. */
  getColumns: () => number;
  /** The directory of the session. */
  cwd: string;
  /** The renderers of extensions; undefined without any. */
  renderers?: Renderers;
  /** By the name of the tool. */
  shows: ReadonlyMap<string, ToolData["shows"]>;
}

interface LookParts {
  theme: Theme;
  terminal: Terminal;
  highlighter: Highlighter;
  settings: TerminalSettings;
}

export function createLook({ theme, terminal, highlighter, settings }: LookParts): Look {
  const { codeBlockIndent, mermaid } = settings.markdown;
  return {
    theme,
    markdown: getMarkdownTheme(theme, { highlightCodeLine: highlighter.highlightLine, codeBlockIndent, mermaid }),
    outputPad: settings.outputPad,
    expandsTools: false,
    hidesThinking: settings.hideThinkingBlock,
    thinkingLabel: "Thinking …",
    images: toImages(settings),
    getColumns: () => terminal.columns,
    cwd: "",
    shows: new Map(),
  };
}

/** Applies new settings. What the user has toggled stays, until the setting itself changes. */
export function changeLook(look: Look, settings: TerminalSettings, before: TerminalSettings): void {
  look.markdown.codeBlockIndent = settings.markdown.codeBlockIndent;
  look.markdown.mermaid = settings.markdown.mermaid;
  look.images = toImages(settings);
  look.outputPad = settings.outputPad;
  if (settings.hideThinkingBlock !== before.hideThinkingBlock) look.hidesThinking = settings.hideThinkingBlock;
}

const toImages = ({ terminal }: TerminalSettings): Look["images"] => ({
  areShown: terminal.showImages,
  maxWidthCells: terminal.imageWidthCells,
});

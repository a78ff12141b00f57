/** How Markdown looks. Each function gets text and returns it with styles. */

type Style = (text: string) => string;

export interface MarkdownTheme {
  heading: Style;
  link: Style;
  linkUrl: Style;
  code: Style;
  codeBlock: Style;
  /** The lines of diagrams. Code is drawn without its fences. */
  codeBlockBorder: Style;
  quote: Style;
  quoteBorder: Style;
  hr: Style;
  listBullet: Style;
  bold: Style;
  italic: Style;
  strikethrough: Style;
  underline: Style;
  /** The lines of a code block. While a block is being written, it is called with the whole block each time. */
  highlightCode?: (code: string, lang?: string) => string[];
  /**
   * Highlights a line of a code block. `state` is what the call for the line before returned, undefined at first. Preferred
   * to `highlightCode` if a theme has both: each line of a block that is being written is highlighted once.
   */
  highlightCodeLine?: (line: string, lang: string | undefined, state: unknown) => { line: string; state: unknown };
  /** Before each line of a code block. Default two blanks. */
  codeBlockIndent?: string;
  /**
   * When a fence of Mermaid at the top of the text is drawn as a diagram, if it can be and fits: never, as soon as it is closed, or
   * also while it arrives. Default `off`.
   */
  mermaid?: "off" | "final" | "streaming";
}

/** How text looks where Markdown says nothing else. */
export interface DefaultTextStyle {
  color?: Style;
  /** Behind whole lines, padding included. */
  bgColor?: Style;
  bold?: boolean;
  italic?: boolean;
  strikethrough?: boolean;
  underline?: boolean;
}

export interface MarkdownOptions {
  /** Shows the numbers and bullets of the source. Default: numbers go up from the first, bullets are all the same. */
  preserveOrderedListMarkers?: boolean;
  /** Shows `\*` as it is written. */
  preserveBackslashEscapes?: boolean;
  /** Changes the source before it is read. The text is then read from its beginning at every change. */
  transform?: (markdown: string, availableWidth: number) => string;
  /**
   * Whether formulas of LaTeX are drawn. Default true; those that have unknown commands are always shown as they are
   * written.
   */
  renderLatex?: boolean;
}

/** Everything that drawing needs, except the width. */
export interface Look {
  readonly theme: MarkdownTheme;
  readonly options: MarkdownOptions;
  /** The style of text outside of headings and quotes. */
  readonly text: Style;
}

export function toTextStyle(theme: MarkdownTheme, style: DefaultTextStyle = {}): Style {
  const styles: Style[] = [];
  if (style.color) styles.push(style.color);
  if (style.bold) styles.push(theme.bold);
  if (style.italic) styles.push(theme.italic);
  if (style.strikethrough) styles.push(theme.strikethrough);
  if (style.underline) styles.push(theme.underline);
  return (text) => styles.reduce((styled, next) => next(styled), text);
}

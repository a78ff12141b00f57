import type { MarkdownTheme, Theme } from "@tau/tui";

export type HighlightLine = NonNullable<MarkdownTheme["highlightCodeLine"]>;

interface HighlightOptions {
  /** Such as `ts`; the highlighter may not know it. */
  language: string;
  /** Without it, all lines have one color. */
  highlight: HighlightLine | undefined;
  theme: Theme;
}

/** Colors lines of code that follow each other. */
export function highlightLines(lines: readonly string[], { language, highlight, theme }: HighlightOptions): string[] {
  let state: unknown;
  return lines.map((line) => {
    if (!highlight) return theme.fg("toolOutput", line);
    const highlighted = highlight(line, language, state);
    state = highlighted.state;
    return highlighted.line;
  });
}

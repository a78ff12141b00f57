/** Draws the code of a cell, also while it arrives, and the value of its last expression. */
import { getCellResult } from "@tau/protocol/surface";
import { type Theme, toPlainText } from "@tau/tui";
import { fold, foldLines } from "./fold.ts";
import { highlightLines, type HighlightLine } from "./highlight-lines.ts";
import { drawNumbered } from "./numbered-lines.ts";

interface DrawOptions {
  theme: Theme;
  expanded: boolean;
  /** Columns. */
  width: number;
  highlight?: HighlightLine | undefined;
}

interface Cell {
  code: string;
  language: string;
  /** Whether more of it follows. Its end is shown then, else its beginning. */
  isArriving: boolean;
}

/** How many lines are shown of code and of its value, if it is not expanded. */
const maxLines = { code: 12, result: 6 } as const;

export function drawCode({ code, language, isArriving }: Cell, options: DrawOptions): string[] {
  const { theme, width, highlight, expanded } = options;
  if (code.trim() === "") return [];
  const lines = toPlainText(code.replaceAll("\r\n", "\n")).trimEnd().split("\n");
  const keep = isArriving ? "end" : "start";
  const { kept, rest } = expanded ? { kept: lines } : fold(lines, { limit: maxLines.code, keep });
  const remark = rest === undefined ? [] : [theme.fg("dim", rest)];
  const gutter = `${theme.fg("dim", "│")} `;
  const drawn = highlightLines(kept, { language, highlight, theme }).flatMap((text) =>
    drawNumbered({ gutter, text, width }),
  );
  return isArriving ? [...remark, ...drawn] : [...drawn, ...remark];
}

/** Draws the value, unless the output ends with it. */
export function drawCellResult(details: unknown, output: string, { theme, expanded }: DrawOptions): string[] {
  const result = getCellResult(details);
  if (result === undefined || output.trimEnd().endsWith(result.trimEnd())) return [];
  const lines = toPlainText(result).trimEnd().split("\n");
  const style = (line: string) => theme.fg("toolOutput", line);
  const drawn = foldLines(lines, { limit: maxLines.result, keep: "start", style, theme, expanded });
  return drawn.map((line, index) => `${theme.fg("dim", index === 0 ? "→" : " ")} ${line}`);
}

import { tabWidth, visibleWidth } from "./cells.ts";

/** With blanks at its end, so that it fills the columns. */
export const padToWidth = (line: string, width: number): string =>
  line + " ".repeat(Math.max(0, width - visibleWidth(line)));

/** Terminals place a tab by the column it begins in, which a component does not know. */
export const expandTabs = (text: string): string => text.replaceAll("\t", " ".repeat(tabWidth));

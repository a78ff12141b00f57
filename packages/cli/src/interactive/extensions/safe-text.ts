import { toPlainText } from "@tau/tui";

// oxlint-disable-next-line no-control-regex -- what terminals obey begins with a control character
const style = /(\x1b\[[0-9;:]*m)/;

/**
 * Text of an extension that may have colors, and nothing else that a terminal obeys: the extension may run in a sandbox that
 * its text must not leave.
 */
export const toStyledText = (text: string): string =>
  String(text)
    .split(style)
    .map((part, index) => (index % 2 === 1 ? part : toPlainText(part)))
    .join("");

/** Converts to styled text in one line. */
export const toStyledLine = (text: string): string => toStyledText(text).replaceAll(/\s*\n\s*/g, " ");

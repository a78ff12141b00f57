/** Makes lines of components ready to be written. */
import { CURSOR_MARKER } from "../component.ts";
import { expandTabs } from "../text/pad.ts";
import { isLink, isStyle } from "../text/escape.ts";
import { sliceWithWidth } from "../text/slice.ts";
import { linkEnd } from "../text/style.ts";
import { toCells, visibleWidth } from "../text/cells.ts";

/** A line as it is written. */
export interface Line {
  /** Without blanks at its end that nobody sees; with all styles and links closed. */
  readonly text: string;
  /** In columns, without those blanks. */
  readonly width: number;
  /** The column of the cursor, if it is in this line. */
  readonly cursor: number | undefined;
}

const plain = /^[\x20-\x7e]*$/;
const allowed = /^\x1b(?:_G|\]1337;)/;
/** Formatting characters that terminals measure differently, and controls of the text's direction. */
const unmeasurable = /[\u00ad\u200b\u2060-\u206f\u202a-\u202e\u200e\u200f\ufeff\ufff9-\ufffb]/g;
const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

/** A line that is too wide is cut. Of escape sequences only styles, links and images are left. */
export function toLine(text: string, columns: number): Line {
  if (plain.test(text)) {
    const shown = trimEnd(text.length > columns ? text.slice(0, columns) : text);
    return { text: shown, width: shown.length, cursor: undefined };
  }
  const at = text.indexOf(CURSOR_MARKER);
  const cursor = at === -1 ? undefined : Math.min(visibleWidth(text.slice(0, at)), Math.max(0, columns - 1));
  const cleaned = clean(text);
  const fitting = visibleWidth(cleaned) > columns ? sliceWithWidth(cleaned, 0, columns, true).text : cleaned;
  const shown = trimEnd(fitting);
  return { text: close(shown), width: visibleWidth(shown), cursor };
}

const trimEnd = (text: string) => (text.endsWith(" ") && !text.includes("\x1b") ? text.trimEnd() : text);

function clean(text: string): string {
  const expanded = expandTabs(text).replaceAll(unmeasurable, "");
  if (!expanded.includes("\x1b")) return expanded.replaceAll(control, "");
  let result = "";
  for (const cell of toCells(expanded)) {
    if (!cell.isEscape) result += cell.text.replaceAll(control, "");
    else if (isStyle(cell.text) || isLink(cell.text) || allowed.test(cell.text)) result += cell.text;
  }
  return result;
}

/** What a line leaves open would color the rest of the screen. */
function close(text: string): string {
  if (!text.includes("\x1b[") && !text.includes("\x1b]8;")) return text;
  const link = text.includes("\x1b]8;") && !text.endsWith(linkEnd) ? linkEnd : "";
  return `${text}${link}\x1b[0m`;
}

/** Links in text: OSC 8. */
import { toCells } from "../text/cells.ts";
import { isLink } from "../text/escape.ts";

/** Text, which may be styled, that a terminal opens as a link. Control characters in the address are left out. */
export const hyperlink = (text: string, url: string): string =>
  `\x1b]8;;${url.replace(/\p{Cc}/gu, "")}\x1b\\${text}\x1b]8;;\x1b\\`;

/** The address of the link at a column of the line, from 0. */
export function getOsc8LinkAtColumn(line: string, column: number): string | undefined {
  let url = "";
  let end = 0;
  for (const cell of toCells(line)) {
    if (cell.isEscape) {
      if (isLink(cell.text)) url = /^\x1b\]8;[^;]*;(.*?)(?:\x07|\x1b\\)$/s.exec(cell.text)?.[1] ?? "";
      continue;
    }
    end += cell.width;
    if (column >= end - cell.width && column < end) return url || undefined;
  }
  return undefined;
}

/** Draws tables: as wide as they need to be and at most as wide as there is room. */
import { visibleWidth } from "../../text/cells.ts";
import { padToWidth } from "../../text/pad.ts";
import { wrapTextWithAnsi } from "../../text/wrap.ts";

/** No word makes a column wider than this while other columns have to wrap. */
const maxWordWidth = 30;

export interface ColumnNeed {
  /** The width of the widest cell. */
  natural: number;
  /** The width of the widest word. */
  word: number;
}

export function measureCell(cell: string): ColumnNeed {
  const word = Math.max(1, getMaxWidth(cell.split(/\s+/)));
  return { natural: getMaxWidth(cell.split("\n")), word: Math.min(word, maxWordWidth) };
}

/** A cell may have more words than a call of `Math.max` takes arguments. */
const getMaxWidth = (texts: readonly string[]): number =>
  texts.reduce((max, text) => Math.max(max, visibleWidth(text)), 0);

/** The width of each column, of `room` columns without borders. Undefined if there is less than one for each. */
export function allocateColumns(needs: readonly ColumnNeed[], room: number): number[] | undefined {
  if (room < needs.length) return undefined;
  const natural = needs.map((need) => Math.max(1, need.natural));
  if (sum(natural) <= room) return natural;
  const words = needs.map((need) => Math.max(1, need.word));
  if (sum(words) <= room) return share(words, natural, room);
  return share(
    needs.map(() => 1),
    words,
    room,
  );
}

/** Gives what remains to the columns that want more, in proportion to how much they want. */
function share(min: readonly number[], wanted: readonly number[], room: number): number[] {
  const wishes = min.map((width, index) => Math.max(0, (wanted[index] as number) - width));
  const extra = room - sum(min);
  const total = sum(wishes);
  const widths = min.map(
    (width, index) => width + Math.floor(((wishes[index] as number) / Math.max(1, total)) * extra),
  );
  for (let index = 0, rest = Math.min(room, sum(wanted)) - sum(widths); rest > 0; index = (index + 1) % widths.length) {
    if ((widths[index] as number) >= (wanted[index] as number)) continue;
    widths[index] = (widths[index] as number) + 1;
    rest--;
  }
  return widths;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Null: to the left. */
type Alignment = "left" | "center" | "right" | null;

interface Column {
  width: number;
  align: Alignment;
}

export function drawRow(cells: readonly string[], columns: readonly Column[]): string[] {
  const wrapped = columns.map(({ width }, index) => wrapTextWithAnsi(cells[index] ?? "", width));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => {
    const parts = columns.map((column, index) => alignText(wrapped[index]?.[line] ?? "", column));
    return `│ ${parts.join(" │ ")} │`;
  });
}

function alignText(text: string, { width, align }: Column): string {
  const room = Math.max(0, width - visibleWidth(text));
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return padToWidth(" ".repeat(before) + text, width);
}

export const drawBorder = (
  widths: readonly number[],
  [left, cross, right]: readonly [string, string, string],
): string => left + widths.map((width) => "─".repeat(width + 2)).join(cross) + right;

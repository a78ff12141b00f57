/** Tables and trees for people: aligned, cut to the terminal, and free of what would move a cursor. */
import { styleText } from "node:util";
import type { Io } from "./command.ts";

export interface Column {
  title: string;
  align?: "right";
  /** Gives way when the terminal is narrow. */
  gives?: true;
}

export type Colour = "green" | "yellow" | "red" | "dim";

/** A text, or one with a colour. */
export type Cell = string | { text: string; colour: Colour };

const gap = "  ";
/** What a column that gives way keeps. */
const minWidth = 8;

/** Without a terminal nothing is cut: another program may read it. */
export function tableText(columns: readonly Column[], rows: readonly (readonly Cell[])[], io: Io): string {
  const cells = rows.map((row) => row.map((cell) => cleanLine(getText(cell))));
  const wanted = columns.map(({ title }, at) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at] ?? ""))),
  );
  const widths = narrowed(wanted, columns, terminalWidth(io));
  const line = (texts: readonly string[], paint: (text: string, at: number) => string) =>
    columns.map((column, at) => paint(fitted(texts[at] ?? "", widths[at]!, column.align), at)).join(gap);
  const head = line(
    columns.map(({ title }) => title),
    (text) => (io.colour ? styleText("bold", text) : text),
  );
  const body = cells.map((texts, row) => line(texts, (text, at) => painted(text, rows[row]?.[at], io)));
  return `${[head, ...body].map((one) => one.trimEnd()).join("\n")}\n`;
}

const getText = (cell: Cell) => (typeof cell === "string" ? cell : cell.text);

const painted = (text: string, cell: Cell | undefined, io: Io) =>
  io.colour && typeof cell === "object" ? styleText(cell.colour, text) : text;

/** Where a terminal does not say, 80 is what it most often has. */
export function terminalWidth({ terminal, env, columns }: Io): number {
  if (!terminal.out) return Number.POSITIVE_INFINITY;
  const told = Number(env["COLUMNS"]);
  return told > 0 ? told : columns || 80;
}

function narrowed(wanted: readonly number[], columns: readonly Column[], most: number): number[] {
  const widths = [...wanted];
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - most;
  for (let at = columns.length - 1; at >= 0 && excess > 0; at--) {
    if (!columns[at]!.gives) continue;
    const given = Math.min(excess, Math.max(0, widths[at]! - minWidth));
    widths[at]! -= given;
    excess -= given;
  }
  return widths;
}

function fitted(text: string, width: number, align: Column["align"]): string {
  const cut = cutTo(text, width);
  const room = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return align === "right" ? room + cut : cut + room;
}

/** The beginning of a text that fits, with a sign where something is missing. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += getWidth(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** How many cells of a terminal a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += getWidth(character);
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const unseen = /[\p{M}\p{Cf}]/u;

function getWidth(character: string): number {
  if (character <= "~") return 1;
  if (unseen.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** One line, with nothing in it that a terminal would obey. */
export const cleanLine = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- names and messages come from files that anybody may have written
  text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ").trim();

export interface TreeNode {
  text: string;
  children: readonly TreeNode[];
}

/**
 * Trees with lines between the nodes. With `chains`, an only child stays below its parent without being indented, so
 * that only branches are. Of any depth.
 */
export function treeText(roots: readonly TreeNode[], io: Io, { chains = false } = {}): string {
  const width = terminalWidth(io);
  const lines: string[] = [];
  const waiting = roots.toReversed().map((node) => ({ node, first: "", below: "" }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, first, below } = next;
    lines.push(cutTo(first + cleanLine(node.text), width));
    const { children } = node;
    if (chains && children.length === 1) {
      waiting.push({ node: children[0]!, first: below, below });
      continue;
    }
    for (const [at, child] of children.toReversed().entries()) {
      const isLast = at === 0;
      waiting.push({
        node: child,
        first: `${below}${isLast ? "└─ " : "├─ "}`,
        below: `${below}${isLast ? "   " : "│  "}`,
      });
    }
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Tables and trees for people: aligned, cut to the width of the terminal, and without control characters. */
import type { Io } from "../commands/command.ts";
import { paint } from "./terminal-text.ts";

export interface Column {
  title: string;
  align?: "right";
  /** Whether the column gets narrower if the terminal is. */
  shrinks?: true;
}

export type Colour = "green" | "yellow" | "red" | "dim";

type Cell = string | { text: string; colour: Colour };

const gap = "  ";
/** A column does not shrink below this width. */
const minWidth = 8;

/** The part of the output that a table depends on. */
export type TableIo = Pick<Io, "terminal" | "env" | "columns" | "colour">;

/** Cuts nothing if the output is not a terminal, because another program may read it. */
export function tableText(columns: readonly Column[], rows: readonly (readonly Cell[])[], io: TableIo): string {
  const texts = rows.map((row) => row.map((cell) => cleanLine(typeof cell === "string" ? cell : cell.text)));
  const maxWidths = columns.map(({ title }, index) =>
    // There may be more rows than a call takes arguments.
    texts.reduce((width, row) => Math.max(width, displayWidth(row[index] ?? "")), displayWidth(title)),
  );
  const widths = shrink(maxWidths, columns, terminalWidth(io));
  const pad = (text: string, index: number) => padTo(text, widths[index]!, columns[index]!.align);
  const head = columns.map(({ title }, index) => paintIf(pad(title, index), "bold", io));
  const body = rows.map((row, rowIndex) =>
    columns.map((_column, index) => {
      const cell = row[index];
      const text = pad(texts[rowIndex]?.[index] ?? "", index);
      return typeof cell === "object" ? paintIf(text, cell.colour, io) : text;
    }),
  );
  return [head, ...body].map((cells) => `${cells.join(gap).trimEnd()}\n`).join("");
}

const paintIf = (text: string, style: Colour | "bold", { colour }: TableIo) => (colour ? paint(text, style) : text);

/** Default: 80 columns. */
export function terminalWidth({ terminal, env, columns }: TableIo): number {
  if (!terminal.out) return Number.POSITIVE_INFINITY;
  const width = Number(env["COLUMNS"]);
  return width > 0 ? width : columns || 80;
}

function shrink(maxWidths: readonly number[], columns: readonly Column[], maxTotal: number): number[] {
  const widths = [...maxWidths];
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - maxTotal;
  for (let index = columns.length - 1; index >= 0 && excess > 0; index--) {
    if (!columns[index]!.shrinks) continue;
    const cut = Math.min(excess, Math.max(0, widths[index]! - minWidth));
    widths[index]! -= cut;
    excess -= cut;
  }
  return widths;
}

function padTo(text: string, width: number, align: Column["align"]): string {
  const cut = cutTo(text, width);
  const padding = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return align === "right" ? padding + cut : cut + padding;
}

/** The beginning of a text that fits into a width, with an ellipsis if the text was cut. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let beginning = "";
  let used = 1;
  for (const character of text) {
    used += getWidth(character);
    if (used > width) break;
    beginning += character;
  }
  return `${beginning}…`;
}

/** The number of terminal cells that a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += getWidth(character);
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const invisible = /[\p{M}\p{Cf}]/u;

function getWidth(character: string): number {
  if (character <= "~") return 1;
  if (invisible.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Cleans a text to one line without control characters: names and messages come from files that anyone may have written. */
export const cleanLine = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- they are to be removed
  text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ").trim();

export interface TreeNode {
  text: string;
  children: readonly TreeNode[];
}

/**
 * Trees of any depth, with lines between the nodes. With `flattenChains`, an only child is not indented below its parent,
 * so that only branches are.
 */
export function treeText(roots: readonly TreeNode[], io: Io, { flattenChains = false } = {}): string {
  const width = terminalWidth(io);
  const lines: string[] = [];
  const stack = roots.toReversed().map((node) => ({ node, prefix: "", childPrefix: "" }));
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, prefix, childPrefix } = next;
    lines.push(`${cutTo(prefix + cleanLine(node.text), width)}\n`);
    const isChain = flattenChains && node.children.length === 1;
    for (const [index, child] of node.children.toReversed().entries()) {
      const [branch, rest] = isChain ? ["", ""] : index === 0 ? ["└─ ", "   "] : ["├─ ", "│  "];
      stack.push({ node: child, prefix: childPrefix + branch, childPrefix: childPrefix + rest });
    }
  }
  return lines.join("");
}

/** Large pastes are shown as a marker, `[paste #1 +12 lines]` or `[paste #1 1234 chars]`, that behaves as one character. */
import type { Atom } from "./clusters.ts";

/** The pasted texts by the number in their markers. */
export type Pastes = ReadonlyMap<number, string>;

const marker = /\[paste #(\d+)(?: (?:\+\d+ lines|\d+ chars))?\]/g;
const maxInlineLines = 10;
const maxInlineChars = 1000;

/** Where a line has markers; only those of known pastes are listed. */
export function findAtoms(line: string, pastes: Pastes): Atom[] {
  if (pastes.size === 0 || !line.includes("[paste #")) return [];
  const atoms: Atom[] = [];
  for (const { 0: text, 1: id, index } of line.matchAll(marker)) {
    if (pastes.has(Number(id))) atoms.push({ start: index, end: index + text.length });
  }
  return atoms;
}

/** Returns what to insert for a pasted text, and the pastes after it. */
export function addPaste(pastes: Pastes, text: string): { text: string; pastes: Pastes } {
  const lineCount = text.split("\n").length;
  if (lineCount <= maxInlineLines && text.length <= maxInlineChars) return { text, pastes };
  const id = Math.max(0, ...pastes.keys()) + 1;
  const size = lineCount > maxInlineLines ? `+${lineCount} lines` : `${text.length} chars`;
  return { text: `[paste #${id} ${size}]`, pastes: new Map([...pastes, [id, text]]) };
}

/**
 * Returns what to insert for a text whose markers stand for `known` pastes, and the pastes after it. A marker gets another
 * number if its own stands for something else by now.
 */
export function restorePastes(pastes: Pastes, text: string, known: Pastes): { text: string; pastes: Pastes } {
  const restored = new Map(pastes);
  const renumbered = text.replace(marker, (whole, digits) => {
    const id = Number(digits);
    const pasted = known.get(id);
    if (pasted === undefined || restored.get(id) === pasted) return whole;
    const next = restored.has(id) ? Math.max(...restored.keys()) + 1 : id;
    restored.set(next, pasted);
    return whole.replace(`#${digits}`, `#${next}`);
  });
  return restored.size === pastes.size ? { text, pastes } : { text: renumbered, pastes: restored };
}

export const expandMarkers = (text: string, pastes: Pastes): string =>
  pastes.size === 0 ? text : text.replace(marker, (whole, id) => pastes.get(Number(id)) ?? whole);

interface DocumentWithPastes {
  readonly lines: readonly string[];
  readonly cursor: { readonly line: number; readonly col: number };
  readonly pastes: Pastes;
}

/**
 * Forgets the paste of a marker that was deleted, unless it is somewhere else in the text. Those with higher numbers move up,
 * in the text too.
 */
export function dropPaste<D extends DocumentWithPastes>(document: D, deleted: string): D {
  const id = parseId(deleted);
  if (id === undefined || !document.pastes.has(id)) return document;
  if (document.lines.some((line) => line.includes(deleted))) return document;
  const pastes = new Map<number, string>();
  for (const [other, text] of document.pastes) if (other !== id) pastes.set(other > id ? other - 1 : other, text);
  const renumber = (line: string) =>
    line.replace(marker, (whole, other) =>
      Number(other) > id && document.pastes.has(Number(other))
        ? whole.replace(`#${other}`, `#${Number(other) - 1}`)
        : whole,
    );
  const { line, col } = document.cursor;
  const before = renumber((document.lines[line] as string).slice(0, col));
  const lines = document.lines.map((text) => (text.includes("[paste #") ? renumber(text) : text));
  return { ...document, lines, cursor: { line, col: before.length }, pastes };
}

function parseId(text: string): number | undefined {
  const match = [...text.matchAll(marker)][0];
  return match && match[0] === text ? Number(match[1]) : undefined;
}

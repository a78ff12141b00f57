/** Where a sequence that a terminal sends ends. */

/**
 * The index after the sequence, key or character that begins at `start`; undefined if more has to come. A sequence that is
 * broken off by a character that cannot be in it ends before that character. `scanned` is how much of the sequence an
 * earlier call has seen.
 */
export function findSequenceEnd(text: string, start: number, scanned = 0): number | undefined {
  const code = text.codePointAt(start) ?? 0;
  if (code !== 0x1b) {
    const isHalf = code >= 0xd800 && code <= 0xdbff && start + 1 === text.length;
    return isHalf ? undefined : start + (code > 0xffff ? 2 : 1);
  }
  if (start + 1 === text.length) return undefined;
  const introducer = text[start + 1] ?? "";
  if (introducer === "\x1b") return findEndAfterTwoEscapes(text, start);
  if (introducer === "[") return findControlEnd(text, start, scanned);
  if (introducer === "O") return start + 2 < text.length ? findSs3End(text, start) : undefined;
  if ("]P_".includes(introducer)) return findStringEnd(text, start, scanned);
  return findSequenceEnd(text, start + 1);
}

/** Alt with Escape, or Escape and then a sequence: terminals send the release of Escape right after it. */
function findEndAfterTwoEscapes(text: string, start: number): number | undefined {
  if (start + 2 === text.length) return undefined;
  return "[O]P_".includes(text[start + 2] ?? "") ? start + 1 : start + 2;
}

const findSs3End = (text: string, start: number): number =>
  isBetween(text.charCodeAt(start + 2), 0x20, 0x7e) ? start + 3 : start + 2;

/** CSI, with the three sequences of their own kind: the old mouse, the console of Linux, and rxvt's keys with Shift. */
function findControlEnd(text: string, start: number, scanned: number): number | undefined {
  const first = text[start + 2];
  if (first === undefined) return undefined;
  if (first === "M") return start + 6 <= text.length ? start + 6 : undefined;
  const body = start + (first === "[" ? 3 : 2);
  for (let index = Math.max(body, start + scanned); index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isBetween(code, 0x40, 0x7e)) return index + 1;
    if (text[index] === "$" && isDigits(text, body, index)) return index + 1;
    if (!isBetween(code, 0x20, 0x3f)) return index;
  }
  return undefined;
}

const isDigits = (text: string, from: number, to: number): boolean =>
  to - from > 0 && to - from <= 2 && /^\d+$/.test(text.slice(from, to));

const stringEnd = /\x07|\x1b/g;

/** OSC, DCS and APC: up to ST, and OSC also up to BEL. No terminal answers with PM or SOS, so these are Alt. */
function findStringEnd(text: string, start: number, scanned: number): number | undefined {
  stringEnd.lastIndex = start + Math.max(2, scanned - 1);
  for (let match = stringEnd.exec(text); match; match = stringEnd.exec(text)) {
    if (match[0] === "\x07") {
      if (text[start + 1] === "]") return match.index + 1;
      continue;
    }
    if (match.index + 1 === text.length) return undefined;
    return text[match.index + 1] === "\\" ? match.index + 2 : match.index;
  }
  return undefined;
}

/** Whether this is the beginning of an answer of the terminal: no key sends anything of the kind. */
export const isPartialAnswer = (text: string): boolean =>
  /^\x1b(?:\[[?>=][\d;:]*[ -/]?|\]\d+;?[^\x07\x1b]*\x1b?|P[\d>+!$][^\x1b]*\x1b?|_G[^\x1b]*\x1b?)$/.test(text);

const isBetween = (code: number, from: number, to: number): boolean => code >= from && code <= to;

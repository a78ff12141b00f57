/** Parts of formulas beside, above and below each other. Pure. */
import { type Box, isOneLine, joinBeside, stack, toBox } from "./box.ts";
import { parenthesize } from "./brackets.ts";
import { toSubscript, toSuperscript } from "./scripts.ts";

export interface Piece {
  readonly box: Box;
  /**
   * "relation": with a blank on both sides. "function": with a blank before what it is applied to. "fraction": with a blank
   * between it and another. "blank": what the source has between others.
   */
  readonly kind: "plain" | "relation" | "function" | "fraction" | "blank";
  /** Where scripts of a formula of its own are: above and below instead of behind. */
  readonly hasLimits?: boolean;
}

export interface Style {
  /** In a formula of its own: fractions and limits have lines of their own. */
  readonly isDisplay: boolean;
  /** In scripts: without blanks. */
  readonly isTight: boolean;
}

export const toPlain = (text: string): Piece => ({ box: toBox(text), kind: "plain" });

/** In one row. Blanks at both ends are left out. */
export function joinPieces(pieces: readonly Piece[], { isTight }: Style): Box {
  const boxes: Box[] = [];
  let previous: Piece | undefined;
  let hasBlank = false;
  for (const piece of pieces) {
    if (piece.kind === "blank") hasBlank = true;
    if (piece.kind === "blank" || piece.box.width === 0) continue;
    if (previous && needsBlank(previous, piece, { hasBlank, isTight })) boxes.push(toBox(" "));
    boxes.push(piece.box);
    previous = piece;
    hasBlank = false;
  }
  return joinBeside(boxes.length === 0 ? [toBox("")] : boxes);
}

function needsBlank(
  previous: Piece,
  next: Piece,
  { hasBlank, isTight }: { hasBlank: boolean; isTight: boolean },
): boolean {
  const kinds = [previous.kind, next.kind];
  if (kinds.includes("relation")) return !isTight;
  if (isOneLine(previous.box) && getText(previous).endsWith(" ")) return false;
  if (isOneLine(next.box) && getText(next).startsWith(" ")) return false;
  if (hasBlank && !isTight) return true;
  if (previous.kind === "function") return !/^[([{|⌊⌈⟨,.;)\]}]/.test(getText(next));
  if (next.kind === "function") return /[\p{L}\p{M}\p{N})\]}]$/u.test(getText(previous));
  return previous.kind === "fraction" && next.kind === "fraction" && !isOneLine(next.box);
}

const getText = ({ box }: Piece): string => box.lines[box.baseline] ?? "";

export function drawFraction(top: Box, bottom: Box, { isDisplay }: Style): Piece {
  if (!isDisplay && isOneLine(top) && isOneLine(bottom)) {
    return toPlain(`${parenthesize(top.lines[0] as string)}/${parenthesize(bottom.lines[0] as string)}`);
  }
  const rule = toBox("─".repeat(Math.max(top.width, bottom.width)));
  return { box: stack([top, rule, bottom], 1), kind: "fraction" };
}

export interface Scripts {
  readonly above?: Box | undefined;
  readonly below?: Box | undefined;
}

export function addScripts(base: Piece, scripts: Scripts, style: Style): Piece {
  if (base.hasLimits && style.isDisplay) return { ...base, box: addLimits(base.box, scripts), hasLimits: false };
  const { above, below } = scripts;
  // Names of functions end where their limits begin.
  if (base.hasLimits && base.kind === "function" && below && isOneLine(below) && getText(base).length > 1) {
    const named = toBox(`${getText(base)}[${below.lines[0]}]`);
    return above ? addScripts({ ...base, box: named }, { above }, style) : { ...base, box: named };
  }
  return { ...base, box: addBehind(base.box, scripts, style) };
}

function addLimits(base: Box, { above, below }: Scripts): Box {
  const parts = [...(above ? [above] : []), base, ...(below ? [below] : [])];
  return stack(parts, above ? 1 : 0);
}

function addBehind(base: Box, { above, below }: Scripts, { isDisplay }: Style): Box {
  const raised = above && convert(above, toSuperscript, "^", isDisplay);
  const lowered = below && convert(below, toSubscript, "_", isDisplay);
  const isWritten = (!above || raised !== undefined) && (!below || lowered !== undefined);
  if (!isWritten) return addOutside(base, { above, below });
  if (isOneLine(base)) return joinBeside([base, toBox(`${lowered ?? ""}${raised ?? ""}`)]);
  const last = base.lines.length - 1;
  const texts = base.lines.map((_line, row) => (row === 0 ? raised : row === last ? lowered : undefined));
  const column = stack(
    texts.map((text = "") => toBox(text)),
    0,
    "left",
  );
  return joinBeside([base, { ...column, baseline: base.baseline }]);
}

/** Undefined if it needs lines of its own. */
function convert(
  { lines }: Box,
  toScript: (text: string) => string | undefined,
  sign: string,
  isDisplay: boolean,
): string | undefined {
  const text = lines[0] as string;
  if (lines.length > 1) return undefined;
  return toScript(text) ?? (isDisplay ? undefined : sign + ([...text].length === 1 ? text : `(${text})`));
}

/** In lines above and below those of the base. */
function addOutside(base: Box, { above, below }: Scripts): Box {
  const middle: Box = { lines: base.lines.map(() => ""), baseline: base.baseline, width: 0 };
  const parts = [...(above ? [above] : []), middle, ...(below ? [below] : [])];
  return joinBeside([base, stack(parts, above ? 1 : 0, "left")]);
}

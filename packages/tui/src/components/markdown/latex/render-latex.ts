/** Draws formulas of LaTeX as text. Pure. */
import { LatexReader } from "./reader.ts";

export interface RenderLatexOptions {
  /** A formula of its own: fractions, and limits of operators, have lines of their own. Default false. */
  display?: boolean;
}

/** A longer source is no formula that anybody reads. */
const maxLength = 5_000;

/** Undefined if the formula is not complete, or has commands that are not known. */
export function renderLatex(source: string, { display = false }: RenderLatexOptions = {}): string | undefined {
  if (source.length > maxLength) return undefined;
  const box = new LatexReader(source).read({ isDisplay: display, isTight: false });
  const text = box?.lines.map((line) => line.trimEnd()).join("\n");
  return text?.trim() === "" ? undefined : text;
}

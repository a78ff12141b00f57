/** Combinations of possibilities. Pure. */
import { AnalysisLimitError } from "./analysis.ts";

const maxCombinations = 16;
const maxAlternatives = 64;

/**
 * Every combination that takes one possibility of each part. Where these are too many, each possibility of each part still
 * occurs once, beside the first ones of the others. More than that is not analysed.
 */
export function combine<T>(parts: readonly (readonly T[])[]): T[][] {
  const rows = combineSome(parts);
  if (!rows) throw new AnalysisLimitError("The command depends on too many variables.");
  return rows;
}

/** Combines only all first and all last possibilities where there are too many: for text that is not run as it is. */
export const combineText = <T>(parts: readonly (readonly T[])[]): T[][] =>
  combineSome(parts) ?? [parts.map((part) => part[0] as T), parts.map((part) => part.at(-1) as T)];

function combineSome<T>(parts: readonly (readonly T[])[]): T[][] | undefined {
  const alternatives = parts.reduce((sum, part) => sum + Math.max(part.length - 1, 0), 0);
  if (alternatives === 0) return [parts.flatMap((part) => part.slice(0, 1))];
  const count = parts.reduce((product, part) => product * Math.max(part.length, 1), 1);
  if (count <= maxCombinations) {
    return parts.reduce<T[][]>((rows, part) => rows.flatMap((row) => part.map((item) => [...row, item])), [[]]);
  }
  if (alternatives > maxAlternatives) return undefined;
  const first = parts.map((part) => part[0] as T);
  const rows = [first];
  parts.forEach((part, index) => {
    for (const item of part.slice(1)) rows.push(first.with(index, item));
  });
  return rows;
}

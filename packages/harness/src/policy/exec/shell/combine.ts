/** Combinations of possibilities. Pure. */

const maxCombinations = 16;

/**
 * Every combination that takes one possibility of each part. Where these are too many, each possibility of each part still
 * occurs once, beside the first ones of the others.
 */
export function combine<T>(parts: readonly (readonly T[])[]): T[][] {
  const count = parts.reduce((product, part) => product * Math.max(part.length, 1), 1);
  if (count === 1) return [parts.flatMap((part) => part.slice(0, 1))];
  if (count <= maxCombinations) {
    return parts.reduce<T[][]>((rows, part) => rows.flatMap((row) => part.map((item) => [...row, item])), [[]]);
  }
  const first = parts.map((part) => part[0] as T);
  const rows = [first];
  parts.forEach((part, index) => {
    for (const item of part.slice(1)) rows.push(first.with(index, item));
  });
  return rows;
}

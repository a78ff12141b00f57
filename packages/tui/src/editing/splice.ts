const maxArguments = 10_000;

/** A copy with `inserted` in the place of `count` elements. One copy of a large array costs less than its parts joined. */
export function splice<T>(array: readonly T[], start: number, count: number, inserted: readonly T[]): T[] {
  if (inserted.length > maxArguments) return array.slice(0, start).concat(inserted, array.slice(start + count));
  const copy = array.slice();
  copy.splice(start, count, ...inserted);
  return copy;
}

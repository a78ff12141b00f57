/** The array of the last time if nothing changed, because the renderer compares arrays by identity first. */
export function keepSame<T>(previous: T[] | undefined, values: T[]): T[] {
  const isSame = previous?.length === values.length && values.every((value, index) => value === previous[index]);
  return isSame ? previous : values;
}

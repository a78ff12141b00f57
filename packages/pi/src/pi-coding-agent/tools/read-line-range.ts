/** `:5-14` for a call of `read` with an offset and a limit, as it is shown after the path. */
export function formatReadLineRange(offset: unknown, limit: unknown): string {
  const first = toNumber(offset);
  const count = toNumber(limit);
  if (first === undefined && count === undefined) return "";
  const start = first ?? 1;
  return count === undefined ? `:${start}` : `:${start}-${start + count - 1}`;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const number = value === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

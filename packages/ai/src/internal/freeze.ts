/** Freezes plain data, also inside. Returns the same object. */
export function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === "object" && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}

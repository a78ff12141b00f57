/** The part of a schema that a JSON pointer such as `#/$defs/name` refers to; undefined if there is none. */
export function findByPointer(root: unknown, pointer: string): unknown {
  const [origin, ...keys] = pointer.split("/");
  let target: unknown = origin === "#" ? root : undefined;
  for (const key of keys) {
    // A percent sign that does not start an escape is part of the key.
    const name = unescapeKey(/%(?![0-9a-fA-F]{2})/.test(key) ? key : decodeURIComponent(key));
    const hasName = typeof target === "object" && target !== null && Object.hasOwn(target, name);
    target = hasName ? (target as Record<string, unknown>)[name] : undefined;
  }
  return target;
}

/** Removes the escapes of a key of a JSON pointer. */
export const unescapeKey = (key: string): string => key.replaceAll("~1", "/").replaceAll("~0", "~");

export type TypedKey = { kind: "key"; key: string } | { kind: "wrong"; message: string };

/** A key as somebody typed or pasted it. Pure. */
export function parseTypedKey(text: string): TypedKey {
  const key = text.trim();
  if (key === "") return { kind: "wrong", message: "There is no key." };
  if (!/[^\u0021-\u007e]/.test(key)) return { kind: "key", key };
  return { kind: "wrong", message: "The key has spaces, line breaks or other characters that keys do not have." };
}

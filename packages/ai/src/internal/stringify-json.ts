/** `JSON.stringify` for plain data of any depth: it is recursive itself, and a tree of entries may be deeper than the stack. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return stringifyDeep(value);
  }
}

/** A part that remains to be written: a piece of text, or a value. */
type Piece = { text: string } | { value: unknown };

function stringifyDeep(record: unknown): string {
  const parts: string[] = [];
  const stack: Piece[] = [{ value: record }];
  for (let piece = stack.pop(); piece; piece = stack.pop()) {
    if ("text" in piece) parts.push(piece.text);
    else if (isLeaf(piece.value)) parts.push(JSON.stringify(piece.value) ?? "null");
    else stack.push(...toPieces(piece.value as object).toReversed());
  }
  return parts.join("");
}

const isLeaf = (value: unknown) => typeof value !== "object" || value === null || value instanceof Date;

function toPieces(value: object): Piece[] {
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, member]) => isList || member !== undefined);
  const pieces = members.flatMap(([key, member]: [string, unknown], index): Piece[] => [
    { text: `${index === 0 ? "" : ","}${isList ? "" : `${JSON.stringify(key)}:`}` },
    { value: member },
  ]);
  return [{ text: isList ? "[" : "{" }, ...pieces, { text: isList ? "]" : "}" }];
}

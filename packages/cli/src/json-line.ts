/** A record on a line of its own. JSON has no raw line feed, and U+2028 and U+2029 are no line ends here. */
export function jsonLine(record: unknown): string {
  try {
    return `${JSON.stringify(record)}\n`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // A tree of entries may be deeper than the stack.
    return `${deepJson(record)}\n`;
  }
}

/** What is still to be written: a piece of text, or a value. */
type Piece = { text: string } | { value: unknown };

/** The same as `JSON.stringify` for plain data, however deep it is. */
function deepJson(record: unknown): string {
  const parts: string[] = [];
  const left: Piece[] = [{ value: record }];
  for (let piece = left.pop(); piece; piece = left.pop()) {
    if ("text" in piece) parts.push(piece.text);
    else if (typeof piece.value !== "object" || piece.value === null) parts.push(JSON.stringify(piece.value) ?? "null");
    else left.push(...toPieces(piece.value).toReversed());
  }
  return parts.join("");
}

function toPieces(value: object): Piece[] {
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((member: unknown) => ["", member] as const)
    : Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
        member === undefined ? [] : [[`${JSON.stringify(key)}:`, member] as const],
      );
  const inner = members.flatMap(([key, member], at) => [{ text: at === 0 ? key : `,${key}` }, { value: member }]);
  return [{ text: isList ? "[" : "{" }, ...inner, { text: isList ? "]" : "}" }];
}

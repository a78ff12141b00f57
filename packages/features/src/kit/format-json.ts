/** Formats values of JSON for people and models. Pure. */

interface FormatJsonOptions {
  readonly maxLength: number;
  /** Spaces for each level. At least 1. */
  readonly indent: number;
}

interface FormattedJson {
  readonly text: string;
  /** Whether it is all of the value. */
  readonly isWhole: boolean;
}

/**
 * Formats a value that was parsed from JSON as `JSON.stringify` does, and stops at `maxLength`. `JSON.stringify` first writes all of it,
 * which takes gigabytes for a value of a few megabytes that is deep and wide.
 */
export function formatJson(value: unknown, { maxLength, indent }: FormatJsonOptions): FormattedJson {
  let text = "";
  const add = (part: string): boolean => {
    text += part;
    return text.length <= maxLength;
  };
  // Each level adds its indentation, so that the limit also bounds the depth. Each function returns whether there is space left.
  const addValue = (part: unknown, depth: number): boolean => {
    if (typeof part === "string") return addText(part);
    if (typeof part !== "object" || part === null) return add(String(part));
    const isList = Array.isArray(part);
    const keys = isList ? part.keys() : Object.keys(part);
    let isEmpty = true;
    for (const key of keys) {
      const lineBreak = `${isEmpty ? (isList ? "[" : "{") : ","}\n${" ".repeat(indent * (depth + 1))}`;
      isEmpty = false;
      if (!add(lineBreak) || (!isList && !(addText(String(key)) && add(": ")))) return false;
      if (!addValue((part as Readonly<Record<string | number, unknown>>)[key], depth + 1)) return false;
    }
    if (isEmpty) return add(isList ? "[]" : "{}");
    return add(`\n${" ".repeat(indent * depth)}${isList ? "]" : "}"}`);
  };
  const addText = (part: string): boolean => add(JSON.stringify(part.slice(0, maxLength + 1)));
  const isWhole = addValue(value, 0);
  return { text: text.slice(0, maxLength), isWhole };
}

/** Reads front matter that is not valid YAML, line by line. Pure. */
import type { FieldValue } from "./front-matter.ts";

/**
 * Each line `key: text` is a field, with everything after the colon as it is: agents of Claude Code often have colons in
 * their descriptions. Lines below it that begin with a dash are a list, and others continue the text.
 */
export function readPlainFields(yaml: string): Map<string, FieldValue> {
  const fields = new Map<string, { line: number; lines: string[] }>();
  let current: { line: number; lines: string[] } | undefined;
  for (const [index, line] of yaml.split("\n").entries()) {
    const [, key, rest = ""] = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(line) ?? [];
    if (key === undefined) current?.lines.push(line);
    else {
      // Line 1 of the file is the dashes.
      current = { line: index + 2, lines: [rest] };
      fields.set(key, current);
    }
  }
  return new Map([...fields].map(([key, { line, lines }]) => [key, { line, value: toValue(lines) }]));
}

function toValue([first = "", ...more]: readonly string[]): string | string[] | null {
  const items = more.map((line) => /^\s*-\s+(.*)$/.exec(line)?.[1]).filter((item) => item !== undefined);
  if (first.trim() === "" && items.length > 0) return items.map(unquote);
  const flow = /^\[(.*)\]$/s.exec(first.trim());
  if (flow) return flow[1]!.split(",").map(unquote);
  const text = unquote([first.replace(/^[|>][+-]?$/, ""), ...more].join("\n"));
  return text === "" ? null : text;
}

const unquote = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/s, "$2");

/**
 * Decides from the bytes of an entry, without parsing it, whether terms of several words may be in its text. Most messages have the
 * words of a phrase of common ones, but not the phrase. Pure.
 */
import { isAscii } from "node:buffer";
import { removeAccents } from "./fold.ts";
import type { SearchQuery } from "./query.ts";

/** False only for an entry that no match of the query is in. */
export type RawFilter = (line: Buffer) => boolean;

const ascii = /^[\u0020-\u007e]+$/;

/** White space in the text of a JSON string. */
const space = String.raw`(?:\\[nrtf]|\s)`;

export function createRawFilter(query: SearchQuery): RawFilter {
  // Words alone are what the index has found.
  const terms = query.filter(({ text, words }) => words.length > 1 && ascii.test(text)).map(({ text }) => text);
  const patterns = terms.map((text) => new RegExp([toPattern(text), ...listCuts(text)].join("|"), "i"));
  return (line) => {
    if (patterns.length === 0) return true;
    // Such as a letter that another program has escaped.
    if (line.includes(String.raw`\u`)) return true;
    const text = isAscii(line) ? line.toString("latin1") : removeAccents(line.toString("utf8"));
    return patterns.every((pattern) => pattern.test(text));
  };
}

/** The text of an entry is made of several strings, with a line break between them: the phrase may be in two. */
const listCuts = (text: string): string[] =>
  [...text].flatMap((character, index) => (character === " " ? [`${toPattern(text.slice(0, index))}${space}*"`] : []));

const toPattern = (text: string): string => [...text].map(toCharacterPattern).join("");

function toCharacterPattern(character: string): string {
  if (character === " ") return `${space}+`;
  if (character === "/") return String.raw`\\?/`;
  if (character === '"') return String.raw`\\"`;
  if (character === "\\") return String.raw`\\\\`;
  return character.replace(/[$()*+.?[\]^{|}]/, String.raw`\$&`);
}

/** Tags of whole files and of single lines. A tag helps to notice a change; it is no proof. Pure. */
import { xxHash32 } from "./xxhash32.ts";

const alphabet = "ZPMQVRWSNKTXJBYH";

/** The tag of a line, as part of a regular expression. */
export const lineTagPattern = `[${alphabet}]{2}`;

/** Four hex digits: the low 16 bits of the hash of the whole text, with `\n` line ends and without a byte order mark. */
export const getFileTag = (hash: number): string => (hash & 0xffff).toString(16).padStart(4, "0");

/** Two letters. Blanks at the end are ignored, those at the beginning are not. */
export function lineTag(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end--;
  const hash = xxHash32(Buffer.from(line.slice(0, end)));
  return alphabet.charAt((hash >>> 4) & 15) + alphabet.charAt(hash & 15);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09 || code === 0x0d;

/** Shared by reading and editing JSON with comments: the parser, its tree and its tokens. */
import type { Node } from "jsonc-parser";
import type * as parser from "./parser.ts";

export type Jsonc = typeof parser;

/** Loaded when the first file is read. */
export const loadJsonc = (): Promise<Jsonc> => import("./parser.ts");

/** The numbers that the scanner gives to its tokens. */
const token = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  lineComment: 12,
  blockComment: 13,
  space: 15,
  endOfFile: 17,
} as const;

/** The byte-order mark that some editors write belongs to the file, not to the JSON. */
export function splitMark(source: string): { mark: string; text: string } {
  return source.startsWith("\uFEFF") ? { mark: "\uFEFF", text: source.slice(1) } : { mark: "", text: source };
}

/** The property of an object with this name: the last, if there are several. */
export const findProperty = (object: Node | undefined, name: string): Node | undefined =>
  object?.type === "object" ? object.children?.findLast((property) => getName(property) === name) : undefined;

export const getName = (property: Node): string => String(property.children?.[0]?.value);

/** The offset at which brackets are first nested more than `maxDepth` deep. */
export function findTooDeep(jsonc: Jsonc, text: string, maxDepth: number): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  for (let depth = 0; ;) {
    const kind = Number(scanner.scan());
    if (kind === token.endOfFile) return undefined;
    if (kind === token.openBrace || kind === token.openBracket) depth++;
    if (kind === token.closeBrace || kind === token.closeBracket) depth--;
    if (depth > maxDepth) return scanner.getTokenOffset();
  }
}

/** The offset of the comma after `offset`, if only comments are between them. */
export function findCommaAfter(jsonc: Jsonc, text: string, offset: number): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(offset);
  return Number(scanner.scan()) === token.comma ? scanner.getTokenOffset() : undefined;
}

/** The end of the comments that follow `offset` on its line, and whether there is a comma among them. */
export function findEndOfComments(jsonc: Jsonc, text: string, offset: number): { offset: number; comma: boolean } {
  const scanner = jsonc.createScanner(text);
  scanner.setPosition(offset);
  for (let end = offset, comma = false; ;) {
    const kind = Number(scanner.scan());
    if (kind === token.space) continue;
    const isComma: boolean = kind === token.comma && !comma;
    if (!isComma && kind !== token.lineComment && kind !== token.blockComment) return { offset: end, comma };
    end = scanner.getTokenOffset() + scanner.getTokenLength();
    comma ||= isComma;
  }
}

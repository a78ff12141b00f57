/** The text of a settings file, as JSON with comments: what it says, and where it says it. */
import type { Node, ParseError } from "jsonc-parser";
import type { Path } from "../fields/field.ts";
import type * as jsoncParser from "../jsonc.ts";

/** Counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What a text says. */
export interface SettingsDocument {
  readonly kind: "document";
  /** Objects without prototypes, so that every name is only a name. */
  readonly value: unknown;
  /** Settings that stand there more than once. The last one counts. */
  readonly repeated: readonly Path[];
  /** Where a setting stands, or what is left of its path. */
  getPosition(path: Path): Position;
}

/** A text that says nothing for certain. */
export interface DamagedText {
  readonly kind: "damaged";
  readonly message: string;
  readonly position: Position;
}

export type Jsonc = typeof jsoncParser;

/** Loaded when the first file is read. */
export const loadJsonc = (): Promise<Jsonc> => import("../jsonc.ts");

/** Deeper than any setting, and far from what the parser's own recursion can take. */
const deepest = 64;

/** As the scanner numbers them. */
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

export async function parseDocument(source: string): Promise<SettingsDocument | DamagedText> {
  const jsonc = await loadJsonc();
  const { text } = splitMark(source);
  const damaged = (message: string, offset: number): DamagedText => ({
    kind: "damaged",
    message,
    position: positionAt(text, offset),
  });
  if (text.trim() === "") return damaged("The file is empty. Write {} for no settings, or remove it.", 0);
  const tooDeep = findTooDeep(jsonc, text);
  if (tooDeep !== undefined) return damaged(`This is nested more than ${deepest} levels deep.`, tooDeep);
  const errors: ParseError[] = [];
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) return damaged(explain(jsonc.printParseErrorCode(first.error)), first.offset);
  if (root?.type !== "object") return damaged("Settings are an object: write them in braces.", root?.offset ?? 0);
  return {
    kind: "document",
    value: jsonc.getNodeValue(root) as unknown,
    repeated: findRepeated(root, []),
    getPosition: (path) => positionAt(text, getOffset(root, path)),
  };
}

/** The mark that some editors put before the text belongs to the file, not to the JSON. */
export function splitMark(source: string): { mark: string; text: string } {
  return source.startsWith("\uFEFF") ? { mark: "\uFEFF", text: source.slice(1) } : { mark: "", text: source };
}

/** The property of an object with this name: the last, if there are more. */
export const findProperty = (object: Node | undefined, name: string): Node | undefined =>
  object?.type === "object" ? object.children?.findLast((property) => getName(property) === name) : undefined;

export const getName = (property: Node): unknown => property.children?.[0]?.value;

/** Where the comma behind a place is, if there is nothing but comments before it. */
export function commaBehind(jsonc: Jsonc, text: string, offset: number): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(offset);
  return Number(scanner.scan()) === token.comma ? scanner.getTokenOffset() : undefined;
}

/** Where the comments end that follow a place on its line, and whether there is a comma among them. */
export function endOfRemark(jsonc: Jsonc, text: string, offset: number): { offset: number; comma: boolean } {
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

function findTooDeep(jsonc: Jsonc, text: string): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  for (let depth = 0; ;) {
    const kind = Number(scanner.scan());
    if (kind === token.endOfFile) return undefined;
    if (kind === token.openBrace || kind === token.openBracket) depth++;
    if (kind === token.closeBrace || kind === token.closeBracket) depth--;
    if (depth > deepest) return scanner.getTokenOffset();
  }
}

function findRepeated(object: Node, path: readonly string[]): string[][] {
  if (object.type !== "object") return [];
  const seen = new Set<string>();
  return (object.children ?? []).flatMap((property) => {
    const name = String(getName(property));
    const at = [...path, name];
    const value = property.children?.[1];
    const again = seen.has(name) ? [at] : [];
    seen.add(name);
    return value ? [...again, ...findRepeated(value, at)] : again;
  });
}

function getOffset(root: Node, path: Path): number {
  let { offset } = root;
  let node: Node | undefined = root;
  for (const step of path) {
    const part: Node | undefined = typeof step === "number" ? node?.children?.[step] : findProperty(node, step);
    if (!part) break;
    ({ offset } = part);
    node = typeof step === "number" ? part : part.children?.[1];
  }
  return offset;
}

function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const explanations: Readonly<Record<string, string>> = {
  PropertyNameExpected: "A name in double quotes is missing here.",
  ValueExpected: "A value is missing here.",
  ColonExpected: "A colon is missing here.",
  CommaExpected: "A comma is missing before this.",
  CloseBraceExpected: "A closing brace is missing.",
  CloseBracketExpected: "A closing bracket is missing.",
  EndOfFileExpected: "There is something behind the end of the settings.",
  UnexpectedEndOfComment: "A comment does not end.",
  UnexpectedEndOfString: "A text does not end. Close it with a double quote, on the same line.",
  InvalidEscapeCharacter: "A backslash in a text has to be written twice.",
};

const explain = (code: string): string =>
  explanations[code] ?? "This is not JSON. Names and texts stand in double quotes.";

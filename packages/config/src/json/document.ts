/** Reads a file that a person writes: one object of JSON, with the positions of its parts. */
import type { Node, ParseError } from "jsonc-parser";
import type { Path } from "../fields/field.ts";
import { parsePlainObject } from "./plain.ts";
import { findProperty, findTooDeep, getName, type Jsonc, loadJsonc, splitMark } from "./tree.ts";

/** Counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface JsonDocument {
  readonly kind: "document";
  /** Objects in it have no prototype, so that every name is only a name. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Properties that are there more than once. The last one applies. */
  readonly repeated: readonly Path[];
  /** The position of a property or an item; if it is not there, of the innermost part of its path that is. */
  getPosition(path: Path): Position;
}

/** A text that is not one object of JSON. The message never quotes the text, which may hold secrets. */
export interface DamagedJson {
  readonly kind: "damaged";
  readonly message: string;
  readonly position: Position;
}

interface JsonOptions {
  /** Whether comments and trailing commas are errors. Default false. */
  strict?: boolean;
}

/** Deeper than any file that a person writes, and far from the depth at which the parser's recursion fails. */
const maxDepth = 64;

export async function parseJsonDocument(
  source: string,
  { strict = false }: JsonOptions = {},
): Promise<JsonDocument | DamagedJson> {
  const jsonc = await loadJsonc();
  const { text } = splitMark(source);
  const plain = parsePlainObject(text, maxDepth);
  if (plain) {
    // Only errors need a position.
    let tree: Node | undefined;
    const getTree = () => (tree ??= jsonc.parseTree(text))!;
    return {
      kind: "document",
      value: plain,
      repeated: [],
      getPosition: (path) => getPositionAt(text, getOffset(getTree(), path)),
    };
  }
  const damaged = (message: string, offset: number): DamagedJson => ({
    kind: "damaged",
    message,
    position: getPositionAt(text, offset),
  });
  if (text.trim() === "") return damaged("The file is empty. Write {} into it, or remove it.", 0);
  const tooDeep = findTooDeep(jsonc, text, maxDepth);
  if (tooDeep !== undefined) return damaged(`This is nested more than ${maxDepth} levels deep.`, tooDeep);
  const errors: ParseError[] = [];
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: !strict, disallowComments: strict });
  const [first] = errors;
  if (first) return damaged(explain(jsonc, first), first.offset);
  if (root?.type !== "object") return damaged("The file has to hold an object: { … }.", root?.offset ?? 0);
  return {
    kind: "document",
    value: jsonc.getNodeValue(root) as Record<string, unknown>,
    repeated: findRepeated(root, []),
    getPosition: (path) => getPositionAt(text, getOffset(root, path)),
  };
}

function findRepeated(node: Node, path: Path): Path[] {
  const children = node.children ?? [];
  if (node.type === "array") return children.flatMap((item, index) => findRepeated(item, [...path, index]));
  if (node.type !== "object") return [];
  const seen = new Set<string>();
  return children.flatMap((property) => {
    const name = getName(property);
    const inner = [...path, name];
    const value = property.children?.[1];
    const again = seen.has(name) ? [inner] : [];
    seen.add(name);
    return value ? [...again, ...findRepeated(value, inner)] : again;
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

function getPositionAt(text: string, offset: number): Position {
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
  EndOfFileExpected: "There is something after the end of the object.",
  InvalidCommentToken: "Comments are not allowed here.",
  UnexpectedEndOfComment: "A comment does not end.",
  UnexpectedEndOfString: "A string does not end. Close it with a double quote on the same line.",
  InvalidEscapeCharacter: "A backslash in a string has to be written twice.",
};

const explain = (jsonc: Jsonc, { error }: ParseError): string =>
  explanations[jsonc.printParseErrorCode(error)] ?? "This is not JSON. Put names and strings in double quotes.";

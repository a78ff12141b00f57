/**
 * Changes values in a text of JSON with comments, and leaves everything else as it is: comments, order, spaces. The
 * parser's own editing is not used: it formats the neighbours of a change, and removes their comments. Pure.
 */
import { isRecord } from "@tau/ai/internal";
import type { Node } from "jsonc-parser";
import { findCommaAfter, findEndOfComments, findProperty, getName, type Jsonc, loadJsonc, splitMark } from "./tree.ts";

/**
 * The text with the changes: objects are merged, other values replaced, and undefined removes a property. `source` has to
 * be a valid object, or empty.
 */
export async function editText(source: string, changes: object): Promise<string> {
  const jsonc = await loadJsonc();
  const { mark, text } = splitMark(source);
  const isNew = text.trim() === "";
  const edited = createEdit(jsonc, detectStyle(text))(isNew ? "{}" : text, [], changes);
  return `${mark}${edited}${isNew ? "\n" : ""}`;
}

type Path = readonly string[];

/** How the text is formatted. */
interface Style {
  /** The blanks of one level. */
  readonly indent: string;
  readonly lineEnd: string;
}

/** Returns a function that changes the value at a path. */
function createEdit(jsonc: Jsonc, { indent, lineEnd }: Style) {
  return change;

  function change(text: string, path: Path, value: unknown): string {
    const node = find(text, path);
    if (value === undefined) return getProperties(text, path).reduceRight(cut, text);
    if (!isRecord(value)) return set(text, path, value);
    if (node?.type !== "object") return onlyRemoves(value) ? text : set(text, path, value);
    return Object.entries(value).reduce((edited, [name, inner]) => change(edited, [...path, name], inner), text);
  }

  /** The object that holds the property has to exist. */
  function set(text: string, path: Path, value: unknown): string {
    const single = getProperties(text, path).slice(0, -1).reduceRight(cut, text);
    const node = find(single, path);
    if (!node) return insert(single, path, value);
    const written = write(value, indentAt(single, node.offset));
    return splice(single, { from: node.offset, to: node.offset + node.length, put: written });
  }

  function insert(text: string, path: Path, value: unknown): string {
    const object = find(text, path.slice(0, -1))!;
    const name = JSON.stringify(path.at(-1));
    const outer = indentAt(text, object.offset);
    const last = object.children?.at(-1);
    const from = object.offset + 1;
    const inside = text.slice(from, object.offset + object.length - 1);
    if (!last) {
      const property = `${lineEnd}${outer}${indent}${name}: ${write(value, outer + indent)}`;
      if (inside.trim() !== "" || inside.includes("\n")) return splice(text, { from, to: from, put: property });
      return splice(text, { from, to: from + inside.length, put: `${property}${lineEnd}${outer}` });
    }
    const end = last.offset + last.length;
    const isOnOneLine = !inside.includes("\n");
    const level = isOnOneLine ? outer : indentAt(text, last.offset);
    const property = `${isOnOneLine ? " " : `${lineEnd}${level}`}${name}: ${write(value, level)}`;
    // After the comments on the last property, so that they still follow it.
    const { offset, comma } = findEndOfComments(jsonc, text, end);
    if (comma) return splice(text, { from: offset, to: offset, put: `${property},` });
    return splice(splice(text, { from: offset, to: offset, put: property }), { from: end, to: end, put: "," });
  }

  /** All properties at a path, first to last. */
  function getProperties(text: string, path: Path): Node[] {
    const object = find(text, path.slice(0, -1));
    if (object?.type !== "object") return [];
    return (object.children ?? []).filter((property) => getName(property) === path.at(-1));
  }

  function find(text: string, path: Path): Node | undefined {
    const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
    return path.reduce<Node | undefined>((node, name) => findProperty(node, name)?.children?.[1], root);
  }

  /** Removes a property and one comma. The comments around it stay: they may be about its neighbours. */
  function cut(text: string, { offset, length, parent }: Node): string {
    const end = offset + length;
    const before = parent?.children?.findLast((sibling) => sibling.offset < offset);
    const behind = findCommaAfter(jsonc, text, end);
    const comma = behind ?? (before && findCommaAfter(jsonc, text, before.offset + before.length));
    const rest = (left: string) => removeBlankLine(splice(left, { from: offset, to: end, put: "" }), offset);
    if (comma === undefined) return rest(text);
    const cutComma = (left: string) => splice(left, { from: comma, to: comma + 1, put: "" });
    // From the end to the start, so that the other offset stays valid.
    return comma > offset ? rest(cutComma(text)) : cutComma(rest(text));
  }

  /** Objects over several lines, lists on one. */
  function write(value: unknown, level: string): string {
    if (Array.isArray(value)) return `[${value.map((item) => write(item, level)).join(", ")}]`;
    if (!isRecord(value)) return JSON.stringify(value);
    const inner = level + indent;
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined && !onlyRemoves(field))
      .map(([name, field]) => `${inner}${JSON.stringify(name)}: ${write(field, inner)}`);
    return fields.length === 0 ? "{}" : `{${lineEnd}${fields.join(`,${lineEnd}`)}${lineEnd}${level}}`;
  }
}

/** Such a change creates nothing. */
const onlyRemoves = (value: unknown): boolean =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((inner) => inner === undefined || onlyRemoves(inner));

const splice = (text: string, { from, to, put }: { from: number; to: number; put: string }): string =>
  text.slice(0, from) + put + text.slice(to);

/** The white space at the start of the line. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset))?.[0] ?? "";

/** Without the line if it is blank. */
function removeBlankLine(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  if (start === 0 || end === -1 || text.slice(start, end).trim() !== "") return text;
  return text.slice(0, start) + text.slice(end + 1);
}

/** The style of the text; two spaces if it shows none. */
const detectStyle = (text: string): Style => ({
  indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ",
  lineEnd: text.includes("\r\n") ? "\r\n" : "\n",
});

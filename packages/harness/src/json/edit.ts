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
  const edited = new Edit(jsonc, detectStyle(text)).change(isNew ? "{}" : text, [], changes);
  return `${mark}${edited}${isNew ? "\n" : ""}`;
}

type Path = readonly string[];

/** How the text is formatted. */
interface Style {
  /** One level. */
  readonly indent: string;
  readonly lineEnd: string;
}

class Edit {
  readonly #jsonc: Jsonc;
  readonly #style: Style;

  constructor(jsonc: Jsonc, style: Style) {
    this.#jsonc = jsonc;
    this.#style = style;
  }

  change(text: string, path: Path, value: unknown): string {
    const node = this.#find(text, path);
    if (value === undefined) return this.#remove(text, path);
    if (!isRecord(value)) return this.#set(text, path, value);
    if (node?.type !== "object") return onlyRemoves(value) ? text : this.#set(text, path, value);
    return Object.entries(value).reduce((edited, [name, inner]) => this.change(edited, [...path, name], inner), text);
  }

  /** The object that holds the property has to exist. */
  #set(text: string, path: Path, value: unknown): string {
    const repeats = this.#properties(text, path).slice(0, -1);
    const single = repeats.reduceRight((edited, property) => this.#cut(edited, property), text);
    const node = this.#find(single, path);
    if (!node) return this.#insert(single, path, value);
    const written = this.#write(value, indentAt(single, node.offset));
    return splice(single, { from: node.offset, to: node.offset + node.length, put: written });
  }

  #insert(text: string, path: Path, value: unknown): string {
    const object = this.#find(text, path.slice(0, -1));
    const { lineEnd, indent } = this.#style;
    const name = JSON.stringify(path.at(-1));
    const outer = indentAt(text, object?.offset ?? 0);
    const last = object?.children?.at(-1);
    const inside = text.slice((object?.offset ?? 0) + 1, (object?.offset ?? 0) + (object?.length ?? 0) - 1);
    if (!last) {
      const property = `${lineEnd}${outer}${indent}${name}: ${this.#write(value, outer + indent)}`;
      const from = (object?.offset ?? 0) + 1;
      if (inside.trim() !== "" || inside.includes("\n")) return splice(text, { from, to: from, put: property });
      return splice(text, { from, to: from + inside.length, put: `${property}${lineEnd}${outer}` });
    }
    const end = last.offset + last.length;
    const isOnOneLine = !inside.includes("\n");
    const level = isOnOneLine ? outer : indentAt(text, last.offset);
    const property = `${isOnOneLine ? " " : `${lineEnd}${level}`}${name}: ${this.#write(value, level)}`;
    // After the comments on the last property, so that they still follow it.
    const { offset, comma } = findEndOfComments(this.#jsonc, text, end);
    if (comma) return splice(text, { from: offset, to: offset, put: `${property},` });
    return splice(splice(text, { from: offset, to: offset, put: property }), { from: end, to: end, put: "," });
  }

  #remove(text: string, path: Path): string {
    return this.#properties(text, path).reduceRight((edited, property) => this.#cut(edited, property), text);
  }

  /** All properties at a path, first to last. */
  #properties(text: string, path: Path): Node[] {
    const object = this.#find(text, path.slice(0, -1));
    if (object?.type !== "object") return [];
    return (object.children ?? []).filter((property) => getName(property) === path.at(-1));
  }

  #find(text: string, path: Path): Node | undefined {
    const root = this.#jsonc.parseTree(text, [], { allowTrailingComma: true });
    return path.reduce<Node | undefined>((node, name) => findProperty(node, name)?.children?.[1], root);
  }

  /** Removes a property and one comma. The comments around it stay: they may be about its neighbours. */
  #cut(text: string, { offset, length, parent }: Node): string {
    const end = offset + length;
    const before = parent?.children?.findLast((sibling) => sibling.offset < offset);
    const behind = findCommaAfter(this.#jsonc, text, end);
    const comma = behind ?? (before && findCommaAfter(this.#jsonc, text, before.offset + before.length));
    const rest = (left: string) => removeBlankLine(splice(left, { from: offset, to: end, put: "" }), offset);
    if (comma === undefined) return rest(text);
    const cutComma = (left: string) => splice(left, { from: comma, to: comma + 1, put: "" });
    // From the end to the start, so that the other offset stays valid.
    return comma > offset ? rest(cutComma(text)) : cutComma(rest(text));
  }

  /** Objects over several lines, lists on one. */
  #write(value: unknown, level: string): string {
    if (Array.isArray(value)) return `[${value.map((item) => this.#write(item, level)).join(", ")}]`;
    if (!isRecord(value)) return JSON.stringify(value);
    const { indent, lineEnd } = this.#style;
    const inner = level + indent;
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined && !onlyRemoves(field))
      .map(([name, field]) => `${inner}${JSON.stringify(name)}: ${this.#write(field, inner)}`);
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

/** How lines are shown with their tags, and how anchors are parsed. Pure. */
import { ToolsError } from "../errors.ts";
import { sectionSign } from "./patch-header.ts";
import { lineTag, lineTagPattern } from "./tags.ts";

/** A line as the model names it: its number, 1-based, and the tag it was shown with. */
export interface Anchor {
  line: number;
  /** A patch may leave it out: there the tag of the file stands for all lines. */
  tag: string | undefined;
}

export const renderHeader = (path: string, tag: string): string => `${sectionSign}${path}#${tag}`;

export const renderRow = (number: number, line: string): string => `${number}#${lineTag(line)}:${line}`;

const anchorShape = new RegExp(`^\\s*(\\d{1,9})#(${lineTagPattern})(?::.*|\\s*)$`, "is");

/** Parses `12#ZP`; a whole row that was copied with its content is accepted too. */
export function parseAnchor(text: string): Anchor {
  const [, line, tag] = anchorShape.exec(text) ?? [];
  if (line === undefined || tag === undefined || Number(line) < 1) {
    throw new ToolsError(
      "invalid_input",
      `${JSON.stringify(text.slice(0, 80))} is not an anchor. Write LINE#TAG as read shows it with hashline: true, such as "12#ZP".`,
    );
  }
  return { line: Number(line), tag: tag.toUpperCase() };
}

const blockShape = new RegExp(`^\\s*(\\d{1,9})(?:\\*#(${lineTagPattern})|#(${lineTagPattern})\\*)(?::.*|\\s*)$`, "is");

/** Parses `12*#ZP`, the block that opens at a line; the `*` may also follow the tag. Undefined for any other text. */
export function parseBlockAnchor(text: string): Anchor | undefined {
  const [, line, tag, starredTag] = blockShape.exec(text) ?? [];
  const name = tag ?? starredTag;
  return line === undefined || name === undefined || Number(line) < 1
    ? undefined
    : { line: Number(line), tag: name.toUpperCase() };
}

const rowShape = new RegExp(`^(\\d{1,9})#(${lineTagPattern}):(.*)$`, "s");

/**
 * Removes the tag of a line that was copied with it, also where the line was changed after the tag. Anything else that
 * looks like a tag is part of the text. `wasShown`: whether a line was shown with this number and tag.
 */
export function stripTag(line: string, wasShown: (number: number, tag: string) => boolean): string {
  const [, number, tag, content] = rowShape.exec(line) ?? [];
  if (tag === undefined || content === undefined) return line;
  return lineTag(content) === tag || wasShown(Number(number), tag) ? content : line;
}

/** New text as lines: a string may hold several, and a line break at its end only ends the last. */
export function newLines(content: string | readonly string[] | null): string[] {
  if (content === null) return [];
  const texts = typeof content === "string" ? [content] : content;
  return texts.flatMap((text) => {
    const parts = text
      .toWellFormed()
      .split("\n")
      .map((part) => (part.endsWith("\r") ? part.slice(0, -1) : part));
    if (parts.length > 1 && parts.at(-1) === "") parts.pop();
    return parts;
  });
}

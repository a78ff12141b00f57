/** A document as vim keys see it, and back. Pure. */
import { createDocument, getText, moveTo, type TextDocument } from "../document.ts";
import { findAtoms } from "../paste-markers.ts";
import type { VimText } from "./text.ts";

export function toVimText(document: TextDocument): VimText {
  const { lines, cursor, pastes } = document;
  let start = 0;
  let offset = 0;
  const atoms = lines.flatMap((line, index) => {
    const lineStart = start;
    if (index === cursor.line) offset = lineStart + cursor.col;
    start += line.length + 1;
    return findAtoms(line, pastes).map((atom) => ({ start: lineStart + atom.start, end: lineStart + atom.end }));
  });
  return { text: getText(document), cursor: offset, atoms };
}

/** The text and the cursor that vim keys gave, with the pastes that the markers stand for. */
export function toDocument(
  before: TextDocument,
  { text, cursor }: { text: string | undefined; cursor: number },
): TextDocument {
  const document = text === undefined ? before : createDocument(text, before.pastes);
  const lines = getText(document).slice(0, cursor).split("\n");
  return moveTo(document, { line: lines.length - 1, col: lines.at(-1)!.length });
}

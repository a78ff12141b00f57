/** Lines of components, made ready to be written. */
import { type Line, toLine } from "./line.ts";
import type { CursorPosition } from "./paint.ts";

/** Remembers those of the last frame, which most lines are. */
export class LineCache {
  #lines = new Map<string, Line>();
  #columns = 0;

  toLines(texts: readonly string[], columns: number): Line[] {
    const before = columns === this.#columns ? this.#lines : new Map<string, Line>();
    this.#columns = columns;
    this.#lines = new Map();
    return texts.map((text) => {
      const line = before.get(text) ?? this.#lines.get(text) ?? toLine(text, columns);
      this.#lines.set(text, line);
      return line;
    });
  }
}

export function findCursor(lines: readonly Line[]): CursorPosition | undefined {
  const row = lines.findLastIndex(({ cursor }) => cursor !== undefined);
  return row === -1 ? undefined : { row, column: lines[row]?.cursor as number };
}

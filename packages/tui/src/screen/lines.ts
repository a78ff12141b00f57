/** Lines of components, made ready to be written. */
import { type Line, toLine } from "./line.ts";
import type { CursorPosition } from "./paint.ts";

/** Remembers those that were visible in the last frame, which most lines are. */
export class LineCache {
  #lines = new Map<string, Line>();
  #columns = 0;

  /** Turns texts into lines; the last `visible` are on the screen after the frame. Default: all of them. */
  toLines(texts: readonly string[], columns: number, visible = texts.length): Line[] {
    const before = columns === this.#columns ? this.#lines : new Map<string, Line>();
    const after = new Map<string, Line>();
    const firstVisible = texts.length - visible;
    const lines = texts.map((text, index) => {
      // Lines that only pass over the screen are new, except those that were on it before.
      const isVisible = index >= firstVisible;
      if (!isVisible && index >= before.size) return toLine(text, columns);
      const line = before.get(text) ?? after.get(text) ?? toLine(text, columns);
      if (isVisible) after.set(text, line);
      return line;
    });
    this.#columns = columns;
    this.#lines = after;
    return lines;
  }
}

export function findCursor(lines: readonly Line[]): CursorPosition | undefined {
  const row = lines.findLastIndex(({ cursor }) => cursor !== undefined);
  return row === -1 ? undefined : { row, column: lines[row]?.cursor as number };
}

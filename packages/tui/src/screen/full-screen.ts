/** Draws all rows of a screen that is ours alone: the alternate screen of a terminal. */
import type { VisibleImage } from "../image-layer.ts";
import { findCursor, LineCache } from "./lines.ts";
import { createUnknownRows, nothingPainted, paint, type Painted } from "./paint.ts";
import { PlacedImages } from "./placed-images.ts";
import type { Size } from "./resize.ts";

/** With reports of the window's focus: what is held when the window loses it is released elsewhere. */
const mouseOn = "\x1b[?1000h\x1b[?1002h\x1b[?1004h\x1b[?1006h";
const everyMove = "\x1b[?1003h";
const mouseOff = "\x1b[?1006l\x1b[?1004l\x1b[?1003l\x1b[?1002l\x1b[?1000l";

/** Multiplexers draw for every move of the mouse that they pass on. */
const isInMultiplexer = ({ TMUX, ZELLIJ, STY, TERM = "" }: NodeJS.ProcessEnv): boolean =>
  Boolean(TMUX || ZELLIJ || STY) || /^(?:tmux|screen)/.test(TERM);

const getMouseOn = (env: NodeJS.ProcessEnv): string => (isInMultiplexer(env) ? mouseOn : mouseOn + everyMove);

/** Lines do not wrap: where a terminal measures a character differently, the rest of its line is cut. */
export const enterFullScreen = (withMouse: boolean): string =>
  `\x1b[?1049h\x1b[?7l${withMouse ? getMouseOn(process.env) : ""}\x1b[2J\x1b[H`;

/** Before `leaveFullScreen`, while the keyboard is still that of this screen. */
export const endFullScreen = (withMouse: boolean): string => `${withMouse ? mouseOff : ""}\x1b[?7h`;
export const leaveFullScreen = "\x1b[?1049l";

export class FullScreen {
  readonly #lines = new LineCache();
  #painted: Painted = nothingPainted;
  readonly #images = new PlacedImages();
  #size: Size = { columns: 0, rows: 0 };

  /** The bytes of the next frame; empty if nothing changed. There is a text for each row, without images. */
  draw(texts: readonly string[], size: Size, images: readonly VisibleImage[] = []): string {
    const isStale = size.columns !== this.#size.columns || size.rows !== this.#size.rows;
    if (isStale) {
      this.#size = { columns: size.columns, rows: size.rows };
      this.#painted = { ...nothingPainted, rows: createUnknownRows(size.columns, size.rows) };
    }
    const lines = this.#lines.toLines(texts, size.columns);
    const cursor = findCursor(lines) ?? this.#painted.cursor;
    const { rows } = this.#painted;
    const { bytes, after } = paint({ before: this.#painted, lines, height: size.rows, cursor });
    this.#painted = after;
    const { removed, placed } = this.#images.update(images, (row) => rows[row]?.text !== lines[row]?.text);
    const { row, column } = after.cursor;
    return removed + (isStale ? "\x1b[H" : "") + bytes + (placed && `${placed}\x1b[${row + 1};${column + 1}H`);
  }

  /** The text of the screen is not known any more: the next frame draws every row. */
  forgetRows(): void {
    this.#size = { columns: 0, rows: 0 };
  }

  /** Nothing is known of the screen any more: the next frame draws every row. Returns what takes images away. */
  forget(): string {
    this.forgetRows();
    return this.#images.clear();
  }
}

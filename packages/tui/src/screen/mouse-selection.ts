/** Selects text with the mouse, in what a scroll view shows and beyond, or on the screen where there is no scroll view. */
import type { ScrollView } from "../components/scroll-view.ts";
import { getScrollViewBox, getScrollViewsAt, type LayoutFrame } from "../layout.ts";
import type { LayoutRect } from "../rect.ts";
import { restyle } from "./composite.ts";
import {
  expandPosition,
  getSelectedColumns,
  getSelectedText,
  type Granularity,
  joinRanges,
  type TextPosition,
  type TextRange,
} from "./selection.ts";

const reverse = (text: string) => `\x1b[7m${text}\x1b[27m`;
const autoScrollMs = 40;

/** Lines in which text is selected. Their numbers stay the same when components above become known. */
interface TextArea {
  clip: LayoutRect;
  left: number;
  /** The row of the screen in which line 0 is, or would be. */
  top: number;
  getLines(start: number, end: number): readonly string[];
}

interface Selecting {
  readonly view: ScrollView | undefined;
  readonly granularity: Granularity;
  readonly anchor: TextRange;
  /** Undefined after a single click. */
  range: TextRange | undefined;
  /** While the button is held. */
  pointer: { x: number; y: number } | undefined;
}

export class MouseSelection {
  #selecting: Selecting | undefined;
  #timer: NodeJS.Timeout | undefined;

  get isActive(): boolean {
    return this.#selecting?.range !== undefined;
  }

  /** Selects by the number of clicks: one selects nothing, two a word, three a line. */
  press(frame: LayoutFrame, x: number, y: number, clickCount: number): void {
    this.clear();
    const view = getSelectableView(frame, x, y);
    const granularity = clickCount === 1 ? "character" : clickCount === 2 ? "word" : "line";
    const anchor = expand(getArea(frame, view), x, y, granularity);
    const range = granularity === "character" ? undefined : anchor;
    this.#selecting = { view, granularity, anchor, range, pointer: { x, y } };
  }

  /** Held at the edge of a scroll view, it scrolls. */
  drag(frame: LayoutFrame, x: number, y: number): void {
    const selecting = this.#selecting;
    if (!selecting?.pointer) return;
    selecting.pointer = { x, y };
    this.#extend(frame, selecting);
    const { clip } = getArea(frame, selecting.view);
    const { view } = selecting;
    const direction = y <= clip.y ? -1 : y >= clip.y + clip.height - 1 ? 1 : 0;
    this.#stopTimer();
    if (view && direction !== 0) this.#timer = setInterval(() => view.scrollBy(direction), autoScrollMs).unref();
  }

  /** The word or the blanks at a place. */
  findWord(frame: LayoutFrame, x: number, y: number): TextRange {
    return expand(getArea(frame, getSelectableView(frame, x, y)), x, y, "word");
  }

  /** The button is held no longer, and nobody knows since when. Returns whether something was shown as selected. */
  cancel(): boolean {
    if (!this.#selecting?.pointer) return false;
    const isShown = this.isActive;
    this.clear();
    return isShown;
  }

  release(): void {
    this.#stopTimer();
    if (this.#selecting) this.#selecting.pointer = undefined;
  }

  clear(): void {
    this.#stopTimer();
    this.#selecting = undefined;
  }

  /** Empty without a selection. */
  getText(frame: LayoutFrame): string {
    const range = this.#selecting?.range;
    if (!range) return "";
    return getSelectedText(range, getArea(frame, this.#selecting?.view).getLines(range.start.line, range.end.line + 1));
  }

  /** Shows what is selected in the lines of the screen. */
  highlight(frame: LayoutFrame, lines: string[]): void {
    const selecting = this.#selecting;
    if (!selecting) return;
    // What is under the mouse may have scrolled since.
    if (selecting.pointer && selecting.range && this.#timer) this.#extend(frame, selecting);
    if (!selecting.range) return;
    const { clip, left, top } = getArea(frame, selecting.view);
    for (let row = clip.y; row < clip.y + clip.height; row++) {
      const columns = getSelectedColumns(selecting.range, row - top);
      if (!columns) continue;
      const start = Math.max(clip.x, left + columns[0]);
      const width = Math.min(clip.x + clip.width, left + columns[1]) - start;
      if (width <= 0) continue;
      lines[row] = restyle(lines[row] as string, { start, width, columns: frame.width }, reverse);
    }
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #extend(frame: LayoutFrame, selecting: Selecting): void {
    const { view, granularity, anchor, pointer } = selecting;
    if (pointer) selecting.range = joinRanges(anchor, expand(getArea(frame, view), pointer.x, pointer.y, granularity));
  }
}

function expand(area: TextArea, x: number, y: number, granularity: Granularity): TextRange {
  const { clip, left, top } = area;
  const clamp = (value: number, start: number, size: number) => Math.max(start, Math.min(value, start + size - 1));
  const position: TextPosition = {
    line: clamp(y, clip.y, clip.height) - top,
    column: clamp(x, clip.x, clip.width) - left,
  };
  const [text = ""] = area.getLines(position.line, position.line + 1);
  return expandPosition(text, position, granularity);
}

const getSelectableView = (frame: LayoutFrame, x: number, y: number): ScrollView | undefined =>
  getScrollViewsAt(frame, x, y).find((view) => getScrolledBox(frame, view));

function getScrolledBox(frame: LayoutFrame, view: ScrollView) {
  const box = getScrollViewBox(frame, view);
  const content = box?.children[0];
  return box && content?.scrolledLines
    ? { clip: box.clip, rect: content.rect, lines: content.scrolledLines }
    : undefined;
}

function getArea(frame: LayoutFrame, view: ScrollView | undefined): TextArea {
  const scrolled = view && getScrolledBox(frame, view);
  if (!scrolled) {
    const clip = { x: 0, y: 0, width: frame.width, height: frame.height };
    return { clip, left: 0, top: 0, getLines: (start, end) => frame.lines.slice(Math.max(0, start), end) };
  }
  const { clip, rect, lines } = scrolled;
  const { grown } = lines;
  const getLines = (start: number, end: number) => lines.slice(start + grown, end + grown);
  return { clip, left: rect.x, top: rect.y + grown, getLines };
}

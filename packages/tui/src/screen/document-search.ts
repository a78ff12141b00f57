/** A search in what a scroll view scrolls. */
import type { ScrollView } from "../components/scroll-view.ts";
import { getScrollViewBox, type LayoutFrame } from "../layout.ts";
import { restyle } from "./composite.ts";
import { SearchIndex, type SearchSegment } from "./search.ts";

export interface SearchStyles {
  match: (text: string) => string;
  currentMatch: (text: string) => string;
}

export interface SearchResult {
  /** From 0. */
  index: number;
  count: number;
}

export class DocumentSearch {
  readonly #document = new SearchIndex();
  readonly #visible = new SearchIndex();
  #query = "";
  /** Where the current match begins; rows as if nothing had become known above. */
  #current: { row: number; column: number } | undefined;

  clear(): void {
    this.#query = "";
    this.#current = undefined;
  }

  /** Goes to the first match in what is shown, or after it. */
  setQuery(frame: LayoutFrame, view: ScrollView, query: string): SearchResult {
    this.#query = query;
    this.#current = undefined;
    return this.navigate(frame, view, 1);
  }

  /** Goes to the next match, or to the previous one; from the last to the first. The whole document is read. */
  navigate(frame: LayoutFrame, view: ScrollView, direction: -1 | 1): SearchResult {
    const content = getScrollViewBox(frame, view)?.children[0];
    const lines = content?.scrolledLines;
    if (!content || !lines) return { index: 0, count: 0 };
    lines.askAll(view.scrollTop);
    view.updateLayout(lines.count, view.viewportHeight, view.requestRender, lines.takeGrown());
    const matches = this.#document.search(lines.slice(0, lines.count), this.#query);
    const starts = matches.map(([first]) => first as SearchSegment);
    const index = findNext(starts, this.#getPlace(view, lines.grown), direction);
    const next = starts[index];
    this.#current = next && { row: next.row - lines.grown, column: next.start };
    if (next) show(view, next.row);
    return { index: Math.max(0, index), count: starts.length };
  }

  /** Matches in the lines of the screen. Only these are searched, so that a frame costs what is visible. */
  highlight(frame: LayoutFrame, view: ScrollView, lines: string[], styles: SearchStyles): void {
    if (this.#query === "") return;
    const content = getScrollViewBox(frame, view)?.children[0];
    if (!content?.scrolledLines) return;
    const { clip, rect } = content;
    const firstRow = (content.lineOffset ?? 0) - content.scrolledLines.grown;
    for (const match of this.#visible.search(content.lines ?? [], this.#query)) {
      const isCurrent =
        match[0]?.start === this.#current?.column && firstRow + (match[0]?.row ?? 0) === this.#current?.row;
      for (const { row, start, end } of match) {
        const width = Math.min(rect.x + end, clip.x + clip.width) - rect.x - start;
        const place = { start: rect.x + start, width, columns: frame.width };
        if (width <= 0) continue;
        lines[clip.y + row] = restyle(
          lines[clip.y + row] as string,
          place,
          isCurrent ? styles.currentMatch : styles.match,
        );
      }
    }
  }

  /** Where to go on from. */
  #getPlace(view: ScrollView, grown: number): { row: number; column: number } {
    const current = this.#current;
    return current ? { ...current, row: current.row + grown } : { row: view.scrollTop, column: -1 };
  }
}

/** -1 if there is none. */
function findNext(starts: readonly SearchSegment[], from: { row: number; column: number }, direction: -1 | 1): number {
  const compare = ({ row, start }: SearchSegment) => row - from.row || start - from.column;
  const index =
    direction === 1
      ? starts.findIndex((start) => compare(start) > 0)
      : starts.findLastIndex((start) => compare(start) < 0);
  if (index !== -1) return index;
  return direction === 1 && starts.length > 0 ? 0 : starts.length - 1;
}

/** Scrolls if the row is not visible. It does not follow the end then, lest the match go away. */
function show(view: ScrollView, row: number): void {
  const { scrollTop, viewportHeight } = view;
  const isVisible = row >= scrollTop && row < scrollTop + viewportHeight;
  view.scrollTo(isVisible ? scrollTop : row - Math.floor(viewportHeight / 3), { disableFollow: true });
}

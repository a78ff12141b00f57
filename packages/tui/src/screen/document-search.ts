/** A search in what a scroll view scrolls. */
import type { ScrollView } from "../components/scroll-view.ts";
import { getScrollViewBox, type LayoutFrame } from "../layout.ts";
import { restyle } from "./composite.ts";
import { type Matches, SearchIndex, type SearchSegment } from "./search.ts";

interface SearchStyles {
  match: (text: string) => string;
  currentMatch: (text: string) => string;
}

interface SearchResult {
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
    const index = findNext(matches, this.#getPlace(view, lines.grown), direction);
    const next = index === -1 ? undefined : matches.get(index)[0];
    this.#current = next && { row: next.row - lines.grown, column: next.start };
    if (next) show(view, next.row);
    return { index: Math.max(0, index), count: matches.count };
  }

  /** Matches in the lines of the screen. Only these are searched, so that a frame costs what is visible. */
  highlight(frame: LayoutFrame, view: ScrollView, lines: string[], styles: SearchStyles): void {
    if (this.#query === "") return;
    const content = getScrollViewBox(frame, view)?.children[0];
    if (!content?.scrolledLines) return;
    const { clip, rect } = content;
    const firstRow = (content.lineOffset ?? 0) - content.scrolledLines.grown;
    const matches = this.#visible.search(content.lines ?? [], this.#query);
    for (let index = 0; index < matches.count; index++) {
      const match = matches.get(index);
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

  /** Where to continue from. */
  #getPlace(view: ScrollView, grown: number): { row: number; column: number } {
    const current = this.#current;
    return current ? { ...current, row: current.row + grown } : { row: view.scrollTop, column: -1 };
  }
}

/** The match after or before a place; -1 if there is none at all. */
function findNext(matches: Matches, from: { row: number; column: number }, direction: -1 | 1): number {
  // How many matches are before the place, or at it if the next is wanted.
  let low = 0;
  let high = matches.count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { row, start } = matches.get(middle)[0] as SearchSegment;
    const order = row - from.row || start - from.column;
    if (order < 0 || (order === 0 && direction === 1)) low = middle + 1;
    else high = middle;
  }
  if (direction === 1) return low < matches.count ? low : Math.min(0, matches.count - 1);
  return low > 0 ? low - 1 : matches.count - 1;
}

/** Scrolls if the row is not visible. It does not follow the end then, lest the match go away. */
function show(view: ScrollView, row: number): void {
  const { scrollTop, viewportHeight } = view;
  const isVisible = row >= scrollTop && row < scrollTop + viewportHeight;
  view.scrollTo(isVisible ? scrollTop : row - Math.floor(viewportHeight / 3), { disableFollow: true });
}

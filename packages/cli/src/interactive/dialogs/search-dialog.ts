/** A dialog with a search above a list of which a part is visible. */
import { type Component, type Focusable, Input, type Theme, truncateToWidth, wrapTextWithAnsi } from "@tau/tui";

/** The rows that a dialog needs besides those of its list: the lines around it, and the status line. */
export const reservedRows = 9;

/** With fewer rows for the list, the footer has one. */
const minRowsForFooter = 8;

/**
 * Choices keep at least this many rows if there is room; the empty line and the further lines of the footer give way.
 */
const minRows = 3;
const spareRows = 4;

interface SearchDialogOptions {
  theme: Theme;
  /** How many rows of the list have room. */
  getMaxRows: () => number;
  placeholder?: string;
}

export abstract class SearchDialog implements Component, Focusable {
  readonly wantsPageKeys = true;
  protected readonly search: Input;
  readonly #options: SearchDialogOptions;

  constructor(options: SearchDialogOptions) {
    this.#options = options;
    this.search = new Input(options.placeholder === undefined ? {} : { placeholder: options.placeholder });
  }

  abstract render(width: number): string[];
  abstract handleInput(data: string): void;

  get focused(): boolean {
    return this.search.focused;
  }

  set focused(focused: boolean) {
    this.search.focused = focused;
  }

  invalidate(): void {
    this.search.invalidate();
  }

  /** How many rows of the list are visible at most. */
  protected get pageRows(): number {
    const maxRows = this.#options.getMaxRows();
    return Math.max(1, Math.min(minRows, maxRows + spareRows), maxRows);
  }

  /** The positions that are visible: the selected one is in the middle, except at the ends. */
  protected getVisible(count: number, selected: number): { start: number; end: number } {
    const maxRows = this.pageRows;
    const start = Math.max(0, Math.min(selected - Math.floor(maxRows / 2), count - maxRows));
    return { start, end: Math.min(count, start + maxRows) };
  }

  /** Whether the input changed what is searched for. */
  protected type(data: string): boolean {
    const before = this.search.getValue();
    this.search.handleInput(data);
    return this.search.getValue() !== before;
  }

  protected frame(title: string, rows: readonly string[], footer: string, width: number): string[] {
    const { theme } = this.#options;
    return [
      "",
      truncateToWidth(theme.fg("accent", theme.bold(` ${title}`)), width, ""),
      ...this.search.render(width),
      ...rows,
      ...this.#drawFooter(footer, width),
    ];
  }

  /** It names keys, so that it is shown whole where there is room. */
  #drawFooter(footer: string, width: number): string[] {
    if (this.#options.getMaxRows() < minRowsForFooter) return [truncateToWidth(footer, width, "…")];
    return wrapTextWithAnsi(footer, width - 1).map((line, index) => (index === 0 ? line : ` ${line}`));
  }
}

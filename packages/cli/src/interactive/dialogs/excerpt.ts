import { type Component, getKeybindings, type Theme } from "@tau/tui";

interface ExcerptOptions {
  content: Component;
  theme: Theme;
  /** How many rows there are for it. With none, nothing is shown; otherwise two at least are used. */
  getMaxRows: () => number;
}

/** Shows as much of something as fits, from its beginning; keys show the rest. */
export class Excerpt implements Component {
  readonly #options: ExcerptOptions;
  #first = 0;
  #page = 0;

  constructor(options: ExcerptOptions) {
    this.#options = options;
  }

  invalidate(): void {
    this.#options.content.invalidate();
  }

  render(width: number): string[] {
    const { content, theme, getMaxRows } = this.#options;
    const room = getMaxRows();
    const lines = room > 0 ? content.render(width) : [];
    const maxRows = Math.max(2, room);
    if (lines.length <= maxRows) {
      this.#page = 0;
      return lines;
    }
    this.#page = maxRows - 1;
    this.#first = Math.max(0, Math.min(this.#first, lines.length - this.#page));
    const last = this.#first + this.#page;
    const key = getKeybindings().getKeys(last < lines.length ? "tui.select.pageDown" : "tui.select.pageUp")[0];
    const note = ` Lines ${this.#first + 1} to ${last} of ${lines.length}: ${key}`;
    return [...lines.slice(this.#first, last), theme.fg("warning", note)];
  }

  /** Whether there was no room for all of it, and keys show the rest. */
  get isCut(): boolean {
    return this.#page > 0;
  }

  /** Whether the key was used. */
  handleKey(data: string): boolean {
    if (!this.isCut) return false;
    const keys = getKeybindings();
    const isDown = keys.matches(data, "tui.select.pageDown");
    if (!isDown && !keys.matches(data, "tui.select.pageUp")) return false;
    this.#first += isDown ? this.#page : -this.#page;
    return true;
  }
}

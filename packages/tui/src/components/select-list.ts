import type { Component } from "../component.ts";
import { getKeybindings } from "../keys/keybindings.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { visibleWidth } from "../text/cells.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { getListWindow, ListMouse, pageInList, stepInList, toOneLine } from "./list-window.ts";
import { keepSame } from "./same-lines.ts";

export interface SelectItem {
  value: string;
  /** Shown; the value if it is empty. */
  label: string;
  description?: string;
}

type Style = (text: string) => string;

export interface SelectListTheme {
  selectedPrefix: Style;
  /** The style of the whole line that is selected. */
  selectedText: Style;
  description: Style;
  scrollInfo: Style;
  noMatch: Style;
  /** The end of a label or a description that is cut. Default: nothing. */
  ellipsis?: string;
}

export interface SelectListTruncatePrimaryContext {
  text: string;
  /** The width that the result may have. */
  maxWidth: number;
  columnWidth: number;
  item: SelectItem;
  isSelected: boolean;
}

export interface SelectListLayoutOptions {
  /** The column of labels is as wide as the widest label, within these limits. Default 32 for both. */
  minPrimaryColumnWidth?: number;
  maxPrimaryColumnWidth?: number;
  truncatePrimary?: (context: SelectListTruncatePrimaryContext) => string;
}

const defaultColumnWidth = 32;
const prefixWidth = 2;
const columnGap = 2;
/** Descriptions need a list that is wider than the first, and room for more than the second. */
const minWidthForDescriptions = 40;
const minDescriptionWidth = 10;

/** Lets the user select one of several items. Labels and descriptions are plain text. */
export class SelectList implements Component {
  readonly wantsPageKeys = true;
  onSelect?: (item: SelectItem) => void;
  onCancel?: () => void;
  onSelectionChange?: (item: SelectItem) => void;
  readonly #items: readonly SelectItem[];
  readonly #getMaxVisible: () => number;
  readonly #theme: SelectListTheme;
  readonly #layout: SelectListLayoutOptions;
  readonly #mouse = new ListMouse();
  #filtered: readonly SelectItem[];
  #selected = 0;
  #lines: string[] = [];

  /** `maxVisible` may be a function, for a list that fits into a terminal of any size. */
  constructor(
    items: SelectItem[],
    maxVisible: number | (() => number),
    theme: SelectListTheme,
    layout: SelectListLayoutOptions = {},
  ) {
    this.#items = items;
    this.#filtered = items;
    this.#getMaxVisible = typeof maxVisible === "number" ? () => maxVisible : maxVisible;
    this.#theme = theme;
    this.#layout = layout;
  }

  /** Keeps the items whose value begins with `filter`, and selects the first. */
  setFilter(filter: string): void {
    const prefix = filter.toLowerCase();
    this.#filtered = this.#items.filter(({ value }) => value.toLowerCase().startsWith(prefix));
    this.#selected = 0;
  }

  setSelectedIndex(index: number): void {
    this.#selected = Math.max(0, Math.min(index, this.#filtered.length - 1));
  }

  getSelectedItem(): SelectItem | null {
    return this.#filtered[this.#selected] ?? null;
  }

  invalidate(): void {}

  render(width: number): string[] {
    this.#lines = keepSame(this.#lines, this.#draw(width));
    return this.#lines;
  }

  #draw(width: number): string[] {
    const count = this.#filtered.length;
    const fit = (text: string) => truncateToWidth(text, width, "");
    if (count === 0) return [this.#theme.noMatch(fit("  No matching commands"))];
    const { start, end } = this.#window;
    const columnWidth = this.#getColumnWidth();
    const lines = this.#filtered
      .slice(start, end)
      .map((item, index) => this.#drawItem(item, start + index === this.#selected, width, columnWidth));
    if (start > 0 || end < count) lines.push(this.#theme.scrollInfo(fit(`  (${this.#selected + 1}/${count})`)));
    return lines;
  }

  handleInput(keyData: string): void {
    const keys = getKeybindings();
    const item = this.getSelectedItem();
    if (keys.matches(keyData, "tui.select.cancel")) this.onCancel?.();
    else if (!item) return;
    else if (keys.matches(keyData, "tui.select.up")) this.#step(-1);
    else if (keys.matches(keyData, "tui.select.down")) this.#step(1);
    else if (keys.matches(keyData, "tui.select.pageUp")) this.#page(-1);
    else if (keys.matches(keyData, "tui.select.pageDown")) this.#page(1);
    else if (keys.matches(keyData, "tui.select.confirm")) this.onSelect?.(item);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    return this.#mouse.handle(event, {
      count: this.#filtered.length,
      selected: this.#selected,
      findIndex: (row) => (this.#window.start + row < this.#window.end ? this.#window.start + row : undefined),
      select: (index) => this.#select(index),
      activate: (index) => {
        this.#selected = index;
        this.onSelect?.(this.#filtered[index] as SelectItem);
      },
    });
  }

  get #window() {
    return getListWindow(this.#filtered.length, this.#selected, this.#getMaxVisible());
  }

  #step(step: -1 | 1): void {
    this.#select(stepInList(this.#selected, step, this.#filtered.length));
  }

  #page(step: -1 | 1): void {
    this.#select(pageInList(this.#selected, step, this.#filtered.length, this.#getMaxVisible()));
  }

  #select(index: number): void {
    this.#selected = index;
    const item = this.getSelectedItem();
    if (item) this.onSelectionChange?.(item);
  }

  #getColumnWidth(): number {
    const { minPrimaryColumnWidth, maxPrimaryColumnWidth } = this.#layout;
    const min = minPrimaryColumnWidth ?? maxPrimaryColumnWidth ?? defaultColumnWidth;
    const max = maxPrimaryColumnWidth ?? minPrimaryColumnWidth ?? defaultColumnWidth;
    const widest = this.#filtered.reduce((width, item) => Math.max(width, visibleWidth(toLabel(item))), 0);
    return Math.max(1, Math.min(min, max), Math.min(Math.max(min, max), widest + columnGap));
  }

  #drawItem(item: SelectItem, isSelected: boolean, width: number, columnWidth: number): string {
    const prefix = isSelected ? "→ " : "  ";
    const description = toOneLine(item.description ?? "");
    const column = Math.max(1, Math.min(columnWidth, width - prefixWidth - 4));
    const room = width - prefixWidth - column - 2;
    if (description !== "" && width > minWidthForDescriptions && room > minDescriptionWidth) {
      const label = this.#cutLabel(item, isSelected, Math.max(1, column - columnGap), column);
      const gap = " ".repeat(Math.max(1, column - visibleWidth(label)));
      const text = gap + this.#cut(description, room);
      if (isSelected) return this.#theme.selectedText(prefix + label + text);
      return prefix + label + this.#theme.description(text);
    }
    const maxWidth = Math.max(0, width - prefixWidth - 2);
    const line = truncateToWidth(prefix, width, "") + this.#cutLabel(item, isSelected, maxWidth, maxWidth);
    return isSelected ? this.#theme.selectedText(line) : line;
  }

  #cutLabel(item: SelectItem, isSelected: boolean, maxWidth: number, columnWidth: number): string {
    const text = toLabel(item);
    const cut = this.#layout.truncatePrimary?.({ text, maxWidth, columnWidth, item, isSelected }) ?? text;
    return this.#cut(cut, maxWidth);
  }

  #cut(text: string, maxWidth: number): string {
    return truncateToWidth(text, maxWidth, this.#theme.ellipsis ?? "");
  }
}

const toLabel = ({ label, value }: SelectItem): string => toOneLine(label || value);

import { fuzzyFilter } from "../completion/fuzzy.ts";
import type { Component } from "../component.ts";
import { getKeybindings } from "../keys/keybindings.ts";
import { matchesKey } from "../keys/match.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { visibleWidth } from "../text/cells.ts";
import { padToWidth } from "../text/pad.ts";
import { toPlainText } from "../text/plain.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { wrapTextWithAnsi } from "../text/wrap.ts";
import { Input } from "./input.ts";
import { getListWindow, ListMouse, pageInList, stepInList, toOneLine } from "./list-window.ts";
import { keepSame } from "./same-lines.ts";

type Done = (selectedValue?: string, options?: { navigateTo?: string }) => void;

export interface SettingItem {
  id: string;
  label: string;
  /** Shown below the list while the item is selected. */
  description?: string;
  currentValue: string;
  /** Enter and space take the next one. */
  values?: string[];
  /**
   * Enter and space open it instead of the list, until it calls `done`: with a value to set it, and with `navigateTo` to go
   * on with another item as if it had been chosen.
   */
  submenu?: (currentValue: string, done: Done) => Component;
}

export interface SettingsListTheme {
  label: (text: string, selected: boolean) => string;
  value: (text: string, selected: boolean) => string;
  description: (text: string) => string;
  /** Before the selected item. Two columns. */
  cursor: string;
  hint: (text: string) => string;
}

export interface SettingsListOptions {
  /** Default false. */
  enableSearch?: boolean;
}

const maxLabelWidth = 36;
/** The search and the blank line below it. */
const searchHeight = 2;

/** Settings with their values. Labels, values and descriptions are plain text. */
export class SettingsList implements Component {
  readonly wantsPageKeys = true;
  readonly #items: SettingItem[];
  readonly #maxVisible: number;
  readonly #theme: SettingsListTheme;
  readonly #onChange: (id: string, newValue: string) => void;
  readonly #onCancel: () => void;
  readonly #mouse = new ListMouse();
  readonly #search: Input | undefined;
  #shown: SettingItem[];
  #selected = 0;
  #lines: string[] = [];
  #submenu: Component | undefined;

  constructor(
    items: SettingItem[],
    maxVisible: number,
    theme: SettingsListTheme,
    onChange: (id: string, newValue: string) => void,
    onCancel: () => void,
    options: SettingsListOptions = {},
  ) {
    this.#items = items;
    this.#shown = items;
    this.#maxVisible = maxVisible;
    this.#theme = theme;
    this.#onChange = onChange;
    this.#onCancel = onCancel;
    this.#search = options.enableSearch ? new Input() : undefined;
  }

  updateValue(id: string, newValue: string): void {
    const item = this.#items.find((candidate) => candidate.id === id);
    if (item) item.currentValue = newValue;
  }

  /** Does nothing if the item is not shown. */
  selectItem(id: string): void {
    const index = this.#shown.findIndex((item) => item.id === id);
    if (index !== -1) this.#selected = index;
  }

  invalidate(): void {
    this.#submenu?.invalidate();
  }

  render(width: number): string[] {
    if (this.#submenu) return this.#submenu.render(width);
    this.#lines = keepSame(this.#lines, this.#draw(width));
    return this.#lines;
  }

  #draw(width: number): string[] {
    const fit = (text: string) => truncateToWidth(text, width);
    const hint = (text: string) => fit(this.#theme.hint(text));
    const lines = this.#search ? [...this.#search.render(width), ""] : [];
    if (this.#items.length === 0) lines.push(hint("  No settings available"));
    else if (this.#shown.length === 0) lines.push(hint("  No matching settings"));
    else lines.push(...this.#drawItems(width));
    if (this.#items.length === 0 && !this.#search) return lines;
    const search = this.#search ? "Type to search · " : "";
    return [...lines, "", hint(`  ${search}Enter/Space to change · Esc to cancel`)];
  }

  handleInput(data: string): void {
    if (this.#submenu) return this.#submenu.handleInput?.(data);
    const keys = getKeybindings();
    const isSpace = data === " " || matchesKey(data, "space");
    if (keys.matches(data, "tui.select.up")) this.#step(-1);
    else if (keys.matches(data, "tui.select.down")) this.#step(1);
    else if (keys.matches(data, "tui.select.pageUp")) this.#page(-1);
    else if (keys.matches(data, "tui.select.pageDown")) this.#page(1);
    else if (keys.matches(data, "tui.select.confirm") || (isSpace && !this.#search?.getValue()))
      this.#activate(this.#selected);
    else if (keys.matches(data, "tui.select.cancel")) this.#onCancel();
    else if (this.#search) this.#filter(this.#search, data);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | TuiMouseDispatchResult | undefined {
    if (this.#submenu) {
      const result = dispatchMouseEvent(this.#submenu, event);
      // Keys go through this list, and a click may close the submenu.
      return result?.focusTarget ? { ...result, focusTarget: this } : result;
    }
    const top = this.#search ? searchHeight : 0;
    if (event.type === "press" && event.button === "left" && event.y < top) return { handled: true, focus: true };
    return this.#mouse.handle(event, {
      count: this.#shown.length,
      selected: this.#selected,
      findIndex: (row) => {
        const { start, end } = this.#window;
        const index = start + row - top;
        return row >= top && index < end ? index : undefined;
      },
      select: (index) => void (this.#selected = index),
      activate: (index) => this.#activate(index),
    });
  }

  get #window() {
    return getListWindow(this.#shown.length, this.#selected, this.#maxVisible);
  }

  #step(step: -1 | 1): void {
    this.#selected = stepInList(this.#selected, step, this.#shown.length);
  }

  #page(step: -1 | 1): void {
    this.#selected = pageInList(this.#selected, step, this.#shown.length, this.#maxVisible);
  }

  #filter(search: Input, data: string): void {
    const before = search.getValue();
    search.handleInput(data);
    const query = search.getValue();
    if (query === before) return;
    this.#shown = query === "" ? this.#items : fuzzyFilter(this.#items, query, ({ label }) => label);
    this.#selected = 0;
  }

  #drawItems(width: number): string[] {
    const { start, end } = this.#window;
    const labels = this.#items.map(({ label }) => visibleWidth(toOneLine(label)));
    const labelWidth = Math.min(
      maxLabelWidth,
      labels.reduce((widest, label) => Math.max(widest, label), 0),
    );
    const lines = this.#shown.slice(start, end).map((item, index) => {
      const isSelected = start + index === this.#selected;
      return this.#drawItem(item, isSelected, width, labelWidth);
    });
    if (start > 0 || end < this.#shown.length) {
      const position = `  (${this.#selected + 1}/${this.#shown.length})`;
      lines.push(this.#theme.hint(truncateToWidth(position, Math.max(1, width - 2), "")));
    }
    const description = toPlainText(this.#shown[this.#selected]?.description ?? "");
    if (description === "") return lines;
    const wrapped = wrapTextWithAnsi(description, Math.max(1, width - 4));
    return [...lines, "", ...wrapped.map((line) => truncateToWidth(this.#theme.description(`  ${line}`), width))];
  }

  #drawItem(item: SettingItem, isSelected: boolean, width: number, labelWidth: number): string {
    const label = this.#theme.label(padToWidth(toOneLine(item.label), labelWidth), isSelected);
    const maxValueWidth = width - 2 - labelWidth - 2 - 2;
    const value = this.#theme.value(truncateToWidth(toOneLine(item.currentValue), maxValueWidth, ""), isSelected);
    return truncateToWidth(`${isSelected ? this.#theme.cursor : "  "}${label}  ${value}`, width);
  }

  #activate(index: number): void {
    this.#selected = index;
    const item = this.#shown[index];
    if (item?.submenu) this.#open(item, item.submenu);
    else if (item?.values && item.values.length > 0) {
      const next = (item.values.indexOf(item.currentValue) + 1) % item.values.length;
      this.#change(item, item.values[next] as string);
    }
  }

  #open(item: SettingItem, create: NonNullable<SettingItem["submenu"]>): void {
    let isDone = false;
    const submenu = create(item.currentValue, (value, options) => {
      isDone = true;
      this.#close(item, value, options);
    });
    // One that has nothing to choose from may be done before it is shown.
    if (!isDone) this.#submenu = submenu;
  }

  #change(item: SettingItem, value: string): void {
    item.currentValue = value;
    this.#onChange(item.id, value);
  }

  #close(item: SettingItem, value?: string, options: { navigateTo?: string } = {}): void {
    this.#submenu = undefined;
    if (value !== undefined) this.#change(item, value);
    const target = this.#shown.findIndex(({ id }) => id === options.navigateTo);
    if (target !== -1) this.#activate(target);
  }
}

/** A stand-in until the list of the components is there. */
import type { Component } from "../component.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { getKeybindings } from "../keys/keybindings.ts";

export interface SelectItem {
  value: string;
  label: string;
  description?: string;
}

export interface SelectListTheme {
  selectedPrefix: (text: string) => string;
  selectedText: (text: string) => string;
  description: (text: string) => string;
  scrollInfo: (text: string) => string;
  noMatch: (text: string) => string;
}

export interface SelectListLayoutOptions {
  minPrimaryColumnWidth?: number;
  maxPrimaryColumnWidth?: number;
}

export class SelectList implements Component {
  onSelect?: (item: SelectItem) => void;
  onCancel?: () => void;
  onSelectionChange?: (item: SelectItem) => void;
  readonly #items: SelectItem[];
  readonly #maxVisible: number;
  #selected = 0;

  constructor(items: SelectItem[], maxVisible: number, _theme: SelectListTheme, _layout?: SelectListLayoutOptions) {
    this.#items = items;
    this.#maxVisible = maxVisible;
  }

  setSelectedIndex(index: number): void {
    this.#selected = index;
  }

  invalidate(): void {}

  render(_width: number): string[] {
    return this.#items
      .slice(0, this.#maxVisible)
      .map((item, index) => (index === this.#selected ? "→ " : "  ") + item.label);
  }

  handleMouse(_event: TuiMouseEvent): TuiMouseEventResult | undefined {
    return undefined;
  }

  handleInput(data: string): void {
    const step = getKeybindings().matches(data, "tui.select.up") ? -1 : 1;
    this.#selected = (this.#selected + step + this.#items.length) % this.#items.length;
  }

  getSelectedItem(): SelectItem | null {
    return this.#items[this.#selected] ?? null;
  }
}

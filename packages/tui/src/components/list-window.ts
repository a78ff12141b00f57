/** Shared by lists with a selection: which items are shown, and what the mouse does. */
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { toPlainText } from "../text/plain.ts";

interface ListWindow {
  start: number;
  end: number;
}

/** The selected item is in the middle, where the ends of the list allow it. */
export function getListWindow(count: number, selected: number, maxVisible: number): ListWindow {
  const start = Math.max(0, Math.min(selected - Math.floor(maxVisible / 2), count - maxVisible));
  return { start, end: Math.min(start + maxVisible, count) };
}

/** Text for one line. */
export const toOneLine = (text: string): string =>
  toPlainText(text.replaceAll(/[\r\n]+/g, " "))
    .replaceAll("\t", " ")
    .trim();

/** Moves by one step, from one end of the list to the other. */
export const stepInList = (selected: number, step: -1 | 1, count: number): number =>
  count === 0 ? 0 : (selected + step + count) % count;

/** Moves by one page, up to the end of the list. */
export const pageInList = (selected: number, step: -1 | 1, count: number, pageSize: number): number =>
  Math.max(0, Math.min(count - 1, selected + step * pageSize));

interface ListMouseTarget {
  count: number;
  selected: number;
  /** The item in a row of the component. */
  findIndex(row: number): number | undefined;
  select(index: number): void;
  activate(index: number): void;
}

/** The wheel moves the selection, a press selects, and a click activates what was pressed, even if the list has moved since. */
export class ListMouse {
  #pressed: number | undefined;

  handle(event: TuiMouseEvent, list: ListMouseTarget): TuiMouseEventResult | undefined {
    if (event.type === "wheel") {
      const step = Math.sign(event.wheelDelta ?? 0);
      const index = Math.max(0, Math.min(list.count - 1, list.selected + step));
      if (list.count === 0 || step === 0) return undefined;
      const isChanged = index !== list.selected;
      if (isChanged) list.select(index);
      return { handled: true, render: isChanged };
    }
    if (event.button !== "left") return undefined;
    if (event.type === "press") {
      this.#pressed = list.findIndex(event.y);
      if (this.#pressed === undefined) return undefined;
      if (this.#pressed !== list.selected) list.select(this.#pressed);
      return { handled: true, focus: true };
    }
    if (event.type !== "click") return undefined;
    const index = this.#pressed ?? list.findIndex(event.y);
    this.#pressed = undefined;
    if (index === undefined || index >= list.count) return undefined;
    list.activate(index);
    return { handled: true };
  }
}

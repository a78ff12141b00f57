/** Where one types what to search for, with the number of matches and buttons to go through them. */
import type { Component, Focusable } from "../component.ts";
import { Input } from "../components/input.ts";
import { getKeybindings, type Keybinding } from "../keys/keybindings.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { visibleWidth } from "../text/cells.ts";
import { padToWidth } from "../text/pad.ts";
import { truncateToWidth } from "../text/truncate.ts";

interface SearchPanelOptions {
  onQuery: (query: string) => void;
  onNavigate: (direction: -1 | 1) => void;
  buttonStyle: (text: string, hovered: boolean) => string;
}

interface Button {
  direction: -1 | 1;
  start: number;
  end: number;
}

const faint = (text: string) => `\x1b[2m${text}\x1b[22m`;

export class SearchPanel implements Component, Focusable {
  readonly #options: SearchPanelOptions;
  readonly #input = new Input({ prompt: "", placeholder: "Search", placeholderStyle: faint });
  #result = { index: 0, count: 0 };
  #buttons: Button[] = [];
  #hovered: -1 | 1 | undefined;

  constructor(options: SearchPanelOptions) {
    this.#options = options;
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  get query(): string {
    return this.#input.getValue();
  }

  /** `index` counts from 0. */
  setResult(index: number, count: number): void {
    this.#result = { index, count };
  }

  handleInput(data: string): void {
    const before = this.query;
    this.#input.handleInput(data);
    if (this.query !== before) this.#options.onQuery(this.query);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const button =
      event.y === 2 ? this.#buttons.find(({ start, end }) => event.x >= start && event.x < end) : undefined;
    if (event.type === "move") {
      const isChanged = button?.direction !== this.#hovered;
      this.#hovered = button?.direction;
      return { handled: true, render: isChanged };
    }
    if (event.type === "click" && button) this.#options.onNavigate(button.direction);
    if (event.type === "press" && event.y === 1) this.#input.handleMouse({ ...event, x: event.x - 2 });
    return { handled: true };
  }

  invalidate(): void {
    this.#input.invalidate();
  }

  render(width: number): string[] {
    const inner = Math.max(1, width - 2);
    const { index, count } = this.#result;
    const total = this.query === "" ? "" : ` ${count === 0 ? 0 : index + 1}/${count} `;
    const room = Math.max(1, inner - 1 - visibleWidth(total));
    const [input = ""] = this.#input.render(room);
    const middle = truncateToWidth(padToWidth(` ${input}`, 1 + room) + faint(total), inner, "");
    return [`┌${"─".repeat(inner)}┐`, `│${padToWidth(middle, inner)}│`, this.#drawButtons(inner)];
  }

  #drawButtons(inner: number): string {
    const withKeys = [`↑ ${getKey("tui.altScreen.searchPrevious")}`, `↓ ${getKey("tui.altScreen.searchNext")}`];
    const length = (texts: readonly string[]) => texts.reduce((sum, text) => sum + visibleWidth(text), 6);
    const [up, down] = (length(withKeys) <= inner ? withKeys : ["↑", "↓"]) as [string, string];
    const dashes = Math.max(0, inner - length([up, down]) + 1);
    const upStart = 1 + dashes + 1;
    const downStart = upStart + visibleWidth(up) + 3;
    this.#buttons = [
      { direction: -1, start: upStart, end: upStart + visibleWidth(up) },
      { direction: 1, start: downStart, end: downStart + visibleWidth(down) },
    ];
    const draw = (text: string, direction: -1 | 1) => this.#options.buttonStyle(text, this.#hovered === direction);
    return `└${"─".repeat(dashes)} ${draw(up, -1)} · ${draw(down, 1)} ┘`;
  }
}

/** The first key of an action, as people write it. */
const getKey = (id: Keybinding): string =>
  (getKeybindings().getKeys(id)[0] ?? "").replaceAll(
    /(^|\+)([a-z])/g,
    (_match, plus: string, letter: string) => plus + letter.toUpperCase(),
  );

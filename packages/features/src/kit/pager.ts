/** A text in the terminal that keys move through. It knows the terminal only by what it is given. */
import type { UiComponent } from "@tau/extensions";
import { toVisible } from "./visible-text.ts";

export interface PagerHost {
  readonly tui: { readonly terminal: { readonly rows: number }; requestRender(): void };
  readonly theme: { fg(color: string, text: string): string };
  readonly keybindings: { matches(data: string, action: string): boolean };
  readonly onClose: () => void;
}

/** The line below the text, and those of the status. */
const rowsBesides = 5;
const minRows = 3;

export class Pager implements UiComponent {
  readonly wantsPageKeys = true;
  readonly #lines: readonly string[];
  readonly #host: PagerHost;
  #first = 0;
  #broken: { readonly width: number; readonly lines: readonly string[] } = { width: 0, lines: [] };

  constructor(text: string, host: PagerHost) {
    this.#lines = toVisible(text).replaceAll("\t", "    ").split("\n");
    this.#host = host;
  }

  render(width: number): string[] {
    const { theme } = this.#host;
    if (this.#broken.width !== width)
      this.#broken = {
        width,
        lines: this.#lines.flatMap((line) => breakLine(line, width).map((part) => this.#color(line, part))),
      };
    const { lines } = this.#broken;
    this.#first = Math.max(0, Math.min(this.#first, lines.length - this.#pageRows));
    const last = Math.min(lines.length, this.#first + this.#pageRows);
    const place = `Lines ${this.#first + 1} to ${last} of ${lines.length}`;
    return [...lines.slice(this.#first, last), theme.fg("dim", `${place}. Arrows and Page keys move, Escape closes.`)];
  }

  handleInput(data: string): void {
    const { keybindings, onClose, tui } = this.#host;
    const is = (action: string) => keybindings.matches(data, `tui.select.${action}`);
    if (is("cancel") || is("confirm") || data === "q") return onClose();
    if (is("up")) this.#first--;
    else if (is("down")) this.#first++;
    else if (is("pageUp")) this.#first -= this.#pageRows;
    else if (is("pageDown") || data === " ") this.#first += this.#pageRows;
    tui.requestRender();
  }

  invalidate(): void {
    this.#broken = { width: 0, lines: [] };
  }

  get #pageRows(): number {
    return Math.max(minRows, this.#host.tui.terminal.rows - rowsBesides);
  }

  /** By the line that a part is of: those of a diff have the colors of diffs. */
  #color(line: string, part: string): string {
    const { theme } = this.#host;
    if (line.startsWith("+++") || line.startsWith("---")) return theme.fg("muted", part);
    if (line.startsWith("+")) return theme.fg("toolDiffAdded", part);
    if (line.startsWith("-")) return theme.fg("toolDiffRemoved", part);
    return line.startsWith("@@") ? theme.fg("dim", part) : part;
  }
}

/** Characters from here on may take two columns. */
const firstWide = 0x1100;

/** Breaks a line into parts that fit. A line without anything is a part. Pure. */
export function breakLine(line: string, width: number): string[] {
  const parts: string[] = [];
  let part = "";
  let columns = 0;
  for (const character of line) {
    const own = character.codePointAt(0)! >= firstWide ? 2 : 1;
    if (part !== "" && columns + own > width) {
      parts.push(part);
      part = "";
      columns = 0;
    }
    part += character;
    columns += own;
  }
  return [...parts, part];
}

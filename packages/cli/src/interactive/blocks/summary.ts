/** A summary that takes the place of older messages: one line, or with the key for it all of the text. */
import { type Component, Markdown, toPlainText } from "@tau/tui";
import type { Look } from "../look.ts";
import { describeKey } from "./fold.ts";
import { createNote } from "./note.ts";

export class SummaryBlock implements Component {
  readonly #look: Look;
  readonly #title: string;
  readonly #summary: Markdown;
  #line: Component;

  constructor(title: string, summary: string, look: Look) {
    this.#look = look;
    this.#title = title;
    const color = (text: string) => look.theme.fg("muted", text);
    this.#summary = new Markdown(toPlainText(summary), look.outputPad, 0, look.markdown, { color });
    this.#line = this.#createLine();
  }

  invalidate(): void {
    this.#summary.setPaddingX(this.#look.outputPad);
    this.#summary.invalidate();
    this.#line = this.#createLine();
  }

  render(width: number): string[] {
    const line = this.#line.render(width);
    return this.#look.expandsTools ? [...line, "", ...this.#summary.render(width)] : line;
  }

  #createLine(): Component {
    const hint = this.#look.expandsTools ? "" : describeKey(" (", " shows it)");
    return createNote(`${this.#title}${hint}`, this.#look);
  }
}

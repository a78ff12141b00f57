/** The search in the messages of sessions: below what is typed, the messages that have all of its words. */
import type { SearchHitData } from "@tau/protocol";
import { formatAge, getSessionTitle, type MessageSearch, splitExcerpt } from "@tau/protocol/surface";
import { getKeybindings, type Theme, toPlainText, toPlainLine, truncateToWidth, visibleWidth } from "@tau/tui";
import { SearchDialog } from "./search-dialog.ts";

interface MessageSearchDialogOptions {
  search: MessageSearch;
  theme: Theme;
  getMaxRows: () => number;
  now: () => number;
  describeKey: (id: "tui.input.tab") => string;
  onSelect: (hit: SearchHitData) => void;
  onCancel: () => void;
}

/** How much of a message is shown before the first match, and of the title of its session. */
const [maxBefore, maxTitleWidth] = [16, 24];

export class MessageSearchDialog extends SearchDialog {
  readonly #options: MessageSearchDialogOptions;
  #selected = 0;
  #message: string | undefined;

  constructor(options: MessageSearchDialogOptions) {
    super({ ...options, placeholder: 'Words of a message; "a phrase" in quotes' });
    this.#options = options;
    const { text } = options.search.query;
    // Unlike setting the value, this leaves the cursor at its end.
    if (text !== "") this.search.handleInput(`\x1b[200~${text}\x1b[201~`);
  }

  /** Shows why a search failed; without a message, that it did not. */
  say(message: string | undefined): void {
    this.#message = message;
  }

  override render(width: number): string[] {
    const { search, theme } = this.#options;
    const { hits, query } = search;
    this.#selected = Math.max(0, Math.min(this.#selected, hits.length - 1));
    const { start, end } = this.getVisible(hits.length, this.#selected);
    const rows = hits.slice(start, end).map((hit, offset) => this.#drawRow(hit, start + offset, width));
    if (rows.length === 0) rows.push(theme.fg("muted", `  ${this.#describeEmpty()}`));
    return this.frame(
      query.all ? "Messages of all directories" : "Messages of this directory",
      rows,
      this.#drawFooter(),
      width,
    );
  }

  override handleInput(data: string): void {
    const keys = getKeybindings();
    const is = (id: Parameters<typeof keys.matches>[1]) => keys.matches(data, id);
    const { search, onSelect, onCancel } = this.#options;
    // What is shown until the hits are there was found by other words.
    const hit = search.isLoading ? undefined : search.hits[this.#selected];
    if (is("tui.select.cancel")) onCancel();
    else if (is("tui.select.up")) this.#selected--;
    else if (is("tui.select.down")) this.#selected++;
    else if (is("tui.select.pageUp")) this.#selected -= this.pageRows;
    else if (is("tui.select.pageDown")) this.#selected += this.pageRows;
    else if (hit && is("tui.select.confirm")) onSelect(hit);
    else if (is("tui.input.tab")) this.#load({ all: !search.query.all });
    else if (this.type(data)) this.#load({ text: this.search.getValue() });
  }

  #load(change: Parameters<MessageSearch["load"]>[0]): void {
    this.#selected = 0;
    void this.#options.search.load(change);
  }

  #describeEmpty(): string {
    const { search } = this.#options;
    if (search.isLoading) return "Searching…";
    return search.query.text.trim() === "" ? "Type what a message says" : "No message has all of this";
  }

  #drawRow({ session, excerpt, timestamp }: SearchHitData, position: number, width: number): string {
    const { theme, now } = this.#options;
    const isSelected = position === this.#selected;
    const title = truncateToWidth(toPlainLine(getSessionTitle(session).slice(0, 200)), maxTitleWidth, "…");
    const right = [title, formatAge(timestamp ?? session.modifiedAt, now())].join(" · ");
    const room = Math.max(10, width - visibleWidth(right) - 4);
    const mark = (text: string) => theme.bg("searchMatchBg", theme.fg("searchMatchText", text));
    const parts = splitExcerpt(excerpt, { maxBefore }).map(({ text, isMatch }) => {
      const plain = toPlainText(text).replaceAll(/\s+/g, " ");
      return isMatch ? mark(plain) : isSelected ? theme.bold(plain) : plain;
    });
    const left = truncateToWidth(parts.join(""), room, "…");
    const gap = " ".repeat(Math.max(1, room - visibleWidth(left) + 1));
    const line = `${isSelected ? theme.fg("accent", "→ ") : "  "}${left}${gap}${theme.fg("dim", right)}`;
    return truncateToWidth(line, width, "");
  }

  #drawFooter(): string {
    const { search, theme, describeKey } = this.#options;
    if (this.#message !== undefined) return theme.fg("warning", ` ${toPlainLine(this.#message)}`);
    const count = `${search.hits.length}${search.hasMore ? "+" : ""}`;
    return theme.fg(
      "dim",
      ` ${count} · Enter opens the session at the message · ${describeKey("tui.input.tab")} directories`,
    );
  }
}

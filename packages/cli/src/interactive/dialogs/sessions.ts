/** The list of sessions: search, rename, delete and open. It is drawn before the first page has come. */
import type { SessionSummaryData } from "@tau/protocol";
import {
  formatAge,
  getSessionTitle,
  listThreads,
  pluralise,
  type SessionPages,
  sessionSorts,
  type ThreadRow,
} from "@tau/protocol/surface";
import { getKeybindings, type Theme, toPlainLine, truncateToWidth, visibleWidth } from "@tau/tui";
import { SearchDialog } from "./search-dialog.ts";
import type { AppKeybinding } from "../keybindings.ts";
import { shortenPath } from "../status-line.ts";

interface SessionDialogOptions {
  pages: SessionPages<SessionSummaryData>;
  theme: Theme;
  home: string | undefined;
  getMaxRows: () => number;
  now: () => number;
  describeKey: (id: AppKeybinding | "tui.editor.undo" | "tui.input.tab") => string;
  onSelect: (session: SessionSummaryData) => void;
  /** Searches messages, for what was typed. */
  onSearch: (text: string) => void;
  onRename: (session: SessionSummaryData) => void;
  onDelete: (session: SessionSummaryData) => void;
  onRestore: (id: string) => void;
  onCancel: () => void;
}

type Row = ThreadRow<SessionSummaryData>;

/** Deeper forks are not drawn further to the right. */
const maxDepth = 8;

/** The next page is asked for when so many rows are left below the selection. */
const rowsAhead = 30;

export class SessionDialog extends SearchDialog {
  readonly #options: SessionDialogOptions;
  #selected = 0;
  /** The rows of the sessions that have arrived. */
  #listed: { sessions: readonly SessionSummaryData[]; rows: readonly Row[] } = { sessions: [], rows: [] };
  #showsPaths = false;
  #doomed: SessionSummaryData | undefined;
  /** The id of the session that was deleted last. */
  #deleted: string | undefined;
  #message: string | undefined;
  /** Enter came before the list: the first session that is found is opened. */
  #opensFirst = false;

  constructor(options: SessionDialogOptions) {
    super({ ...options, placeholder: "Type to search names and first words" });
    this.#options = options;
  }

  /** Says something below the list. `deleted` can be restored with a key. */
  say(message: string | undefined, deleted?: string): void {
    this.#message = message;
    this.#deleted = deleted;
  }

  /** Selects the session with this path, if it is listed. */
  select(path: string): void {
    const index = this.#getRows().findIndex(({ session }) => session.path === path);
    if (index !== -1) this.#selected = index;
  }

  /** Forks are below what they were forked from, unless something is searched for or another order is wanted. */
  #getRows(): readonly Row[] {
    const { sessions, query } = this.#options.pages;
    if (this.#listed.sessions === sessions) return this.#listed.rows;
    const isThreaded = query.sort === "modified" && query.query === "";
    const selected = this.#listed.rows[this.#selected]?.session.path;
    this.#listed = {
      sessions,
      rows: isThreaded ? listThreads(sessions) : sessions.map((session) => ({ session, depth: 0 })),
    };
    // A page may bring what a listed session was forked from.
    if (this.#selected > 0 && selected !== undefined) this.select(selected);
    return this.#listed.rows;
  }

  override render(width: number): string[] {
    const { pages, theme } = this.#options;
    const all = this.#getRows();
    this.#selected = Math.max(0, Math.min(this.#selected, all.length - 1));
    const { start, end } = this.getVisible(all.length, this.#selected);
    const rows = all.slice(start, end).map((row, offset) => this.#drawRow(row, start + offset, width));
    if (rows.length === 0) rows.push(theme.fg("muted", pages.isLoading ? "  Reading…" : "  No sessions"));
    const title = pages.query.all ? "Sessions of all directories" : "Sessions of this directory";
    return this.frame(title, rows, this.#drawFooter(), width);
  }

  override handleInput(data: string): void {
    const keys = getKeybindings();
    const is = (id: Parameters<typeof keys.matches>[1]) => keys.matches(data, id);
    const { pages, onSelect, onSearch, onRename, onRestore, onCancel } = this.#options;
    if (this.#doomed) return this.#answer(is("tui.select.confirm"));
    // What is shown until the list is there was found by other words.
    const session = pages.isCurrent ? this.#getRows()[this.#selected]?.session : undefined;
    const { query } = pages;
    this.#opensFirst = !pages.isCurrent && is("tui.select.confirm");
    if (is("tui.select.cancel")) onCancel();
    else if (is("tui.select.up")) this.#move(-1);
    else if (is("tui.select.down")) this.#move(1);
    else if (is("tui.select.pageUp")) this.#move(-this.pageRows);
    else if (is("tui.select.pageDown")) this.#move(this.pageRows);
    else if (session && is("tui.select.confirm")) onSelect(session);
    else if (is("tui.input.tab")) void this.#load({ all: !query.all });
    else if (is("app.session.searchMessages")) onSearch(this.search.getValue());
    else if (is("app.session.togglePath")) this.#showsPaths = !this.#showsPaths;
    else if (is("app.session.toggleSort"))
      void this.#load({ sort: sessionSorts[(sessionSorts.indexOf(query.sort) + 1) % sessionSorts.length]! });
    else if (is("app.session.toggleNamedFilter")) void this.#load({ named: !query.named });
    else if (session && is("app.session.rename")) onRename(session);
    else if (is("app.session.delete") || (is("app.session.deleteNoninvasive") && query.query === ""))
      this.#doomed = session;
    else if (is("tui.editor.undo") && this.#deleted !== undefined) onRestore(this.#deleted);
    else if (this.type(data)) void this.#load({ query: this.search.getValue() });
  }

  /** Anything but Enter keeps the session. */
  #answer(isConfirmed: boolean): void {
    const session = this.#doomed;
    this.#doomed = undefined;
    if (session && isConfirmed) this.#options.onDelete(session);
  }

  async #load(change: Parameters<SessionPages<unknown>["load"]>[0]): Promise<void> {
    this.#selected = 0;
    this.say(undefined);
    const { pages, onSelect } = this.#options;
    await pages.load(change);
    const first = this.#getRows()[0]?.session;
    if (!first || !pages.isCurrent || !this.#opensFirst) return;
    this.#opensFirst = false;
    onSelect(first);
  }

  #move(step: number): void {
    const { pages } = this.#options;
    this.#selected = Math.max(0, Math.min(this.#selected + step, pages.sessions.length - 1));
    if (pages.sessions.length - this.#selected <= rowsAhead) void pages.loadMore();
  }

  #drawRow({ session, depth }: Row, position: number, width: number): string {
    const { theme, pages, home, now } = this.#options;
    const isSelected = position === this.#selected;
    const { name, cwd, messageCount, modifiedAt } = session;
    const branch = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, maxDepth) - 1)}└ `;
    const title = `${branch}${toPlainLine(getSessionTitle(session).slice(0, 500))}`;
    const details = [
      this.#showsPaths ? session.path : pages.query.all ? shortenPath(cwd, home) : "",
      pluralise(messageCount, "message"),
      formatAge(modifiedAt, now()),
    ];
    const right = toPlainLine(details.filter(Boolean).join(" · "));
    const room = Math.max(10, width - visibleWidth(right) - 4);
    const left = truncateToWidth(title, room, "…");
    const gap = " ".repeat(Math.max(1, room - visibleWidth(left) + 1));
    const shown = isSelected ? theme.bold(left) : name === undefined ? left : theme.fg("warning", left);
    const line = `${isSelected ? theme.fg("accent", "→ ") : "  "}${shown}${gap}${theme.fg("dim", right)}`;
    return truncateToWidth(line, width, "");
  }

  #drawFooter(): string {
    const { pages, theme, describeKey } = this.#options;
    if (this.#doomed) {
      const title = toPlainLine(getSessionTitle(this.#doomed).slice(0, 40));
      return theme.fg("warning", ` Delete "${title}"? Enter deletes it, any other key keeps it.`);
    }
    if (this.#message !== undefined) {
      const undo = this.#deleted === undefined ? "" : ` ${describeKey("tui.editor.undo")} brings it back.`;
      return theme.fg("warning", ` ${toPlainLine(this.#message)}${undo}`);
    }
    const { sort, named } = pages.query;
    const count = `${pages.sessions.length}${pages.hasMore ? "+" : ""}`;
    const keys = [
      `${describeKey("tui.input.tab")} directories`,
      `${describeKey("app.session.searchMessages")} messages`,
      `${describeKey("app.session.rename")} rename`,
      `${describeKey("app.session.delete")} delete`,
      `${describeKey("app.session.toggleSort")} by ${sort}`,
      `${describeKey("app.session.toggleNamedFilter")} ${named ? "all" : "named only"}`,
      `${describeKey("app.session.togglePath")} paths`,
    ];
    return theme.fg("dim", ` ${count} · ${keys.join(" · ")}`);
  }
}

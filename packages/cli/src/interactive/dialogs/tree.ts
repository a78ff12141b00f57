/** The tree of a session: walk, fold, filter, search and label. Only the rows that are visible are drawn. */
import { describeAnyEntry, getUserText, type TreeRow } from "@tau/protocol/surface";
import { getKeybindings, matchesKey, type Theme, toPlainLine, truncateToWidth } from "@tau/tui";
import { SearchDialog } from "./search-dialog.ts";
import {
  describeItem,
  drawConnectors,
  findLabelTimes,
  findNextStart,
  findRow,
  findStart,
  listRows,
  type SessionTree,
  type SessionTreeItem,
  type TreeFilter,
  treeFilters,
} from "../tree-model.ts";

interface TreeDialogOptions {
  tree: SessionTree;
  theme: Theme;
  filter: TreeFilter;
  /** The entry that is selected at first. Default: the one that the session is at. */
  selected?: string;
  /** How many rows the list may have now. */
  getMaxRows: () => number;
  describeKey: (id: "app.tree.editLabel" | "app.tree.filter.cycleForward") => string;
  onSelect: (item: SessionTreeItem) => void;
  onLabel: (item: SessionTreeItem) => void;
  onCopy: (text: string) => void;
  onCancel: () => void;
}

const filterKeys = {
  "app.tree.filter.default": "default",
  "app.tree.filter.noTools": "no-tools",
  "app.tree.filter.userOnly": "user-only",
  "app.tree.filter.labeledOnly": "labeled-only",
  "app.tree.filter.all": "all",
} as const;

export class TreeDialog extends SearchDialog {
  readonly #options: TreeDialogOptions;
  readonly #folded = new Set<string>();
  readonly #labelTimes: ReadonlyMap<string, string>;
  #filter: TreeFilter;
  #showsTimes = false;
  #rows: readonly TreeRow<SessionTreeItem>[] = [];
  #selected = 0;
  /** Is selected again after a filter or a search that nothing matches. */
  #lastId: string | null;

  constructor(options: TreeDialogOptions) {
    super({ ...options, placeholder: "Type to search" });
    this.#options = options;
    this.#filter = options.filter;
    this.#labelTimes = findLabelTimes(options.tree);
    this.#lastId = options.selected ?? options.tree.leafId;
    this.update();
  }

  /** After what is listed has changed, such as a label. */
  update(): void {
    const { tree } = this.#options;
    this.#lastId = this.#item?.id ?? this.#lastId;
    this.#rows = listRows(tree, { filter: this.#filter, query: this.search.getValue(), folded: this.#folded });
    this.#selected = findRow(tree, this.#rows, this.#lastId);
  }

  override render(width: number): string[] {
    const { theme, describeKey } = this.#options;
    const count = this.#rows.length;
    const { start, end } = this.getVisible(count, this.#selected);
    const visible = this.#rows.slice(start, end);
    const lines = visible.map((_row, offset) => this.#drawRow(start + offset, width));
    const place = count === 0 ? "nothing to show" : `${this.#selected + 1}/${count}`;
    const hint = `${place} · ${this.#filter} · ${describeKey("app.tree.filter.cycleForward")} other entries · ${describeKey("app.tree.editLabel")} label`;
    return this.frame("Session tree", lines, theme.fg("dim", ` ${hint}`), width);
  }

  override handleInput(data: string): void {
    const keys = getKeybindings();
    const is = (id: Parameters<typeof keys.matches>[1]) => keys.matches(data, id);
    const filterKey = (Object.keys(filterKeys) as (keyof typeof filterKeys)[]).find(is);
    if (is("tui.select.cancel")) this.#cancel();
    else if (is("tui.select.up")) this.#move(this.#selected - 1, "wrap");
    else if (is("tui.select.down")) this.#move(this.#selected + 1, "wrap");
    else if (is("tui.select.pageUp")) this.#move(this.#selected - this.pageRows);
    else if (is("tui.select.pageDown")) this.#move(this.#selected + this.pageRows);
    else if (matchesKey(data, "home")) this.#move(0);
    else if (matchesKey(data, "end")) this.#move(this.#rows.length - 1);
    else if (is("tui.select.confirm")) this.#withItem(this.#options.onSelect);
    else if (is("app.tree.foldOrUp")) this.#foldOrUp();
    else if (is("app.tree.unfoldOrDown")) this.#unfoldOrDown();
    else if (is("app.tree.editLabel")) this.#withItem(this.#options.onLabel);
    else if (is("app.tree.toggleLabelTimestamp")) this.#showsTimes = !this.#showsTimes;
    else if (is("app.message.copy"))
      this.#withItem(({ entry }) => this.#options.onCopy(getUserText(entry) ?? describeAnyEntry(entry).text));
    else if (filterKey) this.#setFilter(this.#filter === filterKeys[filterKey] ? "default" : filterKeys[filterKey]);
    else if (is("app.tree.filter.cycleForward")) this.#cycleFilter(1);
    else if (is("app.tree.filter.cycleBackward")) this.#cycleFilter(-1);
    else if (this.type(data)) this.#listAnew();
  }

  get #item(): SessionTreeItem | undefined {
    return this.#rows[this.#selected]?.item;
  }

  #withItem(act: (item: SessionTreeItem) => void): void {
    if (this.#item) act(this.#item);
  }

  /** First ends the search. */
  #cancel(): void {
    if (this.search.getValue() === "") return this.#options.onCancel();
    this.search.setValue("");
    this.#listAnew();
  }

  #setFilter(filter: TreeFilter): void {
    this.#filter = filter;
    this.#listAnew();
  }

  /** Lists other entries. Nothing stays folded, so that none of them is hidden. */
  #listAnew(): void {
    this.#folded.clear();
    this.update();
  }

  #cycleFilter(step: 1 | -1): void {
    const index = treeFilters.indexOf(this.#filter) + step;
    this.#setFilter(treeFilters.at(index % treeFilters.length)!);
  }

  #foldOrUp(): void {
    const row = this.#rows[this.#selected];
    if (!row) return;
    if (row.isStart && row.childCount > 0 && !row.isFolded) return this.#setFolded(row, true);
    this.#move(findStart(this.#rows, this.#selected));
  }

  #unfoldOrDown(): void {
    const row = this.#rows[this.#selected];
    if (!row) return;
    if (row.isFolded) return this.#setFolded(row, false);
    this.#move(findNextStart(this.#rows, this.#selected));
  }

  #setFolded({ item }: TreeRow<SessionTreeItem>, isFolded: boolean): void {
    if (isFolded) this.#folded.add(item.id);
    else this.#folded.delete(item.id);
    this.update();
  }

  #move(position: number, ends: "stop" | "wrap" = "stop"): void {
    const count = this.#rows.length;
    if (count === 0) return;
    this.#selected = ends === "wrap" ? (position + count) % count : Math.max(0, Math.min(position, count - 1));
  }

  #drawRow(position: number, width: number): string {
    const { theme, tree } = this.#options;
    const { item, index, isFolded } = this.#rows[position]!;
    const { author, text } = describeItem(item);
    const isSelected = position === this.#selected;
    const mark = tree.current.has(index) ? theme.fg("accent", "• ") : "  ";
    const time = this.#labelTimes.get(item.id);
    const shownTime = this.#showsTimes && time !== undefined ? ` ${time.slice(0, 16).replace("T", " ")}` : "";
    const label = item.label === undefined ? "" : theme.fg("warning", `[${toPlainLine(item.label)}${shownTime}] `);
    const color = author === "user" ? "accent" : author === "assistant" ? "success" : "muted";
    const line = [
      isSelected ? theme.fg("accent", "→ ") : "  ",
      theme.fg("dim", drawConnectors(this.#rows, position)),
      isFolded ? theme.fg("dim", "⊞ ") : "",
      mark,
      label,
      theme.fg(color, `${toPlainLine(author)}: `),
      isSelected ? theme.bold(toPlainLine(text)) : toPlainLine(text),
    ].join("");
    return truncateToWidth(line, width, "…");
  }
}
